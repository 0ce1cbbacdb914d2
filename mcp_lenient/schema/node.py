"""A schema compiled place by place: what each place takes and says. No rule is known here."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from mcp_lenient.errors import SchemaError
from mcp_lenient.schema.compile import ReadableSchema, UnreadPlace, readable
from mcp_lenient.schema.drafts import UNREAD
from mcp_lenient.schema.forms import FormReader
from mcp_lenient.schema.shape import Shape, registry_of, shape_of, simple_check, validator_for
from mcp_lenient.schema.unions import Disambiguator, families
from mcp_lenient.values.names import by_letters, by_letters_but_one, one_slip_away

if TYPE_CHECKING:
    from jsonschema_rs import Registry

_MISSING: Final = object()
_UNREADABLE: Final = {UNREAD: True}
_UNIONS_WITHIN: Final = 6
_MOST_BRANCHES: Final = 200
"""Bounds on unions within unions of one value, which ``allOf`` and ``$ref`` can multiply without end."""


class Position(enum.Flag):
    """Where in a schema a value stands."""

    NONE = 0
    ITEM = enum.auto()
    """An item of a list."""
    MIXED = enum.auto()
    """An item of a list whose items are not numbers throughout."""
    UNION = enum.auto()
    """A branch of a union with branches of another JSON type."""
    TOP = enum.auto()
    """The arguments themselves."""
    TEXT = enum.auto()
    """A branch of a union in which a string of one's own may come too."""
    KEPT = enum.auto()
    """A property of an object whose required names cannot be read, so that it is never left out."""


class SchemaTree:
    """A tool's input schema, read once, and its nodes, compiled when they are first asked for.

    ``root`` is the schema as it is judged: in the words of 2020-12, without what cannot be read.

    Args:
        schema: The input schema, an object schema of any draft.
    """

    def __init__(self, schema: Mapping[str, Any] | ReadableSchema) -> None:
        read = readable(schema)
        self.root = read.root
        self.unread: tuple[UnreadPlace, ...] = read.unread
        self._nodes: dict[tuple[int, Position, str | None, int], SchemaNode] = {}
        self._shapes: dict[int, tuple[Any, Shape]] = {}
        self._branches_left = _MOST_BRANCHES
        self.top = self.node(self.root, Position.TOP, None)
        self.top.use(read.accepts)

    @cached_property
    def has_open_objects(self) -> bool:
        """Whether some object declares properties and may take other names as well."""
        return any(part.get("additionalProperties") is not False for part in self._objects())

    @cached_property
    def has_objects_within(self) -> bool:
        """Whether an object below the arguments declares properties."""
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

    def node(self, schema: Any, position: Position, name: str | None, within: int = 0) -> SchemaNode:
        """Return the node of a sub-schema at a position, within so many unions of one value."""
        key = (id(schema), position, name, within)
        node = self._nodes.get(key)
        if node is None:
            # The node keeps the schema alive, so its id cannot come to mean another one.
            node = self._nodes[key] = SchemaNode(self, schema, position, name, within)
        return node

    @cached_property
    def registry(self) -> Registry:
        """What the parts of the schema refer to."""
        return registry_of(self.root)

    def shape(self, schema: Any) -> Shape:
        """Return what a sub-schema says, read once."""
        known = self._shapes.get(id(schema))
        if known is None:
            # Kept with its schema, so that its id cannot come to mean another one.
            known = self._shapes[id(schema)] = schema, shape_of(self.root, schema)
        return known[1]

    @cached_property
    def reader(self) -> FormReader:
        """The schema as its author wrote it, for who puts it into words."""
        return FormReader(self.root)

    def may_branch(self, within: int, branches: int) -> bool:
        """Whether a union within unions is opened; beyond, no branch of it is read, so nothing is repaired."""
        self._branches_left -= branches
        return within < _UNIONS_WITHIN and self._branches_left >= 0


