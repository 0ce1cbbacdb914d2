"""Rules for numbers, booleans, enums, strings and null."""

from __future__ import annotations

from typing import Any

from mcp_lenient.rules.rule import Apply, Site, made
from mcp_lenient.rules.words import (
    boolean_in_text,
    enum_folder,
    is_null_text,
    json_boolean_in_text,
    says_nothing,
)
from mcp_lenient.schema.node import Position
from mcp_lenient.schema.shape import Shape
from mcp_lenient.values.numbers import exact_number_in_text, integer_in_text, number_as_text, whole_float

_Values = tuple[Any, ...]


def text_to_integer(site: Site) -> Apply | None:
    """``"42"`` to 42, ``"5.0"`` to 5."""
    if not _is(site, "integer"):
        return None

    def apply(text: str) -> _Values:
        return made(integer_in_text(text))

    return apply


def text_to_number(site: Site) -> Apply | None:
    """``"3.14"`` to 3.14."""
    if not _is(site, "number"):
        return None

    def apply(text: str) -> _Values:
        return made(exact_number_in_text(text))

    return apply


def whole_float_to_integer(site: Site) -> Apply | None:
    """``7.0`` to 7."""
    if not _is(site, "integer"):
        return None

    def apply(value: float) -> _Values:
        return made(whole_float(value))

    return apply


def text_to_boolean(site: Site) -> Apply | None:
    """``"true"``, ``"yes"``, ``"on"``, ``"1"`` to true; beside other types only ``"true"`` and ``"false"``."""
    if not _is(site, "boolean"):
        return None
    read = json_boolean_in_text if Position.UNION in site.place else boolean_in_text

    def apply(text: str) -> _Values:
        return made(read(text))

    return apply


def integer_to_boolean(site: Site) -> Apply | None:
    """1 to true, 0 to false."""
    if not _is(site, "boolean"):
        return None

    def apply(value: int) -> _Values:
        return (bool(value),) if value in (0, 1) else ()

    return apply


def number_to_text(site: Site) -> Apply | None:
    """42 to ``"42"``; never where a format, the only allowed value or a mixed list speaks against it."""
    members = site.shape.enum or ()
    is_text = _is(site, "string") or (members and all(isinstance(member, str) for member in members))
    if not is_text or site.shape.format or len(members) == 1 or Position.MIXED in site.place:
        return None

    def apply(value: float) -> _Values:
        return made(number_as_text(value))

    return apply


def fold_enum(site: Site) -> Apply | None:
    """``"FAST"`` to the one enum value ``"fast"`` that differs by nothing but spelling."""
    values = site.shape.enum or ()
    words = {value for value in values if not isinstance(value, (list, dict)) and value not in (None, "")}
    return enum_folder(values) if len(words) > 1 else None


def _is(site: Site, json_type: str) -> bool:
    return site.shape.is_only(json_type)


_NONE = "none"
_NONE_WORDS = frozenset({"none", "null", "unset"})


def null_text_to_null(site: Site) -> Apply | None:
    """``"null"`` to null, where null may come and a string may not."""
    if not site.shape.is_only("null") or Position.TEXT in site.place:
        return None

    def apply(text: str) -> tuple[None, ...]:
        return (None,) if is_null_text(text) or text == _NONE else ()

    return apply


def null_text_to_absent(site: Site) -> Apply | None:
    """``"null"`` for an optional property that takes neither null nor strings: left out."""
    return None if site.takes(None) or _takes_strings(site) or _has_none_member(site) else is_null_text


def null_to_absent(site: Site) -> Apply | None:
    """Null for an optional property that forbids it: left out."""
    if _has_none_member(site) or None in _members(site):
        return None

    def apply(value: None) -> bool:
        return value is None

    return apply


def empty_text_to_absent(site: Site) -> Apply | None:
    """``""`` for an optional property that forbids it: left out."""
    if "array" in _kinds(site) or (_members(site) and site.shape.default) or _asks_for_text(site):
        return None

    def apply(text: str) -> bool:
        return not text

    return apply


def _shapes(site: Site) -> list[Shape]:
    """Return what is said at a place and in the branches of its union."""
    return [site.shape, *(site.shape_at(branch) for branch in site.shape.branches)]


def _kinds(site: Site) -> frozenset[str]:
    """Return the JSON types that are taken here."""
    return frozenset().union(*(shape.types or () for shape in _shapes(site)))


def _members(site: Site) -> tuple[object, ...]:
    return tuple(member for shape in _shapes(site) for member in shape.enum or ())


def _asks_for_text(site: Site) -> bool:
    """Return whether the author forbids the empty text itself: to leave it out would widen the call.

    A date, another format or an enum has no empty text; any other string refuses it by a guard of the author's.
    """
    return any(shape.has_min_length or _is_free_text(shape) for shape in _shapes(site))


def _is_free_text(shape: Shape) -> bool:
    return "string" in (shape.types or ()) and shape.enum is None and not shape.format and not shape.branches


def _takes_strings(site: Site) -> bool:
    return "string" in _kinds(site) or not _kinds(site)


def _has_none_member(site: Site) -> bool:
    """Return whether a word for nothing is an allowed value, here or as the item of a list."""
    items = (site.shape_at(shape.items).enum or () for shape in _shapes(site))
    members = (*_members(site), *(member for enum in items for member in enum))
    return any(
        isinstance(member, str) and (says_nothing(member) or member.casefold() in _NONE_WORDS)
        for member in members
    )
