"""Compile schemas and single keywords to validators; offline, with linear or bounded pattern matching."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NoReturn

from mcp_lenient.errors import SchemaError
from mcp_lenient.schema.drafts import NAMED

if TYPE_CHECKING:
    import jsonschema_rs

ROOT_URI = "urn:mcp-lenient:root"
_BACKTRACKS = 10_000
_VALUES = frozenset("enum const default examples".split())


def _no_fetch(uri: str) -> NoReturn:
    msg = f"the schema refers to {uri}, and remote schemas are never fetched"
    raise LookupError(msg)


def registry_of(root: Mapping[str, Any]) -> jsonschema_rs.Registry:
    """Return a registry of ``root`` for validators of its parts.

    Build it once: that takes time proportional to the size of ``root``.
    """
    import jsonschema_rs

    try:
        return jsonschema_rs.Registry([(ROOT_URI, dict(root))], retriever=_no_fetch)
    except (jsonschema_rs.ReferencingError, ValueError, RecursionError) as error:
        raise _schema_error(error) from error


def _absolute(schema: Any) -> Any:
    """Return a schema whose local references point to the root, so that it compiles outside of it."""
    if isinstance(schema, list):
        return [_absolute(entry) for entry in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {keyword: _absolute_entry(keyword, value) for keyword, value in schema.items()}


def _absolute_entry(keyword: str, value: Any) -> Any:
    if keyword in _VALUES:
        return value
    if keyword in NAMED and isinstance(value, Mapping):
        return {name: _absolute(sub) for name, sub in value.items()}
    if keyword == "$ref" and isinstance(value, str) and value.startswith("#"):
        return ROOT_URI + value
    return _absolute(value)


def _schema_error(failure: Exception | None) -> SchemaError:
    return SchemaError(f"the schema cannot be compiled: {str(failure).splitlines()[0][:300]}")


def validator_for(
    root: Mapping[str, Any], schema: Any, registry: jsonschema_rs.Registry | None = None
) -> jsonschema_rs.Draft202012Validator:
    """Return a validator for a part of ``root``; offline, with linear or bounded pattern matching.

    The result of :func:`registry_of` for ``root`` can be shared between parts.
    """
    if schema is root:
        return compiled(schema)
    return compiled(_absolute(schema), registry_of(root) if registry is None else registry)


def _accept_any(_text: str) -> bool:
    return True


# RFC 3339, RFC 3986, RFC 4122, RFC 4291 and RFC 5321: no single word is a text of these formats.
_FORMATS_WITHOUT_WORDS = "duration email idn-email ipv4 ipv6 iri uri uuid".split()
_NULL_WORDS = frozenset({"null", "None", "none"})


def _is_no_null(text: str) -> bool:
    return text not in _NULL_WORDS


def _matches(form: re.Pattern[str], text: str) -> bool:
    return form.fullmatch(text) is not None


_FULL_DATE = r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::(?:[0-5][0-9]|60)(?:\.[0-9]+)?)?(?:[Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)?"
_TIME_PATTERNS = {
    "date": re.compile(_FULL_DATE),
    "date-time": re.compile(f"{_FULL_DATE}[Tt ]{_CLOCK}"),
    "time": re.compile(_CLOCK),
}
"""RFC 3339, section 5.6, with optional zone and seconds, as ISO 8601 and most servers allow."""
_OTHER_FORMATS = (
    "hostname idn-hostname iri-reference json-pointer regex relative-json-pointer uri-reference uri-template"
).split()
FORMATS: Mapping[str, Callable[[str], bool]] = {
    **dict.fromkeys(_OTHER_FORMATS, _accept_any),
    **dict.fromkeys(_FORMATS_WITHOUT_WORDS, _is_no_null),
    **{name: partial(_matches, form) for name, form in _TIME_PATTERNS.items()},
}
"""The formats that are checked. A format is an annotation in JSON Schema, but a text such as ``14/02/2026`` is refused
for a date, since a server that accepts it may read another day, and a word for null where no word can be meant."""


def refuses_null_words(form: str | None) -> bool:
    """Return whether texts of a format are checked, and never a word for null.

    >>> refuses_null_words("date"), refuses_null_words("hostname"), refuses_null_words(None)
    (True, False, False)
    """
    return form in _TIME_PATTERNS or form in _FORMATS_WITHOUT_WORDS


def compiled(
    schema: Any,
    registry: jsonschema_rs.Registry | None = None,
    formats: Mapping[str, Callable[[str], bool]] = FORMATS,
) -> jsonschema_rs.Draft202012Validator:
    """Return a 2020-12 validator; offline, with linear or bounded pattern matching."""
    import jsonschema_rs

    linear = jsonschema_rs.RegexOptions()
    bounded = jsonschema_rs.FancyRegexOptions(backtrack_limit=_BACKTRACKS)
    failure: Exception | None = None
    for patterns in (linear, bounded):
        try:
            return jsonschema_rs.Draft202012Validator(
                schema,
                retriever=_no_fetch,
                registry=registry,
                pattern_options=patterns,
                validate_formats=True,
                formats=dict(formats),
            )
        except (jsonschema_rs.ReferencingError, ValueError, RecursionError) as error:
            failure = error
    raise _schema_error(failure) from failure


def holds(keyword: str, bound: object, value: object) -> bool:
    """Return whether a value satisfies a keyword with this bound; every format is checked.

    >>> holds("maximum", 10, 11)
    False
    """
    scalar = isinstance(bound, (str, int, float))
    # 1, 1.0 and true are equal as cache keys, but different bounds.
    check = _of_scalar(keyword, bound, type(bound).__name__) if scalar else _of_keyword(keyword, bound)
    try:
        return check is None or check.is_valid(value)
    except ValueError:
        return True


@lru_cache(maxsize=1024)
def _of_scalar(keyword: str, bound: object, _type: str) -> jsonschema_rs.Draft202012Validator | None:
    return _of_keyword(keyword, bound)


def _of_keyword(keyword: str, bound: object) -> jsonschema_rs.Draft202012Validator | None:
    try:
        return compiled({keyword: bound}, formats={})
    except SchemaError:
        return None
