"""Which keyword of the published schema a value breaks, looked for below the place a judge pointed at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from mcp_lenient.refusal.keywords import holds
from mcp_lenient.refusal.places import (
    KEYS,
    Form,
    Forms,
    Schema,
    child,
    chosen,
    closed,
    discriminator,
    key_forms,
    options,
    properties,
    required,
    same,
)
from mcp_lenient.types import Path
from mcp_lenient.values import json_type

MAX_VISITS = 400
MAX_DEPTH = 64

_SHARED = ("not",)
_BY_TYPE: Mapping[str, tuple[str, ...]] = {
    "string": ("minLength", "maxLength", "pattern", "format"),
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "array": ("minItems", "maxItems", "uniqueItems"),
    "object": ("minProperties", "maxProperties"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A keyword that a value breaks, with what the keyword asks for.

    For ``required`` and ``additionalProperties`` the path ends in the name; ``forms`` are those of the
    value, or of what is missing.
    """

    path: Path
    keyword: str
    forms: Forms
    bound: Any = None


@dataclass(frozen=True, slots=True)
class _Search:
    root: Schema
    exact_integers: bool
    visits: Iterator[int]


def findings(
    root: Schema, choices: Forms, value: Any, path: Path, *, exact_integers: bool
) -> tuple[Finding, ...]:
    """What a value breaks, at its place or below it; empty when the schema has nothing against it.

    Looks at a bounded number of values, so that a hostile schema or a large value costs little.
    """
    search = _Search(root, exact_integers, iter(range(MAX_VISITS)))
    return tuple(_findings(search, choices, value, path))


def _findings(search: _Search, choices: Forms, value: Any, path: Path) -> list[Finding]:
    if not choices or len(path) > MAX_DEPTH or next(search.visits, None) is None:
        return []
    meant = chosen(choices, value, exact_integers=search.exact_integers)
    if not meant:
        return [Finding(path, "type", choices)]
    if not any(_listed(form, value) for form in meant):
        return [Finding(path, "enum", choices)]
    told = discriminator(meant) if isinstance(value, Mapping) else None
    if told is not None and isinstance(value, Mapping):
        keyword = "enum" if told[0] in value else "required"
        return [Finding((*path, told[0]), keyword, (({"enum": list(told[1])},),))]
    found = [_in_form(search, form, value, path) for form in meant if _listed(form, value)]
    return min(found, key=len)


def _listed(form: Form, value: Any) -> bool:
    listed = options(form)
    if listed is None or (type(value) is str and value in listed):
        return True
    return type(value) is not str and any(same(option, value) for option in listed)


def _in_form(search: _Search, form: Form, value: Any, path: Path) -> list[Finding]:
    found = [Finding(path, keyword, (form,), bound) for keyword, bound in _broken(form, value)]
    if isinstance(value, Mapping):
        found += _names(search, form, value, path)
    below = (
        value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, entry in islice(below, MAX_VISITS):
        found += _findings(search, child(search.root, form, key), entry, (*path, key))
    return found


def _broken(form: Form, value: Any) -> Iterator[tuple[str, Any]]:
    for keyword in (*_BY_TYPE.get(json_type(value), ()), *_SHARED):
        for schema in form:
            if keyword in schema and not holds(keyword, schema[keyword], value):
                yield keyword, schema[keyword]
                break


def _names(search: _Search, form: Form, value: Mapping[Any, Any], path: Path) -> Iterator[Finding]:
    for name in required(form):
        if name not in value:
            yield Finding((*path, name), "required", child(search.root, form, name))
    if closed(form):
        for name in value:
            if name not in properties(form) and not child(search.root, form, name):
                yield Finding((*path, name), "additionalProperties", ())
    keys = key_forms(search.root, (form,))
    for name in islice(value, MAX_VISITS if keys else 0):
        if _findings(search, keys, name, ()):
            yield Finding((*path, name), KEYS, keys)
