"""Nodes of a schema for repairs, and forms of a schema for messages."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeVar

from mcp_lenient.errors import SchemaError
from mcp_lenient.schema.checks import holds, refuses_null_words, registry_of, validator_for
from mcp_lenient.schema.compile import ReadableSchema, UnreadPlace, readable
from mcp_lenient.schema.drafts import ANNOTATIONS, UNREAD
from mcp_lenient.schema.references import Parts, Schema, parts_of
from mcp_lenient.schema.shape import (
    Shape,
    constants,
    declared,
    is_closed,
    json_types,
    required_names,
    shape_of,
    shape_of_parts,
)
from mcp_lenient.schema.unions import Disambiguator, families, fits
from mcp_lenient.values.names import by_letters, by_letters_but_one, one_slip_away, squashed

if TYPE_CHECKING:
    from jsonschema_rs import Registry


MAX_FORMS: Final = 64
MAX_PARTS: Final = 32
KEYS: Final = "propertyNames"
_MAX_CACHED: Final = 2_000
_ASSERTED: Final[Mapping[str, tuple[str, ...]]] = {
    "string": ("minLength", "maxLength", "pattern", "format", "not"),
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "not"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "not"),
    "array": ("minItems", "maxItems", "uniqueItems", "contains", "not"),
    "object": ("minProperties", "maxProperties", "not"),
}
T = TypeVar("T")


class Form:
    """Schemas that apply to one value together: a schema, its ``$ref`` targets, its ``allOf``, one union branch."""

    def __init__(self, reader: FormReader, parts: Parts) -> None:
        self._reader = reader
        self.parts = parts
        self._asserted: dict[str, tuple[tuple[str, tuple[Any, ...]], ...]] = {}

    @cached_property
    def _shape(self) -> Shape:
        return shape_of_parts(self.parts)

    @cached_property
    def properties(self) -> Mapping[str, Any]:
        """The declared properties, by name."""
        return declared(self.parts)

    @cached_property
    def required(self) -> tuple[str, ...]:
        """The required names, each once, in the order of the schema."""
        return tuple(dict.fromkeys(required_names(self.parts)))

    @cached_property
    def types(self) -> tuple[str, ...] | None:
        """The JSON types in the order of the schema; None if it has no ``type``."""
        types = json_types(self.parts)
        if types == ():  # contradictory parts: messages show the first type
            types = next(filter(None, (json_types((part,)) for part in self.parts)), ())
        return types

    @cached_property
    def enum(self) -> tuple[Any, ...] | None:
        """The values of its ``enum`` or ``const``; None if it has neither."""
        return constants(self.parts)

    @cached_property
    def closed(self) -> bool:
        """Whether undeclared names are forbidden."""
        return is_closed(self.parts)

    @property
    def prefix(self) -> tuple[Any, ...]:
        """The ``prefixItems``."""
        return self._shape.prefix

    def says(self, keyword: str) -> Iterator[Any]:
        """Yield the values of a keyword in the schemas."""
        return (part[keyword] for part in self.parts if keyword in part)

    @cached_property
    def secret(self) -> bool:
        """Whether the schema marks the value as secret."""
        return any(each is True for each in self.says("writeOnly")) or "password" in self.says("format")

    def assertions(self, json_type: str) -> tuple[tuple[str, tuple[Any, ...]], ...]:
        """Return the keywords that limit values of a JSON type, each with its bounds."""
        known = self._asserted.get(json_type)
        if known is None:
            found = ((keyword, tuple(self.says(keyword))) for keyword in _ASSERTED.get(json_type, ("not",)))
            known = self._asserted[json_type] = tuple(
                (keyword, bounds) for keyword, bounds in found if bounds
            )
        return known

    def constants(self, name: str) -> tuple[Any, ...] | None:
        """Return the values allowed for a declared property; None if it is not limited to any."""
        schema = self.properties.get(name)
        return self._reader.constants(schema) if isinstance(schema, Mapping) else None

    def child(self, key: object) -> Forms:
        """Return the forms of a property or item; empty if the schema does not mention it."""
        if isinstance(key, str):
            if key in self.properties:
                return self._reader.forms(self.properties[key])
            shape = self._shape
            for pattern, schema in shape.patterns.items():
                if holds("pattern", pattern, key):
                    return self._reader.forms(schema)
            found = shape.extra
        elif isinstance(key, int):
            shape = self._shape
            found = shape.prefix[key] if 0 <= key < len(shape.prefix) else shape.items
        else:
            return ()
        return self._reader.forms(found) if isinstance(found, Mapping) else ()


Forms = tuple[Form, ...]
"""The forms of a schema; a value has to match one."""


def names_of(forms: Iterable[Form]) -> dict[str, None]:
    """Return the properties of all forms, each once, in order."""
    return dict.fromkeys(name for form in forms for name in form.properties)


def children(forms: Iterable[Form], key: object) -> Forms:
    """Return the forms of a property or item, for all forms."""
    return tuple(below for form in forms for below in form.child(key))


def declares(forms: Iterable[Form], name: object) -> bool:
    """Return whether any form declares this property."""
    return any(name in form.properties for form in forms)


def any_fits(forms: Iterable[Form], value: Any, *, exact_integers: bool = False) -> bool:
    """Return whether any form accepts the JSON type of a value."""
    return any(fits(form.types, value, exact_integers=exact_integers) for form in forms)


class FormReader:
    """A reader that expands a schema into forms and caches them."""

    def __init__(self, root: Schema) -> None:
        self.root = root
        self._cache: dict[Any, tuple[object, Any]] = {}

    def once(self, function: Callable[..., T], subject: Any, *more: Any) -> T:
        """Return ``function(subject, *more)``, cached by schema or tuple of forms."""
        key = (function, subject if isinstance(subject, tuple) else id(subject), *more)
        known = self._cache.get(key)
        if known is None:
            if len(self._cache) >= _MAX_CACHED:
                self._cache.clear()
            # The subject is kept alive, so that its id is not reused.
            known = self._cache[key] = subject, function(subject, *more)
        found: T = known[1]
        return found

    @property
    def top(self) -> Forms:
        """The forms of the arguments."""
        return self.forms(self.root)

    def forms(self, schema: object) -> Forms:
        """Return the forms of a schema, at most 64; recursive unions are expanded once."""
        return self.once(self._forms, schema)

    def _forms(self, schema: object) -> Forms:
        return tuple(
            Form(self, parts) for parts in islice(_expand_union(self.root, schema, set()), MAX_FORMS)
        )

    def constants(self, schema: object) -> tuple[Any, ...] | None:
        """Return the values of an ``enum`` or ``const``; None if there is neither."""
        return constants(_parts(self.root, schema))

    def union(self, forms: Forms) -> Disambiguator[Form]:
        """Return the disambiguator of forms."""
        return self.once(Disambiguator, forms)

    def keys(self, forms: Forms) -> Forms:
        """Return the forms of the keys of an object; empty without ``propertyNames``."""
        found = (form for own in forms for names in own.says(KEYS) for form in self.forms(names))
        return tuple(islice(found, MAX_FORMS))


def _parts(root: Schema, schema: object) -> Parts:
    if type(schema) is dict and "$ref" not in schema and "allOf" not in schema:
        return (schema,)
    return tuple(islice(parts_of(root, schema), MAX_PARTS))


def _expand_union(root: Schema, schema: object, seen: set[int]) -> Sequence[Parts]:
    """Return the parts of a schema merged with each branch of its union and of nested unions."""
    own = _parts(root, schema)
    found: list[Parts] = []
    for branch in next(filter(None, (part.get("anyOf") or part.get("oneOf") for part in own)), ()):
        # Each branch is expanded once, since unions that refer to each other multiply.
        if id(branch) not in seen and len(found) < MAX_FORMS:
            seen.add(id(branch))
            found.extend((*own, *parts) for parts in _expand_union(root, branch, seen))
    return found or [own]


_MISSING: Final = object()
_UNREADABLE: Final = {UNREAD: True}
_MAX_NESTED_UNIONS: Final = 6
_MAX_BRANCHES: Final = 200
"""Bounds on nested unions of one value, which ``allOf`` and ``$ref`` can multiply endlessly."""


class Position(enum.Flag):
    """The position of a value in a schema."""

    NONE = 0
    ITEM = enum.auto()
    """An item of a list."""
    MIXED = enum.auto()
    """An item of a list that contains anything but numbers."""
    UNION = enum.auto()
    """A branch of a union with several JSON types."""
    TOP = enum.auto()
    """The arguments."""
    TEXT = enum.auto()
    """A branch of a union that also accepts words: free strings, or a format that has words."""
    KEPT = enum.auto()
    """A property that is never omitted, since its object's ``required`` cannot be read."""


