"""Group the faults of a refused call that are alike, with what is offered to correct them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final, NamedTuple

from mcp_lenient.refusal.locations import Location, RefusedCall
from mcp_lenient.refusal.sentences import Wanted, allowed_values, wanted_at
from mcp_lenient.schema.node import Node
from mcp_lenient.types import Fault, Path, ViolationCode
from mcp_lenient.values.display import in_json
from mcp_lenient.values.json_values import Break, break_of, json_type, pointer
from mcp_lenient.values.patches import Operation, Patch, path_at

MAX_VIOLATIONS: Final = 20
MAX_NEAR: Final = 3
_MAX_SAMPLES: Final = 8
CONTAINERS: Final = frozenset({"array", "object"})
_CODES: Final[Mapping[str, ViolationCode]] = {
    "type": "type",
    "enum": "enum",
    "pattern": "pattern",
    "format": "format",
    "size": "size",
    "ambiguous": "ambiguous",
    "required": "missing",
    "additionalProperties": "unknown",
    **dict.fromkeys("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split(), "range"),
    **dict.fromkeys("minLength maxLength minItems maxItems minProperties maxProperties".split(), "length"),
}


class Offered(NamedTuple):
    """What is offered to correct a group of faults.

    Attributes:
        fixes: The patches that correct them, likeliest first.
        likely: These, and those of a name whose value is still refused.
        may_be_several: Whether the value of an undeclared name may be those of several missing ones.
    """

    fixes: tuple[Patch, ...] = ()
    likely: tuple[Patch, ...] = ()
    may_be_several: bool = False


NOTHING: Final = Offered()


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultGroup:
    """Faults of one kind, at places that differ in list indices only, and what is offered for them.

    Attributes:
        call: The call.
        code: The kind.
        keyword: The keyword of the first fault.
        is_of_key: Whether a key of a map is refused.
        faults: Those at the first place, one for each keyword; the author's comes last.
        locations: The first of the places.
        total: The number of places.
        first: The first place.
        value: The value there.
        node: What the schema says there; of anything, if it says nothing.
        wanted: The same in words.
        types: The JSON types that it accepts, but for null.
        sent_types: The JSON types of the values, without duplicates.
        may_echo: Whether the value may be repeated.
        json_break: Where the JSON of a text for a list or object breaks.
        is_first: Whether it is the first of its kind in its object; only its message describes the object.
        offered: What is offered.
        changes: The likely operations at the first place.
        intended: The allowed values, or the declared names beside it, that the caller likely intended.
    """

    call: RefusedCall
    code: ViolationCode
    keyword: str | None
    is_of_key: bool
    faults: tuple[Fault, ...]
    locations: tuple[Location, ...]
    total: int
    first: Location
    value: Any
    node: Node
    wanted: Wanted
    types: frozenset[str]
    sent_types: tuple[str, ...]
    may_echo: bool
    json_break: Break | None
    is_first: bool = True
    offered: Offered = NOTHING
    changes: tuple[Operation, ...] = ()
    intended: tuple[Any, ...] = ()

    @property
    def paths(self) -> list[Path]:
        """The paths of the first places."""
        return [location.path for location in self.locations]

    @property
    def is_of_value(self) -> bool:
        """Whether a value is refused, and no name."""
        return self.code not in ("missing", "unknown", "size") and not self.is_of_key

    @property
    def readings(self) -> Sequence[Any]:
        """What an ambiguous value can be read as."""
        return self.faults[0].readings

    @property
    def name(self) -> str | None:
        """The last name of the path."""
        return next((part for part in reversed(self.first.path) if isinstance(part, str)), None)

    @property
    def is_prompt_argument(self) -> bool:
        """Whether it is an argument of a prompt, which can be nothing but a string."""
        return self.call.as_texts and len(self.first.path) == 1

    @property
    def takes_json_text(self) -> bool:
        """Whether it is one of those that is read as JSON."""
        return self.is_prompt_argument and bool(self.types & CONTAINERS)

    @property
    def move_sources(self) -> list[Path]:
        """The places from which the likely moves bring a value here."""
        return self._other_ends("path", "from")

    @property
    def move_targets(self) -> list[Path]:
        """The places to which the likely moves take the value from here."""
        return self._other_ends("from", "path")

    def _other_ends(self, here: str, there: str) -> list[Path]:
        first = pointer(self.first.path)
        moves = [change for change in self.changes if change["op"] == "move" and change[here] == first]
        return [path_at(self.call.arguments, move[there]) for move in moves]

    def with_offer(self, offered: Offered) -> FaultGroup:
        """Return the group with what is offered for it."""
        here = pointer(self.first.path)
        operations = (operation for patch in offered.likely for operation in patch)
        changes = [change for change in operations if here in (change["path"], change.get("from"))]
        group = replace(self, offered=offered, changes=tuple(changes))
        return replace(group, intended=tuple(_intended(group)[:MAX_NEAR]))


def group_faults(call: RefusedCall, faults: Iterable[Fault]) -> tuple[list[FaultGroup], int]:
    """Return the first groups of faults that are alike, and the number of other groups."""
    by_place: dict[tuple[Path, bool], dict[str | None, Fault]] = {}
    for fault in faults:
        by_place.setdefault((fault.path, fault.kind == "key"), {}).setdefault(fault.keyword, fault)
    alike: dict[Any, tuple[Collection[Fault], list[Path]]] = {}
    for (path, is_key), of_keywords in by_place.items():
        if None in of_keywords:
            of_keywords[None] = of_keywords.pop(None)  # what the author says comes last
        place_faults = of_keywords.values()
        reasons = frozenset(
            [(_code(fault), fault.keyword, fault.node, fault.detail, fault.reason) for fault in place_faults]
        )
        pattern = tuple([part if isinstance(part, str) else -1 for part in path])
        _, paths = alike.setdefault((pattern, is_key, reasons), (place_faults, []))
        paths.append(path)
    groups: list[FaultGroup] = []
    seen: set[tuple[str, Path]] = set()
    for first_faults, paths in islice(alike.values(), MAX_VIOLATIONS):
        group = _group(call, tuple(first_faults), paths)
        code_and_owner = (group.code, group.first.path[:-1])
        groups.append(replace(group, is_first=False) if code_and_owner in seen else group)
        seen.add(code_and_owner)
    return groups, len(alike) - len(groups)


def _code(fault: Fault) -> ViolationCode:
    return _CODES.get(fault.keyword or fault.kind, "value")


def _group(call: RefusedCall, first_faults: tuple[Fault, ...], paths: Sequence[Path]) -> FaultGroup:
    code, locations = _code(first_faults[0]), tuple([call.location(path) for path in paths[:_MAX_SAMPLES]])
    nodes = (*[fault.node for fault in first_faults], locations[0].node)
    anything = call.top.tree.node(True)  # noqa: FBT003 - a schema
    node: Node = next(filter(None, () if code in ("unknown", "size") else nodes), anything)
    is_of_key, value = first_faults[0].keyword == "propertyNames", locations[0].value
    if is_of_key and node.cached(allowed_values):
        code = "enum"
    values = [location.value for location in locations if location.present]
    types, is_one = node.accepted_types - {"null"}, len(paths) == 1
    is_one_value = is_one and code not in ("missing", "unknown", "size", "ambiguous") and not is_of_key
    is_json_text = is_one and code == "type" and isinstance(value, str) and bool(types & CONTAINERS)
    return FaultGroup(
        call=call,
        code=code,
        keyword=first_faults[0].keyword,
        is_of_key=is_of_key,
        faults=first_faults,
        locations=locations,
        total=len(paths),
        first=locations[0],
        value=value,
        node=node,
        wanted=node.cached(wanted_at, call.say),
        types=types,
        sent_types=tuple(dict.fromkeys(map(json_type, values))),
        may_echo=is_one_value and call.may_echo(locations[0]),
        json_break=break_of(value) if is_json_text else None,
    )


def _intended(group: FaultGroup) -> Sequence[Any]:
    if group.keyword == "enum":
        allowed = group.wanted.values if group.total == 1 else ()
        values = {in_json(change["value"]): change["value"] for change in group.changes if "value" in change}
        return [value for value in values.values() if value in allowed]
    if group.code != "unknown":
        return ()
    siblings = [path for path in group.move_targets if path[:-1] == group.first.path[:-1]]
    return list(dict.fromkeys(path[-1] for path in siblings))
