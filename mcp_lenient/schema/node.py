"""The one view of a schema: nodes with `$ref`, `allOf` and unions followed, read when they are first needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, KeysView, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain, islice
from typing import Any, Final, NamedTuple, TypeVar

from mcp_lenient.errors import SchemaError
from mcp_lenient.schema.checks import ANNOTATED, EXPECTED, Check, Formats, PartChecks, holds
from mcp_lenient.schema.compile import ReadableSchema, readable
from mcp_lenient.schema.drafts import ANNOTATIONS, DEFINITIONS, UNREAD, every_schema
from mcp_lenient.schema.references import Parts, parts_of
from mcp_lenient.values.json_values import JSON_TYPES, has_whole_float, json_type, same_json
from mcp_lenient.values.names import by_key

MAX_BRANCHES: Final = 2_000
"""Ways of one union; the branches of unions in it included."""
_MAX_UNIONS: Final = 8
"""Unions that apply to one value together: their branches multiply."""
_TYPE_ALONE: Final = ANNOTATIONS | {"type"}
_OF_PARTS: Final = {"type", "properties", "required", "additionalProperties", "items"}
_HASHED: Final = (str, int, float, type(None))
_SCALARS: Final = tuple((name,) for name in ("string", "integer", "number", "boolean", "null"))
_CONDITIONALS: Final = frozenset("if then else dependentSchemas".split())
"""Keywords that may declare properties and that a node does not read."""
# OpenAPI's discriminator decides nothing in JSON Schema, and its mapping is as long as the union.
_NOT_OWN: Final = ANNOTATIONS | DEFINITIONS | {"$ref", "allOf", "discriminator"}
T = TypeVar("T")


class Tree:
    """A tool's input schema: ``root`` is the readable one, ``top`` the node of the arguments.

    ``formats`` are those that a text is checked for.
    """

    def __init__(self, schema: Mapping[str, Any] | ReadableSchema, *, formats: Formats = ANNOTATED) -> None:
        read = readable(schema)
        self.root = read.root
        self.unread = read.unread
        self.formats = formats
        self.checks = PartChecks(self.root, formats)
        self.accepts = read.accepts if formats is ANNOTATED else self.checks.of(self.root)
        self._nodes: dict[int, Node] = {}
        self._unions: dict[tuple[Node, ...], Node] = {}
        self.top = self.node(self.root)

    def node(self, schema: Any) -> Node:
        """Return the node of a sub-schema."""
        node = self._nodes.get(id(schema))
        if node is None:
            # The node keeps the schema alive, so that its id is not reused.
            node = self._nodes[id(schema)] = Node(self, schema)
        return node

    def any_of(self, nodes: Sequence[Node]) -> Node | None:
        """Return the node of a union of nodes; None without any."""
        key = tuple(dict.fromkeys(nodes))
        if len(key) < 2:
            return key[0] if key else None
        if key not in self._unions:
            self._unions[key] = self.node({"anyOf": [branch.schema for branch in key]})
        return self._unions[key]

    def has_format(self, text: str, form: Any) -> bool:
        """Return whether a text is of a format, as far as formats are checked."""
        if self.formats is not ANNOTATED:
            return holds("format", form, text)
        return not isinstance(form, str) or form not in ANNOTATED or ANNOTATED[form](text)

    @property
    def objects(self) -> Iterator[Mapping[str, Any]]:
        """The schemas that declare properties."""
        return (part for part in every_schema(self.root) if part.get("properties"))

    @cached_property
    def has_one_of(self) -> bool:
        """Whether it has a union of which a value may fit one branch alone."""
        return any("oneOf" in part for part in every_schema(self.root))


class Node:
    """One place of a schema: what all schemas that apply to it (``parts``) say together.

    Attributes:
        declared_types: The JSON types that they all name, in the order of the schema; None if they name none.
        enum: The values of an ``enum`` or ``const``; None without one.
        closed: Whether undeclared names are forbidden.
        additional: The ``additionalProperties``; None if the schema does not say it.
        unread: Whether part of the schema cannot be read, so that nothing here is repaired.
        format: The format of a string; ``json`` for a text with a media type.
        default: The default, in a tuple if there is one.
    """

    def __init__(self, tree: Tree, schema: Any) -> None:
        self.tree = tree
        self.schema = schema
        self.parts = parts_of(tree.root, schema)
        self._by_keyword = by_key(pair for part in self.parts for pair in part.items())
        self.declared_types = _types(self.values_of("type"))
        self.enum = _enum_values(self.parts)
        self.properties = _properties(self.values_of("properties"))
        self.required = dict.fromkeys(name for names in self.values_of("required") for name in names).keys()
        others = [*self.values_of("additionalProperties")]
        if _CONDITIONALS.isdisjoint(self._by_keyword):
            others += self.values_of("unevaluatedProperties")
        self.closed = any(other is False for other in others)
        self.additional = self._first("additionalProperties")
        listed = (*self.values_of("anyOf"), *self.values_of("oneOf"))
        unions = [branches for branches in listed if isinstance(branches, list)]
        self.unread = UNREAD in self._by_keyword or len(unions) > _MAX_UNIONS
        form = self._first("format") or ("json" if self._first("contentMediaType") else None)
        self.format = form if isinstance(form, str) else None
        self.default = tuple(self.values_of("default")[:1])
        lists = (examples for examples in self.values_of("examples") if isinstance(examples, list))
        self.examples = (*chain.from_iterable(lists), *self.values_of("example"))
        hidden = any(flag is True for flag in self.values_of("writeOnly"))
        self.marked_secret = hidden or "password" in self.values_of("format")
        self._memo: dict[Any, Any] = {}

    def values_of(self, keyword: str) -> Sequence[Any]:
        """Return the values of a keyword in all parts; see :meth:`branch_values_of` for the branches of a union."""
        return self._by_keyword.get(keyword, ())

    def _first(self, keyword: str) -> Any:
        return self._by_keyword[keyword][0] if keyword in self._by_keyword else None

    def cached(self, function: Callable[..., T], *more: Any) -> T:
        """Return ``function(self, *more)``, computed once."""
        key = (function, *more)
        if key not in self._memo:
            self._memo[key] = function(self, *more)
        value: T = self._memo[key]
        return value

    # What it accepts

    @cached_property
    def _listed(self) -> frozenset[tuple[bool, Any]]:
        scalars = (scalar for scalar in self.enum or () if not isinstance(scalar, (list, dict)))
        return frozenset((isinstance(scalar, bool), scalar) for scalar in scalars)

    def in_enum(self, value: Any) -> bool:
        """Return whether a value is in the enum; any value is, if there is none."""
        if self.enum is None or not isinstance(value, _HASHED):
            return self.enum is None or any(same_json(member, value) for member in self.enum)
        return (isinstance(value, bool), value) in self._listed

    def accepts(self, value: Any, *, exact_integers: bool = False) -> bool:
        """Return whether the schema accepts a value, ``7.0`` as an integer unless ``exact_integers`` is set; only JSON."""
        may_hold_float = exact_integers and (self.describes_contents or self.is_only("integer"))
        return self._check(value) and not (may_hold_float and has_whole_float(value))

    @cached_property
    def _check(self) -> Check:
        schema, tree = self.schema, self.tree
        if schema in (None, True, {}, {UNREAD: True}):
            return lambda _value: True
        is_type = isinstance(schema, Mapping) and _TYPE_ALONE.issuperset(schema)
        if is_type and self.declared_types in _SCALARS:
            return partial(fits, self.declared_types)
        try:
            return partial(_accepts, tree.accepts if schema is tree.root else tree.checks.of(schema))
        except SchemaError:  # only the whole schema is known to compile; nothing in this part is repaired
            return lambda _value: False

    def fits_format(self, text: str) -> bool:
        """Return whether a text has the format that the place expects, as far as rules read by it."""
        return self.format is None or self.format not in EXPECTED or EXPECTED[self.format](text)

    def is_only(self, json_type: str) -> bool:
        """Return whether this is the only accepted JSON type."""
        return self.declared_types == (json_type,)

    def fits(self, value: Any, *, exact_integers: bool = False) -> bool:
        """Return whether a value is of a declared JSON type; ``7.0`` is an integer unless ``exact_integers`` is set."""
        return fits(self.declared_types, value, exact_integers=exact_integers)

    def may_be(self, json_type: str) -> bool:
        """Return whether it is not a union and accepts a JSON type."""
        return not self.is_union and (self.declared_types is None or json_type in self.declared_types)

    @cached_property
    def describes_contents(self) -> bool:
        """Whether it describes the contents of a container, or is a union."""
        described = self.properties or self.prefix_items or self._first("items")
        return self.is_union or bool(described) or isinstance(self.additional, Mapping)

    @cached_property
    def valid_if_parts_are(self) -> bool:
        """Whether it accepts each container of which it accepts all names and all that is in it."""
        keyword_sets = [keywords for part in self.parts if (keywords := part.keys() - _NOT_OWN)]
        is_of_parts = all(keywords <= _OF_PARTS for keywords in keyword_sets)
        return is_of_parts and len(keyword_sets) < 2 and not self.tree.has_one_of

    # Unions

    @cached_property
    def is_union(self) -> bool:
        """Whether it has several branches."""
        return self.branches != (self,)

    @cached_property
    def branches(self) -> tuple[Node, ...]:
        """The branches of a union and of unions in it, each with the keywords beside it; or the node itself."""
        if self.unread or _union_of(self.parts) is None:
            return (self,)
        schemas = islice(_expanded(self.tree.root, self.schema, (), {}), MAX_BRANCHES)
        return tuple(self.tree.node(schema) for schema in schemas)

    @cached_property
    def secret(self) -> bool:
        """Whether one of the branches is marked as secret."""
        return any(branch.marked_secret for branch in self.branches)

    @cached_property
    def names(self) -> KeysView[str]:
        """The names that one of the branches declares."""
        return dict.fromkeys(name for branch in self.branches for name in branch.properties).keys()

    @cached_property
    def has_enum(self) -> bool:
        """Whether one of the branches allows certain values alone."""
        return any(branch.enum is not None for branch in self.branches)

    @cached_property
    def members(self) -> tuple[Any, ...]:
        """The enum values of all branches."""
        return tuple(member for branch in self.branches for member in branch.enum or ())

    @cached_property
    def formats(self) -> frozenset[str | None]:
        """The formats of all branches; None for a branch without one."""
        return frozenset(branch.format for branch in self.branches)

    def branch_values_of(self, keyword: str) -> list[Any]:
        """Return the values of a keyword in all branches."""
        return [value for branch in self.branches for value in branch.values_of(keyword)]

    @cached_property
    def accepted_types(self) -> frozenset[str]:
        """The JSON types of what its branches accept, by their ``type`` or ``enum``; see :attr:`accepts_any_type`."""
        declared = (name for branch in self.branches for name in branch.declared_types or ())
        untyped = (branch.enum or () for branch in self.branches if branch.declared_types is None)
        return frozenset((*declared, *map(json_type, chain.from_iterable(untyped))))

    @cached_property
    def accepts_any_type(self) -> bool:
        """Whether one of its branches names no JSON type."""
        return any(branch.declared_types is None and branch.enum is None for branch in self.branches)

    @cached_property
    def mixes_types(self) -> bool:
        """Whether its branches name several JSON types, null aside; integers are numbers."""
        types = self.accepted_types - {"null"}
        return len(types - {"integer"} if "number" in types else types) > 1

    @cached_property
    def discriminator(self) -> Discriminator | None:
        """The discriminator of the branches."""
        return discriminator_of(self.branches)

    @cached_property
    def _branch_by_name(self) -> Mapping[str, Node]:
        """The branch of each required name that no other branch declares."""
        declared = Counter(name for node in self.branches for name in node.properties)
        return {name: node for node in self.branches for name in node.required if declared[name] == 1}

    def branches_of_type(self, value: Any, *, exact_integers: bool = False) -> tuple[Node, ...]:
        """Return the branches that accept the JSON type of a value."""
        strict = {"exact_integers": exact_integers}
        return tuple([branch for branch in self.branches if branch.fits(value, **strict)])

    def likely_branches(self, value: Any, *, exact_integers: bool = False) -> tuple[Node, ...]:
        """Return the branches that a refused value most likely targets, by its type, discriminator or required names."""
        fitting = self.branches_of_type(value, exact_integers=exact_integers)
        if len(fitting) < 2 or not isinstance(value, Mapping):
            return fitting
        if self.discriminator is not None:
            branch = self.discriminator.owner(value.get(self.discriminator.name))
            return fitting if branch is None else (branch,)
        named_branches = {self._branch_by_name[name] for name in value if name in self._branch_by_name}
        return tuple(named_branches) if len(named_branches) == 1 else fitting

    def matching_branches(self, value: Any) -> tuple[Node, ...]:
        """Return the branches whose constants match an accepted value."""
        fitting = self.branches_of_type(value)
        if not isinstance(value, Mapping):
            return fitting

        def lists_constants(branch: Node) -> bool:
            declared = value.keys() & branch.properties.keys()
            return all(branch.property_nodes[name].in_enum(value[name]) for name in declared)

        return tuple(filter(lists_constants, fitting))

    # What is in it

    @cached_property
    def property_nodes(self) -> Mapping[str, Node]:
        """The nodes of the declared properties."""
        return {name: self.tree.node(schema) for name, schema in self.properties.items()}

    @cached_property
    def patterns(self) -> tuple[tuple[str, Node], ...]:
        """The ``patternProperties``, each with its node."""
        patterns = (entry for schemas in self.values_of("patternProperties") for entry in schemas.items())
        return tuple((pattern, self.tree.node(schema)) for pattern, schema in patterns)

    def _by_pattern(self, name: str) -> Node | None:
        return next((node for pattern, node in self.patterns if holds("pattern", pattern, name)), None)

    def declares(self, name: object) -> bool:
        """Return whether a name is declared, or matches a pattern."""
        return name in self.properties or (isinstance(name, str) and self._by_pattern(name) is not None)

    def undeclared(self, value: Mapping[Any, Any]) -> list[str]:
        """Return the names in an object that are neither declared nor match a pattern."""
        if value.keys() <= self.properties.keys():
            return []
        return [name for name in value if isinstance(name, str) and not self.declares(name)]

    @cached_property
    def prefix_items(self) -> tuple[Node, ...]:
        """The nodes of the ``prefixItems``."""
        return tuple(map(self.tree.node, self._first("prefixItems") or ()))

    @cached_property
    def items(self) -> Node:
        """The node of the items, or of those beyond the prefix."""
        return self.tree.node(self._first("items"))

    def item(self, index: int) -> Node:
        """Return the node of a list's item."""
        return self.prefix_items[index] if index < len(self.prefix_items) else self.items

    def child(self, key: object) -> Node | None:
        """Return the node of an item or a property: declared, by pattern or additional; None if it may be anything."""
        if not isinstance(key, str):
            return self.item(key) if isinstance(key, int) and key >= 0 else None
        node = self.property_nodes.get(key) or self._by_pattern(key)
        if node is None and isinstance(self.additional, Mapping):
            return self.tree.node(self.additional)
        return node


