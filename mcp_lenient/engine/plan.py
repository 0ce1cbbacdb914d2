"""A schema and a policy, compiled once: the nodes of the schema, and the rules that apply at each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from mcp_lenient.errors import SchemaError
from mcp_lenient.rules.rule import Apply, Position, Rule, Site
from mcp_lenient.schema.compile import ReadableSchema, UnreadPlace, readable
from mcp_lenient.schema.drafts import UNREAD
from mcp_lenient.schema.shape import Shape, registry_of, shape_of, simple_check, validator_for
from mcp_lenient.values.json_values import PYTHON_TYPES, json_type
from mcp_lenient.values.names import by_letters, by_letters_but_one, one_slip_away

if TYPE_CHECKING:
    from jsonschema_rs import Registry

    from mcp_lenient.rules.policy import Policy


_MISSING = object()
_UNREADABLE = {UNREAD: True}
_UNIONS_OPENED = 16
"""Unions within a union of which the JSON types are looked at: ``allOf`` and ``$ref`` can multiply them without end."""
Compiled = tuple[Rule, int, Apply]
"""A rule that speaks at a place, its cost and the function to run per value."""


class NodePlan(Protocol):
    """What a node asks of the :class:`mcp_lenient.engine.plan.Plan` that made it and keeps it."""

    root: Mapping[str, Any]

    @property
    def registry(self) -> Registry:
        """What the parts of the schema refer to."""
        ...

    @property
    def has_open_objects(self) -> bool:
        """Whether some object declares properties and may take other names as well."""
        ...

    @property
    def has_objects_within(self) -> bool:
        """Whether an object below the arguments declares properties."""
        ...

    def node(self, schema: Any, place: Position, name: str | None, within: int = 0) -> Node:
        """The node of a sub-schema at a kind of place, within so many unions of one value."""
        ...

    def shape(self, schema: Any) -> Shape:
        """What a sub-schema says."""
        ...

    def may_branch(self, within: int, branches: int) -> bool:
        """Whether a union within unions is opened."""
        ...

    def compiled(self, node: Node, kind: str) -> list[Compiled]:
        """The rules of a kind that have something to say at a node."""
        ...


class Node:
    """One place of a schema, compiled on first use; ``plan.node`` makes and keeps them."""

    def __init__(
        self, plan: NodePlan, schema: Any, place: Position, name: str | None, within: int = 0
    ) -> None:
        self.plan = plan
        self.within = within
        self.schema = schema
        self.place = place
        self.name = name
        self.shape: Shape = plan.shape(schema)
        self.takes: Callable[[Any], bool] = self._check()
        self.is_union = bool(self.shape.branches)
        self.is_object = self.shape.types is None or "object" in self.shape.types
        self.is_array = self.shape.types is None or "array" in self.shape.types

    def _check(self) -> Callable[[Any], bool]:
        schema = self.schema
        if schema is None or schema is True or schema in ({}, _UNREADABLE):
            return lambda value: value is value  # noqa: PLR0124 - everything is taken
        return simple_check(schema) or self._validated

    def _validated(self, value: Any) -> bool:
        is_valid = self._is_valid
        try:
            return is_valid(value)
        except (ValueError, RecursionError):
            return False  # no JSON: a lone surrogate, a key that is no text

    @cached_property
    def _is_valid(self) -> Callable[[Any], bool]:
        try:
            registry = None if self.schema is self.plan.root else self.plan.registry
            return validator_for(self.plan.root, self.schema, registry).is_valid
        except SchemaError:
            # Only the whole stands for sure; a part that cannot stand alone takes nothing, so nothing is
            # repaired there.
            return lambda value: value is _MISSING

    def use(self, is_valid: Callable[[Any], bool]) -> None:
        """Judge by a check that was compiled before."""
        self._is_valid = is_valid

    def fits(self, value: Any) -> bool:
        """Whether it takes values of this JSON type."""
        return self.shape.types is None or json_type(value) in self.shape.types

    @cached_property
    def looks_within(self) -> bool:
        """Whether it says anything of what is in a container, or leaves a union's branches to say it."""
        shape = self.shape
        return bool(
            shape.branches
            or shape.properties
            or shape.items
            or shape.prefix
            or isinstance(shape.extra, Mapping)
        )

    @cached_property
    def branches(self) -> tuple[Node, ...]:
        """The branches of a union; those beside another JSON type are told so."""
        if self.within and not self.plan.may_branch(self.within, len(self.shape.branches)):
            return ()
        shapes = [self.plan.shape(branch) for branch in self.shape.branches]
        families = _families(self.plan, shapes)
        place = self.place | Position.UNION if len(families) > 1 else self.place
        if any(shape.enum is None and "string" in (shape.types or ()) for shape in shapes):
            place |= Position.TEXT
        within = self.within + 1
        return tuple(self.plan.node(branch, place, self.name, within) for branch in self.shape.branches)

    def taking(self, value: Any) -> list[Node]:
        """The branches of a union that take a value.

        Where its discriminator or a missing name says that a branch does not, that branch is not compiled: a
        union may have a thousand.
        """
        branches: Iterable[Node] = self.branches
        if isinstance(value, dict):
            branches = [branch for branch in branches if branch.shape.required <= value.keys()]
            if self.discriminator is not None and self.discriminator[2] in value:
                _, owners, name = self.discriminator
                told = owners.get(value[name]) if isinstance(value[name], str) else None
                branches = [branch for branch in branches if branch is told or not branch.shape.properties]
        return [branch for branch in branches if branch.takes(value)]

    @cached_property
    def has_lists_beside_objects(self) -> bool:
        """Whether a container that came may be either kind, one in the wrapper of the other."""
        return {"array", "object"} <= _families(self.plan, [branch.shape for branch in self.branches])

    @cached_property
    def discriminator(self) -> tuple[Node, Mapping[Any, Node], str] | None:
        """The property whose constants tell the branches apart: its node, the branch of each, its name."""
        objects = [branch for branch in self.branches if branch.shape.properties]
        if len(objects) < 2:
            return None
        shared = set.intersection(*(set(branch.shape.properties) for branch in objects))
        for name in (name for name in objects[0].shape.properties if name in shared):
            owners: dict[Any, Node] = {}
            members = [
                (member, branch)
                for branch in objects
                for member in self.plan.shape(branch.shape.properties[name]).enum or (_MISSING,)
            ]
            if all(
                isinstance(member, str) and owners.setdefault(member, branch) is branch
                for member, branch in members
            ):
                node = self.plan.node({"enum": list(owners)}, Position.NONE, name)
                return node, owners, name
        return None

    @cached_property
    def rules(self) -> Mapping[type, tuple[Compiled, ...]]:
        """The value rules that speak here, cheapest first, by the Python type they look at."""
        if self.shape.unread:
            return {}
        compiled = self.plan.compiled(self, "arguments" if Position.TOP in self.place else "value")
        if Position.UNION not in self.place:
            return _by_type(compiled)
        own = {kind for kind, name in PYTHON_TYPES.items() if self._is_of(name)}
        found = _by_type(compiled)
        across = {
            kind: tuple(each for each in rules if each[0].across or kind in own)
            for kind, rules in found.items()
        }
        return {kind: rules for kind, rules in across.items() if rules}

    def _is_of(self, json_type_name: str) -> bool:
        """Return whether this branch takes values of a JSON type, by its type or its enum."""
        types = self.shape.types or frozenset(map(json_type, self.shape.enum or ()))
        return json_type_name in types

    @cached_property
    def absence(self) -> Mapping[type, tuple[Compiled, ...]]:
        """The rules that say when this property may be left out, by the Python type they look at."""
        if self.shape.unread or Position.KEPT in self.place:
            return {}
        return _by_type(self.plan.compiled(self, "property"))

    @cached_property
    def renames(self) -> tuple[Compiled, ...]:
        """The rules that find the declared name a key was meant for, cheapest first."""
        return () if self.shape.unread else tuple(sorted(self.plan.compiled(self, "name"), key=_cost))

    @cached_property
    def spellings(self) -> Mapping[str, tuple[str, ...]]:
        """The declared names by their letters and digits alone."""
        return by_letters(self.shape.properties)

    @cached_property
    def _shortened(self) -> Mapping[str, tuple[str, ...]]:
        return by_letters_but_one(self.spellings)

    def slips(self, key: str) -> Iterator[tuple[str, ...]]:
        """The declared names that are one letter away from a key, or two letters swapped."""
        return one_slip_away(key, self.spellings, self._shortened)

    @cached_property
    def drops(self) -> tuple[Compiled, ...]:
        """The rules that find keys to leave out."""
        return () if self.shape.unread else tuple(self.plan.compiled(self, "drop"))

    @cached_property
    def property_nodes(self) -> Mapping[str, Node]:
        """The declared properties."""
        place = Position.KEPT if self.shape.unread else Position.NONE
        return {name: self.plan.node(schema, place, name) for name, schema in self.shape.properties.items()}

    @cached_property
    def _patterns(self) -> tuple[tuple[Node, Node], ...]:
        return tuple(
            (
                self.plan.node({"pattern": pattern}, Position.NONE, None),
                self.plan.node(schema, Position.NONE, None),
            )
            for pattern, schema in self.shape.patterns.items()
        )

    def has_pattern_for(self, name: str) -> bool:
        """Whether ``patternProperties`` speak of this name, so that it is no unknown one."""
        return bool(self._patterns) and any(pattern.takes(name) for pattern, _ in self._patterns)

    def property(self, name: str) -> Node | None:
        """The node of a property: declared, by pattern, or of what else may come; None where all may."""
        declared = self.property_nodes.get(name)
        if declared is not None:
            return declared
        for pattern, node in self._patterns:
            if pattern.takes(name):
                return node
        extra = self.shape.extra
        return self.plan.node(extra, Position.NONE, None) if isinstance(extra, Mapping) else None

    def item_nodes(self, *, mixed: bool) -> Callable[[int], Node]:
        """As :meth:`item`, for every index of one list."""
        if self.shape.prefix:
            return lambda index: self.item(index, mixed=mixed)
        item = self.item(0, mixed=mixed)
        return lambda _index: item

    def item(self, index: int, *, mixed: bool) -> Node:
        """The node of a list's item."""
        schemas = self.shape.prefix
        schema = schemas[index] if index < len(schemas) else self.shape.items
        place = Position.ITEM | Position.MIXED if mixed else Position.ITEM
        return self.plan.node(schema, place, None)


