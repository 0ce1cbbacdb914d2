"""Make a schema of any draft readable: translate it, bound what it costs, switch off what cannot be read."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import islice
from typing import Any, Final
from urllib.parse import quote, unquote, urljoin

from mcp_lenient.errors import SchemaError
from mcp_lenient.schema.drafts import (
    ANNOTATIONS,
    ASSERTIONS,
    CURRENT,
    DEFINITIONS,
    NAMED,
    OLD_WORDS,
    ONE,
    SEVERAL,
    UNREAD,
    also,
    has_plain_ids,
    modern,
    ref_stands_alone,
    subschemas,
)
from mcp_lenient.schema.shape import compiled, pointed_at, resolve
from mcp_lenient.values.json_values import is_shallow, pointer

_MOVING_REFERENCES: Final = frozenset({"$dynamicRef", "$recursiveRef"})
_MOST_NODES: Final = 100_000


def depth_check(schema: Mapping[str, Any]) -> Callable[[object], bool]:
    """The check that a value nests so little that a validator of this schema can walk it on any stack.

    Only a schema that refers to itself leads a validator as deep as a value goes: every other goes no deeper
    than itself, or stops by itself where it compares whole values.

    >>> endless = {"type": "array", "items": {"$ref": "#"}}
    >>> depth_check(endless) is depth_check({"type": "array"})
    False
    """
    return is_shallow if refers_to_itself(schema) else takes_any_depth


def takes_any_depth(_value: object) -> bool:
    """The check where no depth is too deep."""
    return True


def refers_to_itself(root: Mapping[str, Any]) -> bool:
    """Whether a reference leads back to itself, or may."""
    nodes = _Nodes()
    targets: dict[str, set[str]] = {}
    waiting = nodes.references(root)
    while waiting:
        reference = waiting.pop()
        if reference in targets:
            continue
        target = resolve(root, reference)
        if target is None:  # another dialect's way to name a schema: it may lead anywhere
            return True
        further = nodes.references(target)
        targets[reference] = set(further)
        waiting += further
    try:
        TopologicalSorter(targets).prepare()
    except CycleError:
        return True
    return nodes.left == 0


class _Nodes:
    """A walk through schemas that ends after so many nodes in all, however they nest in one another."""

    def __init__(self) -> None:
        self.left = _MOST_NODES

    def references(self, schema: object) -> list[str]:
        """The references within a schema; an empty one, which resolves to nothing, for one that moves."""
        found: list[str] = []
        for node in islice(_mappings(schema), self.left):
            self.left -= 1
            if isinstance(reference := node.get("$ref"), str):
                found.append(reference)
            if not _MOVING_REFERENCES.isdisjoint(node):
                found.append("")
        return found


def _mappings(schema: object) -> Iterator[Mapping[str, Any]]:
    waiting: list[object] = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Mapping):
            yield node
            waiting.extend(node.values())
        elif isinstance(node, (list, tuple)):
            waiting.extend(node)


MOST_EXPANDED: Final = 2_000
"""Schemas that one value, and one value within it on each level, may have to be compared with."""
MOST_IN_A_ROW: Final = 200
"""Schemas in one another for the same value."""
_ALSO_IN_PLACE: Final = frozenset("$ref allOf anyOf oneOf not if then else dependentSchemas".split())
_ANY_KEY: Final = "*"
Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Cost:
    """How many schemas a value is compared with.

    Attributes:
        here: Schemas that the value itself is compared with.
        inside: Schemas that what is inside it is compared with, by key; a value has one key on each level.
        in_a_row: The longest way from one schema into the next for the same value.
    """

    here: int = 1
    inside: Mapping[str, int] = field(default_factory=dict)
    in_a_row: int = 1

    @property
    def total(self) -> int:
        most = max((count for key, count in self.inside.items() if key != _ANY_KEY), default=0)
        return self.here + self.inside.get(_ANY_KEY, 0) + most


_ITSELF: Final = _Cost()


def too_costly(schemas: list[Schema], targets: Mapping[int, Schema]) -> Iterator[tuple[Schema, str, bool]]:
    """Yield each schema whose references expand beyond the bound, innermost first.

    Each comes with the reason, and with whether what it says about the inside of a value is too costly as well.
    The caller takes it out before it asks for the next.

    Args:
        schemas: Every schema of the whole, which comes first, in the words of 2020-12.
        targets: What each ``$ref`` refers to, by the id of the schema that holds it.
    """
    if not targets:
        return
    for schema in _closing_in_place(schemas, targets):
        yield schema, "refers to itself for the same value", False
    most = max(MOST_EXPANDED, len(schemas))
    reason = f"its references expand to more than {most} schemas, or {MOST_IN_A_ROW} in a row"
    costs: dict[int, _Cost] = {}
    for schema in _inner_first(schemas, _neighbors(targets)):
        for inside_too in (False, True):
            cost = costs[id(schema)] = _cost(schema, targets, costs)
            if cost.total <= most and cost.in_a_row <= MOST_IN_A_ROW:
                break
            yield schema, reason, inside_too
        else:
            costs[id(schema)] = _ITSELF


def _edges(schema: Schema, targets: Mapping[int, Schema]) -> Iterator[tuple[str, str, Any]]:
    """The schemas that one leads to, each with its keyword and the key inside the value that it is about."""
    for way, sub in subschemas(schema):
        keyword = way[0]
        if keyword in DEFINITIONS or not isinstance(sub, dict):
            continue
        if keyword in _ALSO_IN_PLACE:
            yield keyword, "", sub
        elif keyword in ("properties", "prefixItems"):
            yield keyword, "/".join(way), sub
        elif keyword in NAMED or keyword in SEVERAL or keyword in ONE:
            yield keyword, _KEYS.get(keyword, _ANY_KEY), sub
    if id(schema) in targets:
        yield "$ref", "", targets[id(schema)]


_KEYS: Final = {"items": "items", "additionalProperties": "additionalProperties"}


def _cost(schema: Schema, targets: Mapping[int, Schema], costs: Mapping[int, _Cost]) -> _Cost:
    here = in_a_row = 1
    inside: dict[str, int] = {}
    for _, key, sub in _edges(schema, targets):
        # Of a schema that this one is within, a value may be followed one level more for each level it has.
        below = costs.get(id(sub), _ITSELF)
        if key:
            inside[key] = inside.get(key, 0) + below.total
        else:
            here += below.here
            in_a_row = max(in_a_row, 1 + below.in_a_row)
            for name, count in below.inside.items():
                inside[name] = inside.get(name, 0) + count
    return _Cost(here, inside, in_a_row)


def _neighbors(targets: Mapping[int, Schema]) -> Callable[[Schema], list[Schema]]:
    return lambda schema: [sub for _, _, sub in _edges(schema, targets)]


def _inner_first(starts: list[Schema], neighbors: Callable[[Schema], list[Schema]]) -> Iterator[Schema]:
    """Each schema after those that it leads to, but for those that lead back to it."""
    seen: set[int] = set()
    for start in starts:
        if id(start) in seen:
            continue
        seen.add(id(start))
        way = [(start, iter(neighbors(start)))]
        while way:
            schema, rest = way[-1]
            following = next((each for each in rest if id(each) not in seen), None)
            if following is None:
                way.pop()
                yield schema
            else:
                seen.add(id(following))
                way.append((following, iter(neighbors(following))))


def _closing_in_place(schemas: list[Schema], targets: Mapping[int, Schema]) -> Iterator[Schema]:
    """The schemas that lead back to one they are part of without looking inside the value."""
    done: set[int] = set()
    on_the_way: set[int] = set()
    for start in schemas:
        if id(start) in done:
            continue
        way = [(start, iter(list(_edges(start, targets))))]
        on_the_way.add(id(start))
        while way:
            schema, rest = way[-1]
            following = next((edge for edge in rest if not edge[1] and id(edge[2]) not in done), None)
            if following is None or id(following[2]) in on_the_way:
                if following is not None:
                    yield schema
                way.pop()
                on_the_way.discard(id(schema))
                done.add(id(schema))
            else:
                way.append((following[2], iter(list(_edges(following[2], targets)))))
                on_the_way.add(id(following[2]))


_DEEPEST: Final = 200
"""Levels of JSON in a schema; the validator reads no more than 255."""
_MOST_SCHEMAS: Final = 100_000
_MOST_VALUES: Final = 2_000_000
_REASON_LENGTH: Final = 120
_MOST_TOLD: Final = 3
_BELOW: Final = ("properties", "patternProperties", "prefixItems", "items", "additionalProperties")
"""Keywords about what is inside a value, in the order in which a later one depends on an earlier one."""
_NEEDS: Final = {
    "items": {"prefixItems"},
    "additionalProperties": {"properties", "patternProperties"},
}
_INVERTING: Final[Mapping[str, tuple[str, ...]]] = {
    "not": ("not",),
    "if": ("if", "then", "else"),
    "contains": ("contains", "minContains", "maxContains"),
}
"""Keywords that refuse more where their schema accepts more, with what depends on them."""
_MEANT: Final = ASSERTIONS | NAMED | SEVERAL | ONE
"""Keywords that mean something to a validator; what any other holds need not be read."""
_IN_PLACE: Final = frozenset("$ref allOf anyOf oneOf if then else dependentSchemas".split())
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnreadPlace:
    """A place of a schema that is neither judged nor repaired.

    Attributes:
        pointer: The place in the published schema, a JSON Pointer.
        reason: Why it cannot be read.
    """

    pointer: str
    reason: str


@dataclass(frozen=True, slots=True)
class ReadableSchema:
    """A schema that compiles.

    Attributes:
        root: The schema in the words of 2020-12; the published one itself where that says the same.
        unread: What was taken out of it.
        accepts: Its compiled check; may raise ValueError for a value that is not JSON.
        may_enter: Whether the check can walk a value without nesting too deep.
    """

    root: Mapping[str, Any]
    unread: tuple[UnreadPlace, ...]
    accepts: Callable[[Any], bool]
    may_enter: Callable[[object], bool] = takes_any_depth

    @property
    def told(self) -> str:
        """One sentence about the places that were taken out."""
        places = [f"{place.pointer or '/'} ({place.reason})" for place in self.unread[:_MOST_TOLD]]
        more = len(self.unread) - len(places)
        return f"not judged or repaired at {', '.join(places)}{f' and {more} more places' if more else ''}"


def readable(schema: Mapping[str, Any] | ReadableSchema) -> ReadableSchema:
    """Make a schema readable; one that is already is returned as it is.

    Raises:
        SchemaError: When the schema is not a JSON object.
    """
    if isinstance(schema, ReadableSchema):
        return schema
    _check_object(schema)
    if not has_plain_ids(schema) and not _has_old_words(schema):
        dialect = schema.get("$schema", CURRENT)
        root = schema if dialect == CURRENT else {k: v for k, v in schema.items() if k != "$schema"}
        try:
            return ReadableSchema(root, (), compiled(root).is_valid)
        except SchemaError:
            pass
    return _Translation(schema).result()


def _check_object(schema: object) -> None:
    if not isinstance(schema, Mapping):
        msg = f"a schema must be an object, got {schema!r}."
        raise SchemaError(msg)


def _has_old_words(schema: Mapping[str, Any]) -> bool:
    waiting: list[Any] = [schema]
    seen = 0
    while seen < min(len(waiting), _MOST_VALUES):
        node = waiting[seen]
        seen += 1
        if isinstance(node, Mapping):
            if not OLD_WORDS.isdisjoint(node) or ("$schema" in node and node is not schema):
                return True
            waiting.extend(node.values())
        elif isinstance(node, (list, tuple)):
            waiting.extend(node)
    return seen == _MOST_VALUES


def references_of(schema: Mapping[str, Any]) -> Iterator[tuple[Path, Any]]:
    """Yield the subschemas of a translated schema."""
    for way, sub in subschemas(schema):
        if way[0] in NAMED or way[0] in SEVERAL or way[0] in ONE:
            yield way, sub


class _Translation:
    """One schema on its way to being readable; what is published is copied, never changed."""

    def __init__(self, published: Mapping[str, Any]) -> None:
        self._published = published
        self._ref_alone = ref_stands_alone(published)
        self._names = _PublishedNames(published)
        self._nodes: list[Schema] = []
        self._origins: dict[int, Path] = {}
        """Where a translated schema comes from, by its id."""
        self._made: dict[int, tuple[Path, Schema]] = {}
        """Where a published schema went and what was made of it, by its id."""
        self._targets: dict[int, Schema] = {}
        """The schema that a translated ``$ref`` refers to, by the id of the schema that holds it."""
        self._references: deque[tuple[Schema, Mapping[str, Any]]] = deque()
        self._unread: dict[Path, str] = {}
        self._root: Schema = {}

    def result(self) -> ReadableSchema:
        self._root = self._translate(self._published, (), ())
        self._follow_references()
        for schema, reason, inside_too in too_costly(self._nodes, self._targets):
            self._take_out(schema, reason, frozenset(_BELOW) if inside_too else frozenset())
        try:
            return self._ready()
        except SchemaError:
            self._take_out_broken()
        try:
            return self._ready()
        except SchemaError as error:
            self._unread = {(): str(error)}
            return ReadableSchema({UNREAD: True}, self._places(), compiled({}).is_valid)

    def _ready(self) -> ReadableSchema:
        self._relax()
        accepts = compiled(self._root).is_valid
        return ReadableSchema(self._root, self._places(), accepts, depth_check(self._root))

    def _places(self) -> tuple[UnreadPlace, ...]:
        return tuple(UnreadPlace(pointer(path), reason) for path, reason in self._unread.items())

    # Translating

    def _translate(self, schema: Mapping[str, Any], place: Path, origin: Path) -> Schema:
        if len(place) > _DEEPEST or len(self._nodes) > _MOST_SCHEMAS:
            return self._unreadable(origin, "nested too deep, or too many schemas")
        new = modern(schema, ref_alone=self._ref_alone, is_root=not place)
        self._nodes.append(new)
        self._origins[id(new)] = origin
        self._made[id(schema)] = place, new
        self._translate_below(new, place, origin)
        if any(word in new for word in ("$ref", "$dynamicRef", "$recursiveRef")):
            self._references.append((new, schema))
        return new

    def _translate_below(self, new: Schema, place: Path, origin: Path) -> None:
        for keyword, value in list(new.items()):
            if keyword in NAMED and isinstance(value, Mapping):
                new[keyword] = self._named(new, keyword, value, place, origin)
            elif keyword in SEVERAL and isinstance(value, (list, tuple)):
                new[keyword] = [
                    self._child(sub, (*place, keyword, str(at)), origin) for at, sub in enumerate(value)
                ]
            elif keyword in ONE and isinstance(value, Mapping):
                new[keyword] = self._child(value, (*place, keyword), origin)

    def _named(
        self, new: Schema, keyword: str, value: Mapping[str, Any], place: Path, origin: Path
    ) -> Schema:
        writable = {name: sub for name, sub in value.items() if _is_writable(name)}
        if len(writable) < len(value):
            self._unread.setdefault((*origin, keyword), "a name that is not a JSON string")
            new[UNREAD] = True
            new.pop("additionalProperties", None)
        return {name: self._child(sub, (*place, keyword, name), origin) for name, sub in writable.items()}

    def _child(self, sub: Any, place: Path, above: Path) -> Any:
        if isinstance(sub, bool):
            return sub
        origin = self._names.origins.get(id(sub), above) if isinstance(sub, Mapping) else place
        if not isinstance(sub, Mapping):
            return self._unreadable(origin, "not a schema")
        return self._translate(sub, place, origin)

    def _unreadable(self, origin: Path, reason: str) -> Schema:
        new: Schema = {UNREAD: True}
        self._nodes.append(new)
        self._origins[id(new)] = origin
        self._unread.setdefault(origin, reason)
        return new

    # References

    def _follow_references(self) -> None:
        while self._references:
            new, published = self._references.popleft()
            words = [word for word in ("$ref", "$dynamicRef", "$recursiveRef") if word in new]
            told = [(word, new.pop(word)) for word in words]
            targets = [self._names.target(published, word, reference) for word, reference in told]
            if any(target is None for target in targets):
                shown = next(str(ref) for (_, ref), found in zip(told, targets, strict=True) if found is None)
                self._take_out(new, f"{shown[:_REASON_LENGTH]!r} leads to no schema in it")
            elif len(targets) == 1:
                self._refer(new, targets[0])
            else:
                for target in targets:
                    part: Schema = {}
                    self._nodes.append(part)
                    self._origins[id(part)] = self._origins[id(new)]
                    self._refer(part, target)
                    also(new, part)

    def _refer(self, new: Schema, target: Any) -> None:
        if isinstance(target, bool):
            if not target:
                new["not"] = {}
            return
        if id(target) not in self._made:
            name = f"referred-to-{len(self._made)}"
            made = self._translate(target, ("$defs", name), self._names.path_of(target))
            self._root["$defs"] = {**self._root.get("$defs", {}), name: made}
        place, made = self._made[id(target)]
        new["$ref"] = "#" + quote(pointer(place), safe="/~$")
        self._targets[id(new)] = made

    # What cannot be read

    def _take_out(self, schema: Schema, reason: str, broken: frozenset[str] = frozenset()) -> None:
        """Leave of a schema what it says about what is inside a value, as far as that can be read."""
        self._unread.setdefault(self._origins[id(schema)], reason)
        kept = {k: v for k, v in schema.items() if k in ANNOTATIONS or k in DEFINITIONS}
        kept |= {k: schema[k] for k in _BELOW if k in schema and not broken & {k, *_NEEDS.get(k, ())}}
        if broken == {"patternProperties"}:
            kept |= _readable_patterns(schema)
        if not isinstance(kept.get("additionalProperties"), Mapping):
            kept.pop("additionalProperties", None)
        schema.clear()
        schema.update(kept)
        schema[UNREAD] = True
        self._targets.pop(id(schema), None)

    def _take_out_broken(self) -> None:
        for schema in self._nodes:
            alone = _alone(schema)
            reason = _issue(alone)
            if reason is None:
                continue
            issues = {keyword: _issue({keyword: value}) for keyword, value in alone.items()}
            broken = frozenset(keyword for keyword, issue in issues.items() if issue is not None)
            for keyword in broken - _MEANT:
                del schema[keyword]
            broken &= _MEANT
            if broken or not any(issues.values()):
                first = next((issue for issue in map(issues.get, broken) if issue), reason)
                self._take_out(schema, first, broken)

    def _relax(self) -> None:
        """Loosen what would refuse more because a schema in it was taken out and now accepts anything."""
        above: dict[int, list[tuple[Schema, str]]] = {}
        for schema in self._nodes:
            for way, sub in references_of(schema):
                above.setdefault(id(sub), []).append((schema, way[0]))
            if id(schema) in self._targets:
                above.setdefault(id(self._targets[id(schema)]), []).append((schema, "$ref"))
        # In place: what is unread is about the very value, not about something inside it.
        waiting = [(schema, True) for schema in self._nodes if UNREAD in schema]
        seen: set[tuple[int, bool]] = set()
        while waiting:
            schema, in_place = waiting.pop()
            if (id(schema), in_place) in seen:
                continue
            seen.add((id(schema), in_place))
            for parent, keyword in above.get(id(schema), ()):
                within = in_place and keyword in _IN_PLACE
                _loosen(parent, keyword, within=within)
                waiting.append((parent, within or keyword in _INVERTING))


def _loosen(parent: Schema, keyword: str, *, within: bool) -> None:
    if keyword in _INVERTING and keyword in parent:
        for dependent in _INVERTING[keyword]:
            parent.pop(dependent, None)
        parent[UNREAD] = True
    if keyword == "oneOf" and "oneOf" in parent:
        branches = {"anyOf": parent.pop("oneOf")}
        if "anyOf" in parent:
            also(parent, branches)
        else:
            parent.update(branches)
    if within or keyword in _INVERTING:
        parent.pop("unevaluatedProperties", None)
        parent.pop("unevaluatedItems", None)


def _alone(schema: Schema) -> Schema:
    """A schema without what is in it and what it refers to, so that it compiles if it is not broken itself."""
    alone = {k: v for k, v in schema.items() if k != "$ref"}
    for keyword, value in alone.items():
        if keyword in NAMED and isinstance(value, dict):
            alone[keyword] = dict.fromkeys(value, True)
        elif keyword in SEVERAL and isinstance(value, list):
            alone[keyword] = [True] * len(value)
        elif keyword in ONE and isinstance(value, dict):
            alone[keyword] = True
    return alone


def _readable_patterns(schema: Schema) -> Schema:
    patterns = schema.get("patternProperties")
    if not isinstance(patterns, dict):
        return {}
    found = {each: sub for each, sub in patterns.items() if _issue({"pattern": each}) is None}
    return {"patternProperties": found} if found else {}


def _issue(schema: Schema) -> str | None:
    try:
        compiled(schema)
    except SchemaError as error:
        return str(error).removeprefix("the schema cannot be compiled: ")[:_REASON_LENGTH]
    return None


def _is_writable(name: Any) -> bool:
    try:
        return isinstance(name, str) and name.encode() is not None
    except UnicodeEncodeError:
        return False


class _PublishedNames:
    """Where a schema's own names and references lead."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._plain_ids = has_plain_ids(root)
        self._root = root
        self.origins: dict[int, Path] = {}
        self._bases: dict[int, str] = {}
        self._resources: dict[str, Any] = {"": root}
        self._anchors: dict[tuple[str, str], list[tuple[str, Any]]] = {}
        self._walk(root, (), "")

    def _walk(self, start: Any, path: Path, base: str) -> None:
        waiting: list[tuple[Any, Path, str]] = [(start, path, base)]
        while waiting:
            schema, path, base = waiting.pop()
            if not isinstance(schema, Mapping) or id(schema) in self.origins:
                continue
            self.origins[id(schema)] = path
            base = self._named(schema, base)
            self._bases[id(schema)] = base
            if len(path) <= _DEEPEST:
                waiting += ((sub, path + way, base) for way, sub in subschemas(schema))

    def _named(self, schema: Mapping[str, Any], base: str) -> str:
        own = schema.get("$id", schema.get("id") if self._plain_ids else None)
        if isinstance(own, str):
            name, _, anchor = _joined(base, own).partition("#")
            if anchor:
                self._anchors.setdefault((base, anchor), []).append(("$anchor", schema))
            else:
                base = name
                self._resources.setdefault(base, schema)
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(schema.get(keyword), str):
                self._anchors.setdefault((base, schema[keyword]), []).append((keyword, schema))
        return base

    def path_of(self, schema: Mapping[str, Any]) -> Path:
        return self.origins.get(id(schema), ())

    def target(self, schema: Mapping[str, Any], word: str, reference: Any) -> Any:
        """The schema that a reference leads to, or None; nothing is ever fetched."""
        if not isinstance(reference, str):
            return None
        base = self._bases.get(id(schema), "")
        resource, _, fragment = _joined(base, reference).partition("#")
        if resource not in self._resources:
            return None
        found = self._within(resource, unquote(fragment))
        if word == "$dynamicRef" and self._is_dynamic(unquote(fragment)):
            return None
        if not isinstance(found, (Mapping, bool)):
            return None
        if isinstance(found, Mapping) and id(found) not in self.origins:
            self._walk(found, tuple(unquote(fragment).split("/")[1:]), resource)
        return found

    def _is_dynamic(self, anchor: str) -> bool:
        """Whether the way to a place decides which of several schemas of this name is meant."""
        named = [found for (_, name), found in self._anchors.items() if name == anchor]
        return len([keyword for found in named for keyword, _ in found if keyword == "$dynamicAnchor"]) > 1

    def _within(self, resource: str, fragment: str) -> Any:
        if fragment and not fragment.startswith("/"):
            known = self._anchors.get((resource, fragment), [])
            return known[0][1] if known else None
        return pointed_at(self._resources[resource], fragment)


def _joined(base: str, reference: str) -> str:
    if reference.startswith("#"):
        return base + reference
    try:
        return urljoin(base, reference)
    except ValueError:
        return reference