class SchemaNode:
    """One place of a schema, compiled on first use; ``tree.node`` makes and keeps them."""

    def __init__(
        self, tree: SchemaTree, schema: Any, position: Position, name: str | None, within: int = 0
    ) -> None:
        self.tree = tree
        self.within = within
        self.schema = schema
        self.position = position
        self.name = name
        self.shape: Shape = tree.shape(schema)
        self.takes: Callable[[Any], bool] = self._check()
        self.types = self.shape.types
        self.properties = self.shape.properties
        self.required = self.shape.required
        self.is_union = bool(self.shape.branches)
        self.is_object = self.types is None or "object" in self.types
        self.is_array = self.types is None or "array" in self.types

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
            registry = None if self.schema is self.tree.root else self.tree.registry
            return validator_for(self.tree.root, self.schema, registry).is_valid
        except SchemaError:
            # Only the whole stands for sure; a part that cannot stand alone takes nothing, so nothing is
            # repaired there.
            return lambda value: value is _MISSING

    def use(self, is_valid: Callable[[Any], bool]) -> None:
        """Judge by a check that was compiled before."""
        self._is_valid = is_valid

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
    def branches(self) -> tuple[SchemaNode, ...]:
        """The branches of a union; those beside another JSON type are told so."""
        if self.within and not self.tree.may_branch(self.within, len(self.shape.branches)):
            return ()
        shapes = [self.tree.shape(branch) for branch in self.shape.branches]
        position = self.position
        if len(families(shapes, self.tree.shape)) > 1:
            position |= Position.UNION
        if any(shape.enum is None and "string" in (shape.types or ()) for shape in shapes):
            position |= Position.TEXT
        within = self.within + 1
        return tuple(self.tree.node(branch, position, self.name, within) for branch in self.shape.branches)

    @cached_property
    def has_lists_beside_objects(self) -> bool:
        """Whether a container that came may be either kind, one in the wrapper of the other."""
        shapes = [branch.shape for branch in self.branches]
        return {"array", "object"} <= families(shapes, self.tree.shape)

    @cached_property
    def union(self) -> Disambiguator[SchemaNode]:
        """What tells the branches apart."""
        return Disambiguator(self.branches)

    @cached_property
    def tag(self) -> tuple[str, SchemaNode] | None:
        """The name of the discriminator and the node of its values, where the branches have one."""
        told = self.union.discriminator
        if told is None:
            return None
        return told.name, self.tree.node({"enum": list(told.tags)}, Position.NONE, told.name)

    def constants(self, name: str) -> tuple[Any, ...] | None:
        """Return the values that a declared property is limited to; None where there is no such limit."""
        declared = self.properties.get(name)
        return None if declared is None else self.tree.shape(declared).enum

    @cached_property
    def spellings(self) -> Mapping[str, tuple[str, ...]]:
        """The declared names by their letters and digits alone."""
        return by_letters(self.properties)

    @cached_property
    def _shortened(self) -> Mapping[str, tuple[str, ...]]:
        return by_letters_but_one(self.spellings)

    def slips(self, key: str) -> Iterator[tuple[str, ...]]:
        """Return the declared names that are one letter away from a key, or two letters swapped."""
        return one_slip_away(key, self.spellings, self._shortened)

    @cached_property
    def property_nodes(self) -> Mapping[str, SchemaNode]:
        """The declared properties."""
        position = Position.KEPT if self.shape.unread else Position.NONE
        return {name: self.tree.node(schema, position, name) for name, schema in self.properties.items()}

    @cached_property
    def _patterns(self) -> tuple[tuple[SchemaNode, SchemaNode], ...]:
        return tuple(
            (
                self.tree.node({"pattern": pattern}, Position.NONE, None),
                self.tree.node(schema, Position.NONE, None),
            )
            for pattern, schema in self.shape.patterns.items()
        )

    def has_pattern_for(self, name: str) -> bool:
        """Whether ``patternProperties`` speak of this name, so that it is no unknown one."""
        return bool(self._patterns) and any(pattern.takes(name) for pattern, _ in self._patterns)

    def property(self, name: str) -> SchemaNode | None:
        """Return the node of a property: declared, by pattern, or of what else may come; None where all may."""
        declared = self.property_nodes.get(name)
        if declared is not None:
            return declared
        for pattern, node in self._patterns:
            if pattern.takes(name):
                return node
        extra = self.shape.extra
        return self.tree.node(extra, Position.NONE, None) if isinstance(extra, Mapping) else None

    def item_nodes(self, *, mixed: bool) -> Callable[[int], SchemaNode]:
        """As :meth:`item`, for every index of one list."""
        if self.shape.prefix:
            return lambda index: self.item(index, mixed=mixed)
        item = self.item(0, mixed=mixed)
        return lambda _index: item

    def item(self, index: int, *, mixed: bool) -> SchemaNode:
        """Return the node of a list's item."""
        schemas = self.shape.prefix
        schema = schemas[index] if index < len(schemas) else self.shape.items
        return self.tree.node(schema, Position.ITEM | Position.MIXED if mixed else Position.ITEM, None)