def children(nodes: Iterable[Node], key: str | int) -> list[Node]:
    """Return the nodes of an item or a property, by each branch of several nodes that describes it."""
    described = (branch.child(key) for node in nodes for branch in node.branches)
    return [child for child in described if child is not None]


def child_in(branches: Iterable[Node], key: object) -> Node | None:
    """Return the node of an item or a property, as any of these branches describes it."""
    described = [child for branch in branches if (child := branch.child(key)) is not None]
    return described[0].tree.any_of(described) if described else None


def below(node: Node | None, key: object) -> Node | None:
    """Return the node of an item or a property of a node, as any of its branches describes it."""
    return child_in(node.branches if node else (), key)


def _accepts(check: Check, value: Any) -> bool:
    try:
        return check(value)
    except (ValueError, RecursionError):  # a lone surrogate, a key that is not a string
        return False


def fits(types: Collection[str] | None, value: Any, *, exact_integers: bool = False) -> bool:
    """Return whether a value is of one of the JSON types; ``7.0`` is an integer unless ``exact_integers`` is set."""
    kind = JSON_TYPES.get(type(value)) or json_type(value)
    if types is None or kind in types or (kind == "integer" and "number" in types):
        return True
    return kind == "number" and "integer" in types and not exact_integers and value.is_integer()


