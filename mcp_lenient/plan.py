"""A schema and a policy, compiled once: what stands where, and which rules speak there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mcp_lenient.node import Compiled, Node
from mcp_lenient.readable import ReadableSchema, UnreadPlace, readable
from mcp_lenient.rules.rule import Place, Rule, Site
from mcp_lenient.schema import Shape, registry_of, shape_of

if TYPE_CHECKING:
    from jsonschema_rs import Registry

    from mcp_lenient.policy import Policy

_DESTRUCTIVE_TIERS = frozenset({1, 2})
_UNIONS_WITHIN = 6
_MOST_BRANCHES = 200
"""Bounds on unions within unions of one value, which ``allOf`` and ``$ref`` can multiply without end."""


def _spares(rule: Rule) -> bool:
    """Return whether a rule may act in a destructive tool."""
    return rule.tier in _DESTRUCTIVE_TIERS and rule.keeps_value and rule.kind != "property"


class Plan:
    """A tool's input schema under a policy.

    ``root`` is the schema as it is judged: in the words of 2020-12, without what cannot be read.

    Args:
        schema: The input schema, an object schema of any draft.
        policy: What may be repaired.
        destructive: Whether only rules of tiers 1 and 2 may act.
    """

    def __init__(
        self,
        schema: Mapping[str, Any] | ReadableSchema,
        policy: Policy,
        *,
        destructive: bool = False,
    ) -> None:
        self._readable = readable(schema)
        self.root = self._readable.root
        self.policy = policy
        self.destructive = destructive
        self._rules = tuple(
            rule
            for rule in policy.rules
            if rule.name not in policy.disable and (not destructive or _spares(rule))
        )
        self._nodes: dict[tuple[int, Place, str | None, int], Node] = {}
        self._shapes: dict[int, tuple[Any, Shape]] = {}
        self._branches_left = _MOST_BRANCHES
        self.words: dict[Any, Any] = {}
        self.top = self.node(self.root, Place.TOP, None)
        self.top.use(self._readable.accepts)

    @property
    def unread(self) -> tuple[UnreadPlace, ...]:
        """The places of the schema that are neither judged nor repaired."""
        return self._readable.unread

    @cached_property
    def has_open_objects(self) -> bool:
        """Whether some object declares properties and may take other names as well."""
        return any(part.get("additionalProperties") is not False for part in self._objects())

    @cached_property
    def has_objects_within(self) -> bool:
        """Whether an object below the arguments declares properties; a validator may take more there than is told."""
        return any(part is not self.root for part in self._objects())

    def _objects(self) -> Iterator[Mapping[str, Any]]:
        waiting: list[Any] = [self.root]
        for part in waiting:
            if isinstance(part, Mapping):
                if part.get("properties"):
                    yield part
                waiting += part.values()
            elif isinstance(part, list):
                waiting += part

    def node(self, schema: Any, place: Place, name: str | None, within: int = 0) -> Node:
        """The node of a sub-schema at a kind of place, within so many unions of one value."""
        key = (id(schema), place, name, within)
        node = self._nodes.get(key)
        if node is None:
            # The node keeps the schema alive, so its id cannot come to mean another one.
            node = self._nodes[key] = Node(self, schema, place, name, within)
        return node

    @cached_property
    def registry(self) -> Registry:
        """What the parts of the schema refer to."""
        return registry_of(self.root)

    def shape(self, schema: Any) -> Shape:
        """What a sub-schema says, read once."""
        known = self._shapes.get(id(schema))
        if known is None:
            # Kept with its schema, so that its id cannot come to mean another one.
            known = self._shapes[id(schema)] = schema, shape_of(self.root, schema)
        return known[1]

    def may_branch(self, within: int, branches: int) -> bool:
        """Whether a union within unions is opened; beyond, no branch of it is read, so nothing is repaired."""
        self._branches_left -= branches
        return within < _UNIONS_WITHIN and self._branches_left >= 0

    def site(self, node: Node) -> Site:
        """A node as a rule sees it."""
        return Site(
            shape=node.shape,
            place=node.place,
            policy=self.policy,
            destructive=self.destructive,
            name=node.name,
            takes=node.takes,
            shape_at=self.shape,
        )

    def compiled(self, node: Node, kind: str) -> list[Compiled]:
        """The rules of a kind that have something to say at a node."""
        site = self.site(node)
        built = ((rule, rule.cost, rule.build(site)) for rule in self._rules if rule.kind == kind)
        return [(rule, cost, apply) for rule, cost, apply in built if apply is not None]
