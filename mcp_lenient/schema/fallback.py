"""Compile schemas with jsonschema, where jsonschema-rs is not installed: slower, but as bounded."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import lru_cache, partial
from math import isfinite
from typing import Any, Final

from jsonschema import Draft202012Validator, FormatChecker, ValidationError
from jsonschema import SchemaError as JsonSchemaError
from jsonschema.validators import extend
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from mcp_lenient.errors import SchemaError
from mcp_lenient.schema.drafts import every_schema, with_subschemas
from mcp_lenient.schema.references import ROOT_URI

_EXACT_COUNT: Final = re.compile(r"\{[0-9]{1,3}\}")
_VARYING: Final = re.compile(r"[*+?{]")
_BRANCHING: Final = re.compile(r"\||\\[1-9]")
_REF_ERRORS: ContextVar[dict[tuple[str, int], Any]] = ContextVar("ref_errors")
"""The error, if any, of each value already validated by a referenced schema in this call; unions repeat many."""


def by_jsonschema(
    schema: Any, formats: Mapping[str, Callable[[str], bool]], root: Mapping[str, Any] | None = None
) -> Callable[[Any], bool]:
    """Return the check of a 2020-12 schema that refers only to itself or to ``root``, without costly patterns."""
    try:
        if root is None:  # the parts of a schema are checked with it
            _check_schema(schema)
        for part in every_schema(schema):
            for pattern in (*part.get("patternProperties", ()), part.get("pattern", "")):
                _cheap(pattern)
    except (JsonSchemaError, RecursionError, re.error) as error:
        msg = f"the schema cannot be compiled: {str(error).splitlines()[0][:300]}"
        raise SchemaError(msg) from error
    registry: Registry[Any] = Registry()  # empty: nothing is fetched
    if root is not None:
        registry = registry.with_resource(ROOT_URI, DRAFT202012.create_resource(dict(root)))
    checker = FormatChecker(None if not formats else ())
    for name, fits in formats.items():
        checker.checkers[name] = (_of_texts(fits), ())
    return partial(_accepts, _Bounded(schema, registry=registry, format_checker=checker))


def _accepts(validator: Any, value: Any) -> bool:
    _check_json(value)
    token = _REF_ERRORS.set({})
    try:
        return bool(validator.is_valid(value))
    except (Unresolvable, OverflowError):
        return False
    finally:
        _REF_ERRORS.reset(token)


def _check_schema(schema: Any) -> None:
    try:
        Draft202012Validator.check_schema(schema)
    except RecursionError:  # each schema in it alone, as jsonschema takes several calls for each level
        for part in every_schema(schema):
            Draft202012Validator.check_schema(with_subschemas(part, lambda _sub: True))


def _check_json(value: Any) -> None:
    waiting = [value]
    for part in waiting:
        if isinstance(part, dict):
            if not all(isinstance(key, str) for key in part):
                msg = "a key is not a string"
                raise ValueError(msg)
            waiting += (*part, *part.values())
        elif isinstance(part, (list, tuple)):
            waiting += part
        elif isinstance(part, str):
            part.encode()


def _of_texts(fits: Callable[[str], bool]) -> Callable[[object], bool]:
    return lambda value: not isinstance(value, str) or fits(value)


# --- patterns -----------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _cheap(pattern: str) -> re.Pattern[str]:
    """Return a pattern that reads a text in one pass: at most one part varies in length, from the start, without branches."""
    varying = len(_VARYING.findall(_EXACT_COUNT.sub("", pattern)))
    if _BRANCHING.search(pattern) or varying > pattern.startswith("^"):
        msg = f"the pattern {pattern[:100]!r} may be costly"
        raise re.error(msg)
    # As in ECMA-262, `$` is the end of the text, and `\d` an ASCII digit.
    return re.compile(re.sub(r"(?<!\\)\$$", r"\\Z", pattern), re.ASCII)


# --- keywords -----------------------------------------------------------------------------------------


def _ref(validator: Any, reference: str, value: Any, schema: Any) -> Iterator[ValidationError]:
    ref_errors = _REF_ERRORS.get()
    key = reference, id(value)
    if key not in ref_errors:
        errors = Draft202012Validator.VALIDATORS["$ref"](validator, reference, value, schema)
        ref_errors[key] = next(iter(errors), None)
    if ref_errors[key] is not None:
        yield ref_errors[key]


def _any_of(validator: Any, branches: Any, value: Any, _schema: Any) -> Iterator[ValidationError]:
    if not any(validator.evolve(schema=branch).is_valid(value) for branch in branches):
        yield ValidationError("no branch accepts it")


def _pattern(_validator: Any, pattern: str, value: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(value, str) and _cheap(pattern).search(value) is None:
        yield ValidationError("another pattern")


def _unique_items(_validator: Any, unique: Any, value: Any, _schema: Any) -> Iterator[ValidationError]:
    if unique and isinstance(value, (list, tuple)) and len(set(map(_frozen, value))) < len(value):
        yield ValidationError("two items are alike")


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return dict, frozenset((key, _frozen(entry)) for key, entry in value.items())
    if isinstance(value, (list, tuple)):
        return list, tuple(map(_frozen, value))
    return isinstance(value, bool), value


def _is_number(_checker: object, value: object) -> bool:
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    return is_integer or (isinstance(value, float) and isfinite(value))


_TYPES: Final = {"number": _is_number, "array": lambda _checker, value: isinstance(value, (list, tuple))}
_Bounded: Final = extend(
    Draft202012Validator,
    {"$ref": _ref, "anyOf": _any_of, "pattern": _pattern, "uniqueItems": _unique_items},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many(_TYPES),
)