class Discriminator(NamedTuple):
    """A property whose constants identify the branches of a union: the owners, since ``True`` equals 1, by ``(False, 1)``."""

    name: str
    tags: Node
    owners: Mapping[tuple[bool, Any], Node]

    def owner(self, tag: Any) -> Node | None:
        """Return the branch of a constant, or None."""
        return self.owners.get((isinstance(tag, bool), tag)) if isinstance(tag, (str, int, float)) else None


def discriminator_of(branches: Sequence[Node]) -> Discriminator | None:
    """Return the first property with distinct constants (strings, integers or booleans) in all object branches."""
    objects = [node for node in branches if node.properties]
    if len(objects) < 2:
        return None
    shared = [name for name in objects[0].properties if all(name in node.properties for node in objects)]
    return next(filter(None, (_tagged_by(name, objects) for name in shared)), None)


def _tagged_by(name: str, objects: Sequence[Node]) -> Discriminator | None:
    owners: dict[tuple[bool, Any], Node] = {}
    for node in objects:
        tags = node.property_nodes[name].enum
        if not tags or not all(isinstance(tag, (str, int)) for tag in tags):
            return None
        if any(owners.setdefault((isinstance(tag, bool), tag), node) is not node for tag in tags):
            return None
    return Discriminator(name, Node(objects[0].tree, {"enum": [tag for _, tag in owners]}), owners)


