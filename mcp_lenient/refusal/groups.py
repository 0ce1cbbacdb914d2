"""Group the faults of a refused call that are alike, with what is offered to correct them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
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


class Offer(NamedTuple):
    """What is offered to correct a group of faults.

    Attributes:
        fixes: The patches that correct them, likeliest first.
        likely: These, and those of a name whose value is still refused.
        may_be_several: Whether the value of an undeclared name may be those of several missing ones.
    """

    fixes: tuple[Patch, ...] = ()
    likely: tuple[Patch, ...] = ()
    may_be_several: bool = False


NOTHING: Final = Offer()


@dataclass(frozen=True, kw_only=True)
class FaultGroup:
    """Faults of one kind, at places that differ in list indices only, and what is offered for them.

    Attributes:
        call: The call.
        code: The kind.
        keyword: The keyword of the first fault.
        is_about_key: Whether a key of a map is refused.
        faults: Those at the first place, one for each keyword; what no keyword says, such as the author's, comes last.
        locations: The first of the places.
        location_count: The number of all places.
        location: The first place.
        node: What the schema says there; of anything, if it says nothing.
        wanted: The same in words.
        types: The JSON types that it accepts, but for null.
        sent_types: The JSON types of the values, without duplicates.
        may_echo: Whether the value may be repeated.
        json_break: Where the JSON of a text for a list or object breaks.
        is_first_in_parent: Whether it is the first of its kind in its object; only its message describes the object.
        offer: What is offered.
    """

    call: RefusedCall
    code: ViolationCode
    keyword: str | None
    is_about_key: bool
    faults: tuple[Fault, ...]
    locations: tuple[Location, ...]
    location_count: int
    location: Location
    node: Node
    wanted: Wanted
    types: frozenset[str]
    sent_types: tuple[str, ...]
    may_echo: bool
    json_break: Break | None
    is_first_in_parent: bool = True
    offer: Offer = NOTHING

    @cached_property
    def operations(self) -> Sequence[Operation]:
        """The likely operations at the first place."""
        here = pointer(self.location.path)
        likely = (operation for patch in self.offer.likely for operation in patch)
        return [change for change in likely if here in (change["path"], change.get("from"))]

    @cached_property
    def intended(self) -> Sequence[Any]:
        """The allowed values, or the declared names beside it, that the caller likely intended."""
        if self.keyword == "enum":
            allowed = self.wanted.values if self.location_count == 1 else ()
            values = [change["value"] for change in self.operations if "value" in change]
            by_json = {in_json(value): value for value in values if value in allowed}
            return list(by_json.values())[:MAX_NEAR]
        targets = self.move_targets if self.code == "unknown" else ()
        siblings = [path for path in targets if path[:-1] == self.location.path[:-1]]
        return list(dict.fromkeys(path[-1] for path in siblings))[:MAX_NEAR]

    @property
    def paths(self) -> list[Path]:
        """The paths of the first places."""
        return [location.path for location in self.locations]

    @property
    def is_of_value(self) -> bool:
        """Whether a value is refused, and no name."""
        return self.code not in ("missing", "unknown", "size") and not self.is_about_key

    @property
    def readings(self) -> Sequence[Any]:
        """What an ambiguous value can be read as."""
        return self.faults[0].readings

    @property
    def name(self) -> str | None:
        """The last name of the path."""
        return next((part for part in reversed(self.location.path) if isinstance(part, str)), None)

    @property
    def is_prompt_argument(self) -> bool:
        """Whether it is an argument of a prompt, which can be nothing but a string."""
        return self.call.as_texts and len(self.location.path) == 1

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
        first = pointer(self.location.path)
        moves = [change for change in self.operations if change["op"] == "move" and change[here] == first]
        return [path_at(self.call.arguments, move[there]) for move in moves]


def group_faults(call: RefusedCall, explained: Iterable[Fault]) -> tuple[list[FaultGroup], int]:
    """Return the first groups of explained faults that are alike, and the number of other groups."""
    by_path: dict[tuple[Path, bool], dict[str | None, Fault]] = {}
    for fault in explained:
        by_path.setdefault((fault.path, fault.kind == "key"), {}).setdefault(fault.keyword, fault)
    paths_and_faults: dict[Any, tuple[list[Path], Collection[Fault]]] = {}
    for (path, is_map_key), by_keyword in by_path.items():
        if None in by_keyword:
            by_keyword[None] = by_keyword.pop(None)  # what no keyword says comes last
        pattern = tuple([part if isinstance(part, str) else -1 for part in path])
        key = (pattern, is_map_key, frozenset(map(_identity, by_keyword.values())))
        paths_and_faults.setdefault(key, ([], by_keyword.values()))[0].append(path)
    groups: list[FaultGroup] = []
    described: set[tuple[str, Path]] = set()
    for paths, first_faults in islice(paths_and_faults.values(), MAX_VIOLATIONS):
        group = _group(call, paths, tuple(first_faults))
        code_and_parent = (group.code, group.location.path[:-1])
        is_first = code_and_parent not in described
        groups.append(group if is_first else replace(group, is_first_in_parent=False))
        described.add(code_and_parent)
    return groups, len(paths_and_faults) - len(groups)


def _identity(fault: Fault) -> tuple[Any, ...]:
    return (_code(fault), fault.keyword, fault.node, fault.detail, fault.reason)


def _code(fault: Fault) -> ViolationCode:
    return _CODES.get(fault.keyword or fault.kind, "value")


def _group(call: RefusedCall, paths: Sequence[Path], faults: tuple[Fault, ...]) -> FaultGroup:
    """Return the group of faults at these paths, by those at the first one."""
    code, locations = _code(faults[0]), tuple(map(call.location, paths[:_MAX_SAMPLES]))
    location, is_about_key = locations[0], faults[0].keyword == "propertyNames"
    nodes = () if code in ("unknown", "size") else (*[fault.node for fault in faults], location.node)
    anything = call.top.tree.node(True)  # noqa: FBT003 - a schema
    node: Node = next(filter(None, nodes), anything)
    if is_about_key and node.cached(allowed_values):
        code = "enum"
    values = [location.value for location in locations if location.present]
    types, is_one = node.accepted_types - {"null"}, len(paths) == 1
    is_one_value = is_one and code not in ("missing", "unknown", "size", "ambiguous") and not is_about_key
    is_json_text = is_one and code == "type" and isinstance(location.value, str) and bool(types & CONTAINERS)
    return FaultGroup(
        call=call,
        code=code,
        keyword=faults[0].keyword,
        is_about_key=is_about_key,
        faults=faults,
        locations=locations,
        location_count=len(paths),
        location=location,
        node=node,
        wanted=node.cached(wanted_at, call.say),
        types=types,
        sent_types=tuple(dict.fromkeys(map(json_type, values))),
        may_echo=is_one_value and call.may_echo(location),
        json_break=break_of(location.value) if is_json_text else None,
    )