def _takes_words(shape: Shape) -> bool:
    return shape.enum is None and "string" in (shape.types or ()) and not refuses_null_words(shape.format)


class SchemaTree:
    """A tool's input schema and its nodes, which are compiled on first use.

    ``root`` is the schema used for validation: translated to 2020-12, without unreadable parts.
    """

    def __init__(self, schema: Mapping[str, Any] | ReadableSchema) -> None:
        read = readable(schema)
        self.root = read.root
        self.unread: tuple[UnreadPlace, ...] = read.unread
        self._nodes: dict[tuple[int, Position, str | None, int], SchemaNode] = {}
        self._shapes: dict[int, tuple[Any, Shape]] = {}
        self._branches_left = _MAX_BRANCHES
        self.top = self.node(self.root, Position.TOP, None)
        self.top.use(read.accepts)

    @cached_property
    def has_open_objects(self) -> bool:
        """Whether an object declares properties and also accepts other names."""
        return any(part.get("additionalProperties") is not False for part in self._objects())

    @cached_property
    def has_objects_within(self) -> bool:
        """Whether a nested object declares properties."""
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
        """Return the node of a sub-schema at a position, nested in ``within`` unions of one value."""
        key = (id(schema), position, name, within)
        node = self._nodes.get(key)
        if node is None:
            # The node keeps the schema alive, so that its id is not reused.
            node = self._nodes[key] = SchemaNode(self, schema, position, name, within)
        return node

    @cached_property
    def registry(self) -> Registry:
        """The registry for validators of parts of the schema."""
        return registry_of(self.root)

    def shape(self, schema: Any) -> Shape:
        """Return the shape of a sub-schema, cached."""
        known = self._shapes.get(id(schema))
        if known is None:
            # The schema is kept alive, so that its id is not reused.
            known = self._shapes[id(schema)] = schema, shape_of(self.root, schema)
        return known[1]

    @cached_property
    def reader(self) -> FormReader:
        """The reader of the schema's forms, for messages."""
        return FormReader(self.root)

    def may_branch(self, within: int, branches: int) -> bool:
        """Return whether a nested union is read; beyond the bounds it is not, so nothing in it is repaired."""
        self._branches_left -= branches
        return within < _MAX_NESTED_UNIONS and self._branches_left >= 0


