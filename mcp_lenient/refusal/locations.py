"""A place in the arguments: what the schema says of it, what stands there, and which keywords that breaks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from mcp_lenient.schema.forms import KEYS, MAX_FORMS, Form, FormReader, Forms, children, declares, names_of
from mcp_lenient.schema.shape import holds
from mcp_lenient.types import Path
from mcp_lenient.values.display import secret_name
from mcp_lenient.values.json_values import json_type, same_json


@dataclass(frozen=True, slots=True)
class Location:
    """A place in the arguments, and what stands there.

    ``declared`` says whether every name on the way is one of the schema's ``properties``; ``secret``
    whether any of them names or is marked as something that must not be repeated.
    """

    path: Path
    forms: Forms
    value: Any
    present: bool
    declared: bool
    secret: bool


def meant(reader: FormReader, place: Location) -> Forms:
    """The forms that what stands at a place seems to be meant for; all where nothing stands there, or none fits."""
    if not place.present:
        return place.forms
    return reader.union(place.forms).meant(place.value) or place.forms


def top(reader: FormReader, arguments: Mapping[str, Any]) -> Location:
    """The place of the arguments themselves."""
    return Location((), reader.top, arguments, present=True, declared=True, secret=False)


class Below(NamedTuple):
    """What a schema says of what is below a name or index, whatever is sent there."""

    forms: Forms
    declared: bool
    secret: bool


def below(narrowed: Forms, key: str | int, secrets: Collection[str]) -> Below:
    """What forms say of a name or index below them."""
    declared = isinstance(key, int) or declares(narrowed, key)
    here = children(narrowed, key)[:MAX_FORMS]
    return Below(here, declared, secret_name(key, secrets) or marked_secret(here))


def step_below(above: Location, key: str | int, said: Below) -> Location:
    """The place below another one."""
    present, value = _step(above.value, key) if above.present else (False, None)
    return Location(
        (*above.path, key),
        said.forms,
        value,
        present,
        above.declared and said.declared,
        above.secret or said.secret,
    )


def _step(value: Any, key: str | int) -> tuple[bool, Any]:
    if isinstance(value, Mapping):
        return (True, value[key]) if key in value else (False, None)
    if isinstance(value, (list, tuple)) and isinstance(key, int) and 0 <= key < len(value):
        return True, value[key]
    return False, None


def marked_secret(choices: Forms) -> bool:
    """Whether a schema marks this place as one whose value must not be repeated."""
    return any(
        any(each is True for each in form.says("writeOnly")) or "password" in form.says("format")
        for form in choices
    )


def private(choices: Forms, value: object, secrets: Collection[str] = ()) -> bool:
    """Whether a value holds a secret, or anything under a name that the schema does not declare."""
    if marked_secret(choices):
        return True
    if isinstance(value, Mapping):
        names = names_of(choices)
        if any(name not in names or secret_name(name, secrets) for name in value):
            return True
    return any(private(children(choices, key), entry, secrets) for key, entry in entries(value))


def entries(value: object) -> Iterable[tuple[Any, Any]]:
    """Return what is in a container, by name or index."""
    if isinstance(value, Mapping):
        return value.items()
    return enumerate(value if isinstance(value, list) else ())


MAX_VISITS = 400
MAX_DEPTH = 64
_SHARED = ("not",)
_NONE = object()
_BY_TYPE: Mapping[str, tuple[str, ...]] = {
    "string": ("minLength", "maxLength", "pattern", "format"),
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "array": ("minItems", "maxItems", "uniqueItems"),
    "object": ("minProperties", "maxProperties"),
}


@dataclass(frozen=True, slots=True)
class KeywordViolation:
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
    reader: FormReader
    exact_integers: bool
    visits: Iterator[int]


def findings(
    reader: FormReader, choices: Forms, value: Any, path: Path, *, exact_integers: bool
) -> tuple[KeywordViolation, ...]:
    """What a value breaks, at its place or below it; empty when the schema has nothing against it.

    Looks at a bounded number of values, so that a hostile schema or a large value costs little.
    """
    search = _Search(reader, exact_integers, iter(range(MAX_VISITS)))
    return tuple(_findings(search, choices, value, path))


def _findings(search: _Search, choices: Forms, value: Any, path: Path) -> list[KeywordViolation]:
    if not choices or len(path) > MAX_DEPTH or next(search.visits, None) is None:
        return []
    union = search.reader.union(choices)
    meant = union.meant(value, exact_integers=search.exact_integers)
    if not meant:
        return [KeywordViolation(path, "type", choices)]
    if not any(_listed(form, value) for form in meant):
        return [KeywordViolation(path, "enum", choices)]
    told = search.reader.union(meant).discriminator if isinstance(value, Mapping) else None
    if told is not None:
        tags = search.reader.forms({"enum": list(told.tags)})
        return [KeywordViolation((*path, told.name), "enum" if told.name in value else "required", tags)]
    found = [_in_form(search, form, value, path) for form in meant if _listed(form, value)]
    return min(found, key=len)


def _listed(form: Form, value: Any) -> bool:
    listed = form.enum
    if listed is None or (type(value) is str and value in listed):
        return True
    return type(value) is not str and any(same_json(option, value) for option in listed)


def _in_form(search: _Search, form: Form, value: Any, path: Path) -> list[KeywordViolation]:
    found = [KeywordViolation(path, keyword, (form,), bound) for keyword, bound in _broken(form, value)]
    if isinstance(value, Mapping):
        found += _names(search, form, value, path)
    for key, entry in islice(entries(value), MAX_VISITS):
        found += _findings(search, form.child(key), entry, (*path, key))
    return found


def _broken(form: Form, value: Any) -> Iterator[tuple[str, Any]]:
    for keyword in (*_BY_TYPE.get(json_type(value), ()), *_SHARED):
        broken = next((bound for bound in form.says(keyword) if not holds(keyword, bound, value)), _NONE)
        if broken is not _NONE:
            yield keyword, broken


def _names(search: _Search, form: Form, value: Mapping[Any, Any], path: Path) -> Iterator[KeywordViolation]:
    for name in form.required:
        if name not in value:
            yield KeywordViolation((*path, name), "required", form.child(name))
    if form.closed:
        for name in value:
            if name not in form.properties and not form.child(name):
                yield KeywordViolation((*path, name), "additionalProperties", ())
    keys = search.reader.keys((form,))
    for name in islice(value, MAX_VISITS if keys else 0):
        if _findings(search, keys, name, ()):
            yield KeywordViolation((*path, name), KEYS, keys)
