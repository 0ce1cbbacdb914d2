"""Rules between one value and a list of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mcp_lenient.json_text import looks_like_json
from mcp_lenient.rules.one_item import one_item
from mcp_lenient.rules.rule import Apply, Place, Site, made
from mcp_lenient.rules.words import says_nothing, split_members, split_numbers

_Values = tuple[Any, ...]
_WRAPPER_KEYS = frozenset({"item", "items"})
_SCALAR_TYPES = frozenset({"string", "number", "integer", "boolean"})


def item_wrapper_to_array(site: Site) -> Apply | None:
    """``{"item": [..]}`` to ``[..]``, ``[{"item": 1}]`` to ``[1]``."""
    if not site.shape.is_only("array"):
        return None
    declared = item_names(site)

    def apply(value: dict[str, Any] | list[Any]) -> _Values:
        if isinstance(value, dict):
            inner = () if value.keys() & declared else _inner(value)
            return inner if inner and isinstance(inner[0], list) else ()
        inners = [
            _inner(entry) if isinstance(entry, dict) and not entry.keys() & declared else ()
            for entry in value
        ]
        return ([inner[0] for inner in inners],) if inners and all(inners) else ()

    return apply


def item_names(site: Site) -> frozenset[str]:
    """Return the names that the items of a list declare: an object with one of them is an item, not a wrapper."""
    item = site.shape_at(site.shape.items)
    shapes = [item, *map(site.shape_at, item.branches)]
    return frozenset(name for shape in shapes for name in shape.properties)


def _inner(entry: dict[str, Any]) -> _Values:
    """What stands in a wrapper of a single well-known key."""
    return tuple(entry.values()) if len(entry) == 1 and next(iter(entry)) in _WRAPPER_KEYS else ()


def array_to_scalar(site: Site) -> Apply | None:
    """``[5]`` to 5."""
    shape = site.shape
    if not shape.types or not shape.types <= _SCALAR_TYPES or shape.format == "json":
        return None

    def apply(value: list[Any]) -> _Values:
        return (value[0],) if len(value) == 1 and not isinstance(value[0], list) else ()

    return apply


def scalar_to_array(site: Site) -> Apply | None:
    """``"a"`` to ``["a"]``; a text only if it is surely one item."""
    if not site.shape.is_only("array") or Place.ITEM in site.place:
        return None
    item = site.shape_at(site.shape.items)
    shapes = [item, *map(site.shape_at, item.branches)]
    members = _texts(value for shape in shapes for value in shape.enum or ())
    examples = [value for shape in shapes for value in shape.examples]
    examples += [value for example in site.shape.examples if isinstance(example, list) for value in example]
    is_one = one_item(members, _texts(examples))

    def apply(value: Any) -> _Values:
        if isinstance(value, str) and (says_nothing(value) or looks_like_json(value) or not is_one(value)):
            return ()
        return ([value],)

    return apply


def _texts(values: Iterable[Any]) -> tuple[str, ...]:
    return tuple(value for value in values if isinstance(value, str))


def object_to_array(site: Site) -> Apply | None:
    """``{..}`` to ``[{..}]``, where the items declare every key that came."""
    if not site.shape.is_only("array") or Place.ITEM in site.place:
        return None
    item = site.shape_at(site.shape.items)
    shapes = [item, *map(site.shape_at, item.branches)]

    def apply(value: dict[str, Any]) -> _Values:
        return (
            ([value],) if value and any(value.keys() <= shape.properties.keys() for shape in shapes) else ()
        )

    return apply


def delimited_text_to_array(site: Site) -> Apply | None:
    """``"1,2,3"`` to ``[1, 2, 3]``, and texts whose parts are enum members throughout."""
    if not site.shape.is_only("array"):
        return None
    item = site.shape_at(site.shape.items)
    members = item.enum
    if members is None:
        numbers = item.types and item.types <= {"integer", "number"}
        integers = "integer" in (item.types or ())
        return (lambda text: made(split_numbers(text, integers=integers))) if numbers else None
    texts = all(isinstance(member, str) for member in members)
    return (lambda text: made(split_members(text, members))) if texts else None
