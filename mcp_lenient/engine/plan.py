"""The rules of a policy, attached to the nodes of a schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mcp_lenient.rules.rules import Apply, Rule, Site
from mcp_lenient.schema.node import Position, SchemaNode, SchemaTree
from mcp_lenient.values.json_values import PYTHON_TYPES, json_type

if TYPE_CHECKING:
    from mcp_lenient.rules.policy import Policy
    from mcp_lenient.schema.compile import ReadableSchema, UnreadPlace

Compiled = tuple[Rule, int, Apply]
"""A rule that applies at a node, its cost and the function to run per value."""
_DESTRUCTIVE_TIERS = frozenset({1, 2})


class Plan:
    """A tool's input schema under a policy.

    Args:
        schema: The input schema, an object schema of any draft.
        policy: The rules and options in force.
        destructive: Whether only rules of tiers 1 and 2 may act.
        tool: The tool's name, if known.
    """

    def __init__(
        self,
        schema: Mapping[str, Any] | ReadableSchema,
        policy: Policy,
        *,
        destructive: bool = False,
        tool: str | None = None,
    ) -> None:
        self.tree = SchemaTree(schema)
        self.top = self.tree.top
        self.policy = policy
        self.destructive = destructive
        self.tool = tool
        self._rules = tuple(
            rule
            for rule in policy.rules
            if rule.name not in policy.disable and (not destructive or _allowed_in_destructive(rule))
        )
        self._rules_at: dict[SchemaNode, NodeRules] = {}

    @property
    def root(self) -> Mapping[str, Any]:
        """The schema used for validation."""
        return self.tree.root

    @property
    def unread(self) -> tuple[UnreadPlace, ...]:
        """The parts of the schema that are neither validated nor repaired."""
        return self.tree.unread

    def at(self, node: SchemaNode) -> NodeRules:
        """Return the rules at a node, built once."""
        rules = self._rules_at.get(node)
        if rules is None:
            rules = self._rules_at[node] = NodeRules(self, node)
        return rules

    def compiled(self, node: SchemaNode, kind: str) -> list[Compiled]:
        """Return the rules of a kind that apply at a node."""
        site = Site(
            shape=node.shape,
            place=node.position,
            policy=self.policy,
            destructive=self.destructive,
            name=node.name,
            takes=node.takes,
            shape_at=self.tree.shape,
            tool=self.tool,
        )
        built = ((rule, rule.cost, rule.build(site)) for rule in self._rules if rule.kind == kind)
        return [(rule, cost, apply) for rule, cost, apply in built if apply is not None]


def _allowed_in_destructive(rule: Rule) -> bool:
    return rule.tier in _DESTRUCTIVE_TIERS and rule.keeps_value and rule.kind != "property"


class NodeRules:
    """The rules that apply at one node of a schema, by kind, built on first use."""

    def __init__(self, plan: Plan, node: SchemaNode) -> None:
        self._plan = plan
        self._node = node

    def _compiled(self, kind: str) -> list[Compiled]:
        return [] if self._node.shape.unread else self._plan.compiled(self._node, kind)

    @cached_property
    def values(self) -> Mapping[type, tuple[Compiled, ...]]:
        """The value rules, cheapest first, by the Python type they accept."""
        position = self._node.position
        found = _by_type(self._compiled("arguments" if Position.TOP in position else "value"))
        if Position.UNION not in position:
            return found
        own = {kind for kind, name in PYTHON_TYPES.items() if self._is_of(name)}
        across = {
            kind: tuple(each for each in rules if each[0].across or kind in own)
            for kind, rules in found.items()
        }
        return {kind: rules for kind, rules in across.items() if rules}

    def _is_of(self, json_type_name: str) -> bool:
        """Return whether this branch accepts a JSON type, by its type or enum."""
        shape = self._node.shape
        return json_type_name in (shape.types or frozenset(map(json_type, shape.enum or ())))

    @cached_property
    def absence(self) -> Mapping[type, tuple[Compiled, ...]]:
        """The rules that omit this property, by the Python type they accept."""
        return _by_type([] if Position.KEPT in self._node.position else self._compiled("property"))

    @cached_property
    def renames(self) -> tuple[Compiled, ...]:
        """The rules that rename keys, cheapest first."""
        return tuple(sorted(self._compiled("name"), key=_cost))

    @cached_property
    def drops(self) -> tuple[Compiled, ...]:
        """The rules that drop keys."""
        return tuple(self._compiled("drop"))


def _cost(compiled: Compiled) -> int:
    return compiled[1]


def _by_type(compiled: Iterable[Compiled]) -> Mapping[type, tuple[Compiled, ...]]:
    """Group rules by the Python type they accept, cheapest first."""
    found: dict[type, list[Compiled]] = {}
    for each in sorted(compiled, key=_cost):
        for python_type in each[0].on:
            found.setdefault(python_type, []).append(each)
    return {kind: tuple(rules) for kind, rules in found.items()}
