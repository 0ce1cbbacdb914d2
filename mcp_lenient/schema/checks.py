"""Compile schemas and single keywords to checks; offline, with linear or bounded pattern matching."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache, cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, NoReturn

from mcp_lenient.errors import SchemaError
from mcp_lenient.schema.drafts import with_subschemas
from mcp_lenient.schema.references import ROOT_URI

if TYPE_CHECKING:
    import jsonschema_rs

_BACKTRACKS: Final = 10_000


def _no_fetch(uri: str) -> NoReturn:
    msg = f"the schema refers to {uri}, and remote schemas are never fetched"
    raise LookupError(msg)


Check = Callable[[Any], bool]
"""Returns whether a compiled schema accepts a value; may raise ValueError for one that is not JSON."""


class PartChecks:
    """Checks for the parts of a schema."""

    def __init__(self, root: Mapping[str, Any], formats: Formats) -> None:
        self._root = dict(root)
        self._formats = formats

    @cached_property
    def _compiled(self) -> Callable[[Any], Check]:
        if not has_jsonschema_rs():
            from mcp_lenient.schema.fallback import by_jsonschema

            return partial(by_jsonschema, formats=self._formats, root=self._root)
        import jsonschema_rs

        # Built once: that takes time proportional to the size of the schema.
        registry = jsonschema_rs.Registry([(ROOT_URI, self._root)], retriever=_no_fetch)
        return partial(compiled, registry=registry, formats=self._formats)

    def of(self, part: Any) -> Check:
        """Return the check of a part of the schema."""
        return self._compiled(_absolute(part))


@cache
def has_jsonschema_rs() -> bool:
    """Return whether jsonschema-rs is installed, which not every platform can."""
    try:
        import jsonschema_rs  # noqa: F401
    except ImportError:
        return False
    return True


def _absolute(schema: Any) -> Any:
    """Return a schema whose local references point to the root."""
    if not isinstance(schema, Mapping):
        return schema
    new = with_subschemas(schema, _absolute)
    if isinstance(reference := schema.get("$ref"), str) and reference.startswith("#"):
        new["$ref"] = ROOT_URI + reference
    return new


_DATE: Final = r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_CLOCK: Final = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::(?:[0-5][0-9]|60)(?:\.[0-9]+)?)?(?:[Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)?"
_TIMES: Final = {
    "date": re.compile(_DATE),
    "date-time": re.compile(f"{_DATE}[Tt ]{_CLOCK}"),
    "time": re.compile(_CLOCK),
}
"""RFC 3339, section 5.6, with optional zone and seconds, as ISO 8601 and most servers allow."""
# RFC 3339, RFC 3986, RFC 4122, RFC 4291 and RFC 5321: no single word is a text of these formats.
_WITHOUT_WORDS: Final = "duration email idn-email ipv4 ipv6 iri uri uuid".split()
NULL_WORDS: Final = frozenset({"null", "None", "none"})
_OTHERS: Final = (
    "hostname idn-hostname iri-reference json-pointer regex relative-json-pointer uri-reference uri-template"
).split()


def _matches(form: re.Pattern[str], text: str) -> bool:
    return form.fullmatch(text) is not None


Formats = Mapping[str, Callable[[str], bool]]
ANNOTATED: Final[Formats] = {
    **dict.fromkeys(_OTHERS, lambda _text: True),
    **dict.fromkeys(_WITHOUT_WORDS, lambda text: text not in NULL_WORDS),
    **dict.fromkeys(_TIMES, lambda text: text not in NULL_WORDS | {""}),
}
"""The formats where nothing but the schema is known. A format is an annotation in JSON Schema and refuses no text, but one
that stands for nothing: a word for null where no word can be meant, and no text at all for a time."""
EXPECTED: Final[Formats] = {**ANNOTATED, **{name: partial(_matches, form) for name, form in _TIMES.items()}}
"""Those of a tool that validates itself: what it refuses is only read as a text that it can take."""


def compiled(
    schema: Any, registry: jsonschema_rs.Registry | None = None, formats: Formats = ANNOTATED
) -> Check:
    """Return the check of a 2020-12 schema by jsonschema-rs; where it is not installed, by jsonschema."""
    if not has_jsonschema_rs():
        from mcp_lenient.schema.fallback import by_jsonschema

        return by_jsonschema(schema, formats)
    import jsonschema_rs

    build = partial(jsonschema_rs.Draft202012Validator, schema, retriever=_no_fetch, registry=registry)
    failure: Exception | None = None
    backtracking = jsonschema_rs.FancyRegexOptions(backtrack_limit=_BACKTRACKS)
    for options in (jsonschema_rs.RegexOptions(), backtracking):
        try:
            return build(pattern_options=options, validate_formats=True, formats=dict(formats)).is_valid
        except (jsonschema_rs.ReferencingError, ValueError, RecursionError) as error:
            failure = error
    msg = f"the schema cannot be compiled: {str(failure).splitlines()[0][:300]}"
    raise SchemaError(msg) from failure


def holds(keyword: str, bound: object, value: object) -> bool:
    """Return whether a value satisfies a keyword with this bound; every format is checked."""
    try:
        return _check_of(json.dumps({keyword: bound}))(value)
    except (SchemaError, TypeError, ValueError):
        return True


def has_format(form: str | None, text: str) -> bool:
    """Return whether a text is of a format, whether or not anything checks it: a time as most servers read it."""
    return _matches(_TIMES[form], text) if form in _TIMES else holds("format", form, text)


@lru_cache(maxsize=1024)
def _check_of(schema: str) -> Check:
    return compiled(json.loads(schema), formats={})