class SchemaNode:
    """One node of a schema, compiled on first use; created and cached by ``tree.node``."""

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
            return lambda value: value is value  # noqa: PLR0124 - every value is accepted
        return _simple_check(schema) or self._validated

    def _validated(self, value: Any) -> bool:
        is_valid = self._is_valid
        try:
            return is_valid(value)
        except (ValueError, RecursionError):
            return False  # not JSON: a lone surrogate, a key that is not a string

    @cached_property
    def _is_valid(self) -> Callable[[Any], bool]:
        try:
            registry = None if self.schema is self.tree.root else self.tree.registry
            return validator_for(self.tree.root, self.schema, registry).is_valid
        except SchemaError:
            # Only the whole schema is known to compile. A part that does not accepts nothing, so nothing in it is
            # repaired.
            return lambda value: value is _MISSING

    def use(self, is_valid: Callable[[Any], bool]) -> None:
        """Use a check that is already compiled."""
        self._is_valid = is_valid

    @cached_property
    def looks_within(self) -> bool:
        """Whether it describes the contents of a container, itself or in a union branch."""
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
        """The branches of a union."""
        if self.within and not self.tree.may_branch(self.within, len(self.shape.branches)):
            return ()
        shapes = [self.tree.shape(branch) for branch in self.shape.branches]
        position = self.position
        if len(families(shapes, self.tree.shape)) > 1:
            position |= Position.UNION
        if any(map(_takes_words, shapes)):
            position |= Position.TEXT
        within = self.within + 1
        return tuple(self.tree.node(branch, position, self.name, within) for branch in self.shape.branches)

    @cached_property
    def has_lists_beside_objects(self) -> bool:
        """Whether branches are both arrays and objects, so that either may be sent wrapped in the other."""
        shapes = [branch.shape for branch in self.branches]
        return {"array", "object"} <= families(shapes, self.tree.shape)

    @cached_property
    def union(self) -> Disambiguator[SchemaNode]:
        """The disambiguator of the branches."""
        return Disambiguator(self.branches)

    def possible(self, value: Any) -> tuple[SchemaNode, ...]:
        """Return the branches whose constants match an accepted value; to look at them is cheap in nested unions too."""
        return self._every_branch.possible(value)

    @cached_property
    def _every_branch(self) -> Disambiguator[SchemaNode]:
        return Disambiguator([self.tree.node(branch, Position.NONE, None) for branch in self.shape.branches])

    @cached_property
    def tag(self) -> tuple[str, SchemaNode] | None:
        """The name of the discriminator and the node of its values, if there is one."""
        found = self.union.discriminator
        if found is None:
            return None
        return found.name, self.tree.node({"enum": list(found.tags)}, Position.NONE, found.name)

    def constants(self, name: str) -> tuple[Any, ...] | None:
        """Return the values allowed for a declared property; None if it is not limited to any."""
        declared = self.properties.get(name)
        return None if declared is None else self.tree.shape(declared).enum

    @cached_property
    def spellings(self) -> Mapping[str, tuple[str, ...]]:
        """The declared names by their letters and digits."""
        return by_letters(self.properties)

    def respelled(self, key: str, value: Mapping[str, Any]) -> SchemaNode | None:
        """Return the node of the only declared name, not sent, that has the same letters and digits as an undeclared one."""
        names = [name for name in self.spellings.get(squashed(key), ()) if name not in value]
        return self.property_nodes[names[0]] if len(names) == 1 else None

    @cached_property
    def _shortened(self) -> Mapping[str, tuple[str, ...]]:
        return by_letters_but_one(self.spellings)

    def slips(self, key: str) -> Iterator[tuple[str, ...]]:
        """Return the declared names that differ from a key by one letter or two swapped letters."""
        return one_slip_away(key, self.spellings, self._shortened)

    @cached_property
    def property_nodes(self) -> Mapping[str, SchemaNode]:
        """The nodes of the declared properties."""
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
        """Return whether ``patternProperties`` match this name."""
        return bool(self._patterns) and any(pattern.takes(name) for pattern, _ in self._patterns)

    def property(self, name: str) -> SchemaNode | None:
        """Return the node of a property: declared, by pattern or of additional properties; None if unconstrained."""
        declared = self.property_nodes.get(name)
        if declared is not None:
            return declared
        for pattern, node in self._patterns:
            if pattern.takes(name):
                return node
        extra = self.shape.extra
        return self.tree.node(extra, Position.NONE, None) if isinstance(extra, Mapping) else None

    def item_nodes(self, *, mixed: bool) -> Callable[[int], SchemaNode]:
        """Return a function from an index of one list to the node of the item."""
        if self.shape.prefix:
            return lambda index: self.item(index, mixed=mixed)
        item = self._mixed_item if mixed else self._plain_item
        return lambda _index: item

    @cached_property
    def _plain_item(self) -> SchemaNode:
        return self.item(0, mixed=False)

    @cached_property
    def _mixed_item(self) -> SchemaNode:
        return self.item(0, mixed=True)

    def item(self, index: int, *, mixed: bool) -> SchemaNode:
        """Return the node of a list item."""
        schemas = self.shape.prefix
        schema = schemas[index] if index < len(schemas) else self.shape.items
        return self.tree.node(schema, Position.ITEM | Position.MIXED if mixed else Position.ITEM, None)


_UNCONSTRAINED = ANNOTATIONS | {"type"}


def _is_integer(value: Any) -> bool:
    return type(value) is int or (isinstance(value, float) and value.is_integer())


_CHECKS: Mapping[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": _is_integer,
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}


def _simple_check(schema: Any) -> Callable[[Any], bool] | None:
    """Return the type check equivalent to a schema, or None if it is not that simple."""
    if (
        isinstance(schema, Mapping)
        and isinstance(schema.get("type"), str)
        and _UNCONSTRAINED.issuperset(schema)
    ):
        return _CHECKS.get(schema["type"])
    return None
