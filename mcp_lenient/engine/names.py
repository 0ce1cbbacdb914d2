"""Which declared names the keys of an object were meant for, and which keys are to be left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from mcp_lenient.engine.plan import Plan
from mcp_lenient.schema.node import SchemaNode
from mcp_lenient.types import Path, Repair
from mcp_lenient.values.json_values import json_type
from mcp_lenient.values.pointers import pointer


class Rename(NamedTuple):
    """A declared name in place of the key that was sent."""

    name: str
    cost: int
    rule: str


_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class Naming(NamedTuple):
    """What the keys of one object become: declared names, or nothing."""

    renamed: Mapping[str, Rename] = _NOTHING
    dropped: Mapping[str, tuple[int, str]] = _NOTHING

    def records(self, value: Mapping[str, Any], path: Path) -> tuple[int, tuple[Repair, ...]]:
        """What leaving keys out costs, and its repairs."""
        if not self.dropped:
            return 0, ()
        repairs = tuple(
            Repair(self.dropped[key][1], pointer((*path, key)), json_type(sent), "absent")
            for key, sent in value.items()
            if key in self.dropped
        )
        return sum(cost for cost, _ in self.dropped.values()), repairs


_STYLE = "rename_case"
_PLURAL = "rename_plural"

AS_SENT = Naming()
"""Every key under its own name."""

AcceptsItems = Callable[[SchemaNode, str, Any], bool]
"""Whether a declared list takes a value that was sent under its singular, as it is or as its one item."""


def naming(
    plan: Plan,
    node: SchemaNode,
    value: Mapping[str, Any],
    accepts_items: AcceptsItems,
    judged: Collection[str] = (),
) -> Naming:
    """Find for each undeclared key the declared name it was meant for; never two keys for one name.

    Args:
        plan: The rules.
        node: Where the object stands.
        value: The object.
        accepts_items: Whether a plural takes what was sent under its singular.
        judged: The keys that the tool's own validator calls unknown, where it calls any so: no other key is
            looked at, since it may be one that only this validator knows.
    """
    unknown = undeclared(node, value)
    if judged:
        unknown = [key for key in unknown if key in judged]
    if not unknown:
        return AS_SENT
    dropped = _drops(plan, node, unknown)
    return Naming(
        _renamed(plan, node, value, [key for key in unknown if key not in dropped], accepts_items), dropped
    )


def undeclared(node: SchemaNode, value: Mapping[str, Any]) -> list[str]:
    """The keys that the schema knows neither by name nor by pattern."""
    declared = node.properties
    if value.keys() <= declared.keys():
        return []
    return [
        key for key in value if key not in declared and isinstance(key, str) and not node.has_pattern_for(key)
    ]


def _drops(plan: Plan, node: SchemaNode, unknown: list[str]) -> dict[str, tuple[int, str]]:
    """The keys to leave out, each with its cost and rule."""
    found: dict[str, tuple[int, str]] = {}
    if not unknown:
        return found
    for rule, cost, apply in plan.at(node).drops:
        for key in apply(unknown):
            found.setdefault(key, (cost, rule.name))
    return found


def without_injected(plan: Plan, value: dict[str, Any]) -> tuple[dict[str, Any], int, tuple[Repair, ...]]:
    """Return the arguments without the keys that a client added, what that costs, and its repairs."""
    dropped = _drops(plan, plan.top, undeclared(plan.top, value))
    if not dropped:
        return value, 0, ()
    rest = {key: sent for key, sent in value.items() if key not in dropped}
    return rest, *Naming(dropped=dropped).records(value, ())


def _renamed(
    plan: Plan, node: SchemaNode, value: Mapping[str, Any], unknown: list[str], accepts_items: AcceptsItems
) -> dict[str, Rename]:
    shape = node.shape
    absent = frozenset(name for name in shape.properties if name not in value)
    wanted = absent if shape.closed else absent & shape.required
    if not wanted:
        return {}
    found: dict[str, Rename] = {}
    for key in unknown:
        rename = _rename(plan, node, key, value[key], wanted, accepts_items)
        if rename is not None:
            found[key] = rename
    if shape.extra in (None, True, {}) and any(each.rule == _STYLE for each in found.values()):
        # Who writes one name of an object in another case style does so with its other names too.
        for key in (key for key in unknown if key not in found):
            rename = _rename(plan, node, key, value[key], absent, accepts_items)
            if rename is not None and rename.rule == _STYLE:
                found[key] = rename
    if len(found) < 2:
        return found
    targets = Counter(rename.name for rename in found.values())
    return {key: rename for key, rename in found.items() if targets[rename.name] == 1}


def _rename(
    plan: Plan, node: SchemaNode, key: str, value: Any, wanted: Collection[str], accepts_items: AcceptsItems
) -> Rename | None:
    """The declared name that a key was meant for, by the first rule that knows one."""
    for rule, cost, apply in plan.at(node).renames:
        name = apply(key, wanted, value)
        if name is not None:
            fits = rule.name != _PLURAL or accepts_items(node, name, value)
            return Rename(name, cost, rule.name) if fits else None
    return None


def names_right(node: SchemaNode, value: Mapping[str, Any], names: Naming) -> bool:
    """Whether, so renamed, no required name is missing and none is there that may not be."""
    shape = node.shape
    if names is AS_SENT:
        return shape.required <= value.keys()
    present = {
        names.renamed[key].name if key in names.renamed else key for key in value if key not in names.dropped
    }
    if shape.closed and any(node.property(name) is None for name in present):
        return False
    return shape.required <= present