# --- what parts say together ------------------------------------------------------------------------------


def _types(keywords: Iterable[Any]) -> tuple[str, ...] | None:
    types: tuple[str, ...] | None = None
    for named in keywords:
        these = (named,) if isinstance(named, str) else tuple(named)
        types = these if types is None else tuple(name for name in types if name in these)
    return types


def _enum_values(parts: Parts) -> tuple[Any, ...] | None:
    for part in parts:
        if "const" in part:
            return (part["const"],)
        if isinstance(part.get("enum"), list):
            return tuple(part["enum"])
    return None


def _properties(declared: Iterable[Any]) -> Mapping[str, Any]:
    """Return the properties by name; a property of several parts gets an ``allOf`` of theirs."""
    schemas = by_key(pair for named in declared for pair in named.items())
    return {name: subs[0] if len(subs) == 1 else {"allOf": subs} for name, subs in schemas.items()}


def _expanded(root: Mapping[str, Any], schema: Any, around: Parts, seen: dict[int, Any]) -> Iterator[Any]:
    """Yield the schema of each branch, nested unions included. Skip a branch already expanded, since unions may be recursive."""
    parts = parts_of(root, schema)
    union = _union_of(parts)
    if union is None:
        yield _with(around, schema)
        return
    beside, branches = union
    for part in beside:
        shared = {name: value for name, value in part.items() if name not in _NOT_OWN}
        if shared and shared not in around:  # else nested unions would repeat them
            around = (*around, shared)
    for branch in branches:
        if id(branch) not in seen:
            seen[id(branch)] = branch  # kept alive, so that its id is not reused
            yield from _expanded(root, branch, around, seen)


def _union_of(parts: Parts) -> tuple[Parts, list[Any]] | None:
    """Return the schemas without their first union, and its branches; None if there is no union."""
    for index, part in enumerate(parts):
        for keyword in ("anyOf", "oneOf"):
            if isinstance(branches := part.get(keyword), list):
                rest = {name: value for name, value in part.items() if name != keyword}
                return (*parts[:index], rest, *parts[index + 1 :]), branches
    types = _types(part["type"] for part in parts if "type" in part)
    if types is None or len(types) < 2:
        return None
    return parts, [{"type": name} for name in sorted(types)]


def _with(around: Parts, schema: Any) -> Any:
    if len(around) == 1 and isinstance(schema, Mapping) and schema.keys() == {"type"}:
        kinds = around[0].get("type", schema["type"])
        if kinds == schema["type"] or (isinstance(kinds, list) and schema["type"] in kinds):
            return {**around[0], **schema}
    return {"allOf": [*around, schema]} if around else schema
