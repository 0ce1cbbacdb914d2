"""Rules for numbers, booleans, enums and strings."""

from __future__ import annotations

from typing import Any

from mcp_lenient.numbers import (
    exact_number_in_text,
    integer_in_text,
    number_as_text,
    whole_float,
)
from mcp_lenient.rules.rule import Apply, Place, Site, made
from mcp_lenient.rules.words import boolean_in_text, enum_folder, json_boolean_in_text

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
    read = json_boolean_in_text if Place.UNION in site.place else boolean_in_text

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
    if not is_text or site.shape.format or len(members) == 1 or Place.MIXED in site.place:
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