def _cost(compiled: Compiled) -> int:
    return compiled[1]


def _by_type(compiled: Iterable[Compiled]) -> Mapping[type, tuple[Compiled, ...]]:
    """Rules by the Python type they look at, cheapest first."""
    found: dict[type, list[Compiled]] = {}
    for each in sorted(compiled, key=_cost):
        for python_type in each[0].on:
            found.setdefault(python_type, []).append(each)
    return {kind: tuple(rules) for kind, rules in found.items()}


def _families(plan: NodePlan, branches: Iterable[Shape]) -> frozenset[str]:
    """The JSON types of branches, integers and numbers as one, null as none; unions in them are looked into."""
    found: set[str] = set()
    waiting = list(branches)
    for at, shape in enumerate(waiting):
        if shape.branches and at < _UNIONS_OPENED:
            waiting += [plan.shape(branch) for branch in shape.branches]
        found.update(shape.types or map(json_type, shape.enum or ()))
    return frozenset("number" if name == "integer" else name for name in found) - {"null"}


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
        self._nodes: dict[tuple[int, Position, str | None, int], Node] = {}
        self._shapes: dict[int, tuple[Any, Shape]] = {}
        self._branches_left = _MOST_BRANCHES
        self.words: dict[Any, Any] = {}
        self.top = self.node(self.root, Position.TOP, None)
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

    def node(self, schema: Any, place: Position, name: str | None, within: int = 0) -> Node:
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
