"""A tiny value of the shape that a schema asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp_lenient.redaction import exact, fits_json, in_json
from mcp_lenient.refusal.describe import (
    ANY_NAME,
    FORMATS,
    LIMITS,
    MAX_DEPTH,
    MAX_TYPES,
    format_of,
    likely_kinds,
)
from mcp_lenient.refusal.keywords import holds
from mcp_lenient.refusal.places import Form, Forms, Schema, child, options, properties, required
from mcp_lenient.values import json_type

MAX_EXAMPLE = 160
MAX_OPTIONAL = 2

_SCALAR_EXAMPLES: Mapping[str, tuple[Any, ...]] = {
    "string": ("a", "b"),
    "integer": (1, 2),
    "number": (1.5, 2),
    "boolean": (True,),
}


def example(root: Schema, choices: Forms) -> str | None:
    """A tiny value of the expected shape in JSON; ``None`` when none is small or certain enough."""
    for form in choices:
        found = _examples(root, form, 0)
        if found and likely_kinds(form)[:1] != ("null",) and fits_json(found[0], MAX_EXAMPLE):
            return in_json(found[0])
    return None


def _examples(root: Schema, form: Form, depth: int) -> tuple[Any, ...]:
    values = options(form)
    if values is not None:
        return tuple(values[:2])
    kind = next((kind for kind in likely_kinds(form) if kind != "null"), "")
    if depth < MAX_DEPTH and kind == "array":
        return _list_example(root, form, depth)
    if depth < MAX_DEPTH and kind == "object":
        return _object_example(root, form, depth)
    return tuple(value for value in _samples(form, kind) if _keeps(form, value))


def _samples(form: Form, kind: str) -> tuple[Any, ...]:
    """Values to try: of a format its own, of a number also its limits."""
    known = format_of(form)
    if kind == "string" and known is not None:
        words = FORMATS.get(known, "").partition(" such as ")[2]
        return (words.strip('"'),) if words and known != "json-string" else ()
    if kind in ("integer", "number"):
        limits = (schema[end] for schema in form for end in ("minimum", "maximum") if end in schema)
        return (*_SCALAR_EXAMPLES[kind], *(limit for limit in limits if json_type(limit) == kind))
    return _SCALAR_EXAMPLES.get(kind, ())


def _keeps(form: Form, value: object) -> bool:
    return all(
        holds(keyword, schema[keyword], value) for schema in form for keyword in LIMITS if keyword in schema
    )


def _list_example(root: Schema, form: Form, depth: int) -> tuple[Any, ...]:
    leading = [each for schema in form if isinstance(each := schema.get("prefixItems"), list)]
    if leading:
        return _positions_example(root, form, len(leading[0]), depth)
    for item in child(root, form, 0):
        found = _examples(root, item, depth + 1)
        if found:
            built = list(found[: 1 if isinstance(found[0], (list, dict)) else 2])
            return tuple(value for value in (built, built[:1]) if _keeps(form, value))[:1]
    return ()


def _positions_example(root: Schema, form: Form, count: int, depth: int) -> tuple[Any, ...]:
    if count > MAX_TYPES:
        return ()
    found = [
        next(filter(None, (_examples(root, item, depth + 1) for item in child(root, form, at))), ())
        for at in range(count)
    ]
    return ([values[0] for values in found],) if all(found) else ()


def _object_example(root: Schema, form: Form, depth: int) -> tuple[Any, ...]:
    declared = properties(form)
    needed = [name for name in required(form) if exact(name)]
    names = needed or [name for name in declared if exact(name)][:MAX_OPTIONAL] or [ANY_NAME]
    built: dict[str, Any] = {}
    for name in names:
        found = next(filter(None, (_examples(root, sub, depth + 1) for sub in child(root, form, name))), ())
        if found:
            built[name] = found[0]
        elif needed:
            return ()
    return (built,) if built else ()
