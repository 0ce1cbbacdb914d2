"""One place of a schema: what it takes, what it says of what is in it, and which rules speak there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from mcp_lenient.drafts import UNREAD
from mcp_lenient.errors import SchemaError
from mcp_lenient.plain_checks import simple_check
from mcp_lenient.rules.rule import Apply, Place, Rule
from mcp_lenient.schema import Shape, validator_for
from mcp_lenient.spelling import by_letters, by_letters_but_one, one_slip_away
from mcp_lenient.values import PYTHON_TYPES, json_type

if TYPE_CHECKING:
    from jsonschema_rs import Registry

_MISSING = object()
_UNREADABLE = {UNREAD: True}
_UNIONS_OPENED = 16
"""Unions within a union of which the JSON types are looked at: ``allOf`` and ``$ref`` can multiply them without end."""


Compiled = tuple[Rule, int, Apply]
"""A rule that speaks at a place, its cost and the function to run per value."""


class NodePlan(Protocol):
    """What a node asks of the :class:`mcp_lenient.plan.Plan` that made it and keeps it."""

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

    def node(self, schema: Any, place: Place, name: str | None, within: int = 0) -> Node:
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

    def __init__(self, plan: NodePlan, schema: Any, place: Place, name: str | None, within: int = 0) -> None:
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
        place = self.place | Place.UNION if len(families) > 1 else self.place
        if any(shape.enum is None and "string" in (shape.types or ()) for shape in shapes):
            place |= Place.TEXT
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
                node = self.plan.node({"enum": list(owners)}, Place.NONE, name)
                return node, owners, name
        return None

    @cached_property
    def rules(self) -> Mapping[type, tuple[Compiled, ...]]:
        """The value rules that speak here, cheapest first, by the Python type they look at."""
        if self.shape.unread:
            return {}
        compiled = self.plan.compiled(self, "arguments" if Place.TOP in self.place else "value")
        if Place.UNION not in self.place:
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
        if self.shape.unread or Place.KEPT in self.place:
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
        place = Place.KEPT if self.shape.unread else Place.NONE
        return {name: self.plan.node(schema, place, name) for name, schema in self.shape.properties.items()}

    @cached_property
    def _patterns(self) -> tuple[tuple[Node, Node], ...]:
        return tuple(
            (self.plan.node({"pattern": pattern}, Place.NONE, None), self.plan.node(schema, Place.NONE, None))
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
        return self.plan.node(extra, Place.NONE, None) if isinstance(extra, Mapping) else None

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
        place = Place.ITEM | Place.MIXED if mixed else Place.ITEM
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
