"""Names and descriptions that lead callers astray."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any, Final

from mcp_lenient.check.finding import Hit
from mcp_lenient.check.surface import Spot, Surface, within
from mcp_lenient.names import by_singular, fold_name, plural_target
from mcp_lenient.node import Node
from mcp_lenient.spelling import is_slip

_MOST_NAMES: Final = 100
_SHORT: Final = 2

_PYTHON: Final = (
    re.compile(r"`(None|True|False)`"),
    re.compile(r"['\"](None|True|False)['\"]"),
    re.compile(
        r"(?:\bor|\|\||\||=|\bis|\bto|\buse|\bpass|\bif|\bset|\bdefaults?:?|\bas|\bbe|\bset:)\s+(None)\b"
    ),
    re.compile(r"(?:\||=|\bto|\buse|\bpass|\bset|\bdefaults?:?|\bis|\bor|\bbe)\s+(True|False)\b"),
    re.compile(r"(\b(?:Optional|List|Dict|Union|Tuple|list|dict|tuple)\[[\w\[\], |.]+\])"),
    re.compile(r"(?<![\w\])])(\[\s*'[^'\n]{0,80}'(?:\s*,\s*'[^'\n]{0,80}')*\s*,?\s*\])"),
    re.compile(r"(\{\s*'[^'\n]{1,80}'\s*:[^}\n]{0,80}\}?)"),
    re.compile(r"(>>> [^\n]{1,60})"),
)
_AFTER_ARGUMENTS: Final = re.compile(
    r"^\s*(?:Returns?|Yields|Raises|Output)\s*:?\s*$.*", re.MULTILINE | re.DOTALL
)
_INSTEAD: Final = {"None": "null", "True": "true", "False": "false"}


def python_in_description(surface: Surface) -> Iterator[Hit]:
    """Descriptions that show Python where callers write JSON."""
    shown = _python_in(_AFTER_ARGUMENTS.sub("", surface.tool.description or ""))
    if shown is not None:
        yield _python_hit("", "The tool's description", shown)
    for spot in surface.spots:
        shown = _python_in(spot.own_description)
        if shown is not None:
            yield _python_hit(spot.place, f"The description of '{spot.place}'", shown)


def _python_in(text: str) -> str | None:
    found = [match for pattern in _PYTHON for match in [pattern.search(text)] if match is not None]
    return min(found, key=lambda match: match.start(1)).group(1) if found else None


def _python_hit(place: str, what: str, shown: str) -> Hit:
    short = " ".join(shown.split())
    json_word = _INSTEAD.get(short)
    return Hit(
        place,
        f"{what} shows Python ({short}): callers copy it into their JSON as text.",
        f"Write {json_word}."
        if json_word
        else "Show it in JSON: double quotes, true, false, null, array, object.",
    )


def enum_without_description(surface: Surface) -> Iterator[Hit]:
    """Lists of allowed values of which nobody says what they mean."""
    told = (surface.tool.description or "").casefold()
    for spot in surface.spots:
        values = _values(spot)
        name = spot.name or spot.place.rpartition(".")[2].partition("[")[0]
        if len(values) < 2 or spot.description or _is_mentioned(name, values, told):
            continue
        opaque = [value for value in values if not _is_word(value)]
        yield Hit(
            spot.place,
            f"Nothing says what the {len(values)} allowed values of '{spot.place}' mean"
            + (f", and {opaque[0]!r} does not say it by itself." if opaque else "."),
            "Describe them (Annotated[..., Field(description=...)]), or name the parameter in the tool's description.",
            "warning" if opaque else None,
        )


def _values(spot: Spot) -> list[Any]:
    return [
        value
        for node in spot.alternatives
        for value in node.shape.enum or ()
        if value is not None and not isinstance(value, bool)
    ]


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and len(value) > _SHORT


def _is_mentioned(name: str, values: list[Any], told: str) -> bool:
    if re.search(rf"\b{re.escape(name.casefold())}\b", told) or re.search(
        rf"\b{re.escape(name.casefold().replace('_', ' '))}\b", told
    ):
        return True
    mentioned = [value for value in values if re.search(rf"\b{re.escape(str(value).casefold())}\b", told)]
    return len(mentioned) * 2 >= len(values)


def names_one_slip_apart(surface: Surface) -> Iterator[Hit]:
    """Two names of one object that a slip of the keyboard turns into each other."""
    for place, node in surface.objects:
        names = list(node.property_nodes)[:_MOST_NAMES]
        for one, other in combinations(names, 2):
            apart = _apart(one, other)
            if apart is not None:
                yield Hit(
                    within(place, one),
                    f"'{one}' and '{other}' differ only by {apart}: callers mix them up, and both names are taken.",
                    "Rename one of them by a word of its own.",
                    "note" if _types_tell(node.property_nodes[one], node.property_nodes[other]) else None,
                )


def _types_tell(one: Node, other: Node) -> bool:
    """Whether one is a list and the other is none, so that a mix-up is refused."""
    return _takes_lists(one) is not _takes_lists(other)


def _takes_lists(node: Node) -> bool:
    return node.is_array and any("array" in (branch.shape.types or ()) for branch in node.branches or (node,))


def _apart(one: str, other: str) -> str | None:
    if fold_name(one) == fold_name(other):
        return "case style"
    if plural_target(one, by_singular([other])) or plural_target(other, by_singular([one])):
        return "singular and plural"
    if is_slip(one, other):
        return "a letter"
    return None


def tool_without_description(surface: Surface) -> Iterator[Hit]:
    """Tools that do not say what they do."""
    if not (surface.tool.description or "").strip():
        yield Hit(
            "",
            "The tool has no description, so callers know it by its name alone.",
            "Give its function a docstring that says what it does and when to use it.",
        )
