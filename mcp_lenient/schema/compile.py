"""Make a schema of any draft readable: translate it, bound its cost, take out unreadable parts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import islice
from typing import Any, Final
from urllib.parse import quote, unquote, urljoin

from mcp_lenient.errors import SchemaError
from mcp_lenient.schema.checks import compiled
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
from mcp_lenient.schema.references import pointed_at, resolve
from mcp_lenient.values.json_values import is_shallow, pointer

_DYNAMIC_REFERENCES: Final = frozenset({"$dynamicRef", "$recursiveRef"})
_MAX_NODES: Final = 100_000


def depth_check(schema: Mapping[str, Any]) -> Callable[[object], bool]:
    """Return a check that a validator of this schema cannot overflow the stack on a value.

    Only a recursive schema leads a validator as deep as the value; any other schema goes no deeper than itself.

    >>> endless = {"type": "array", "items": {"$ref": "#"}}
    >>> depth_check(endless) is depth_check({"type": "array"})
    False
    """
    return is_shallow if refers_to_itself(schema) else _accept_any_depth


def _accept_any_depth(_value: object) -> bool:
    """Return True: the check for schemas that are not recursive."""
    return True


def refers_to_itself(root: Mapping[str, Any]) -> bool:
    """Return whether a reference may be recursive."""
    nodes = _Nodes()
    targets: dict[str, set[str]] = {}
    waiting = nodes.references(root)
    while waiting:
        reference = waiting.pop()
        if reference in targets:
            continue
        target = resolve(root, reference)
        if target is None:  # another way to name a schema: it may lead anywhere
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
    """A walk through schemas with a bound on the total number of nodes."""

    def __init__(self) -> None:
        self.left = _MAX_NODES

    def references(self, schema: object) -> list[str]:
        """Return the references within a schema; for a dynamic one, an empty string, which never resolves."""
        found: list[str] = []
        for node in islice(_mappings(schema), self.left):
            self.left -= 1
            if isinstance(reference := node.get("$ref"), str):
                found.append(reference)
            if not _DYNAMIC_REFERENCES.isdisjoint(node):
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


_MAX_EXPANDED: Final = 2_000
"""Schemas that one value, and one value below it on each level, may be compared with."""
_MAX_IN_PLACE: Final = 200
"""Nested schemas for the same value."""
_ALSO_IN_PLACE: Final = frozenset("$ref allOf anyOf oneOf not if then else dependentSchemas".split())
_ANY_KEY: Final = "*"
Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Cost:
    """The number of schemas that a value is compared with.

    Attributes:
        here: Schemas for the value itself.
        inside: Schemas for the values in it, by key; a value has one key on each level.
        in_place_depth: The longest chain of schemas for the same value.
    """

    here: int = 1
    inside: Mapping[str, int] = field(default_factory=dict)
    in_place_depth: int = 1

    @property
    def total(self) -> int:
        most = max((count for key, count in self.inside.items() if key != _ANY_KEY), default=0)
        return self.here + self.inside.get(_ANY_KEY, 0) + most


_SELF_COST: Final = _Cost()


def too_costly(schemas: list[Schema], targets: Mapping[int, Schema]) -> Iterator[tuple[Schema, str, bool]]:
    """Yield each schema whose references expand beyond the bound, innermost first.

    Each comes with the reason, and with whether its keywords about contained values are too costly as well.
    The caller must take it out before asking for the next. ``targets`` has the target of each ``$ref``, by the id of
    the schema that has it.
    """
    if not targets:
        return
    for schema in _recursive_in_place(schemas, targets):
        yield schema, "refers to itself for the same value", False
    most = max(_MAX_EXPANDED, len(schemas))
    reason = f"its references expand to more than {most} schemas, or {_MAX_IN_PLACE} in a row"
    costs: dict[int, _Cost] = {}
    for schema in _inner_first(schemas, targets):
        for inside_too in (False, True):
            cost = costs[id(schema)] = _cost(schema, targets, costs)
            if cost.total <= most and cost.in_place_depth <= _MAX_IN_PLACE:
                break
            yield schema, reason, inside_too
        else:
            costs[id(schema)] = _SELF_COST


def _edges(schema: Schema, targets: Mapping[int, Schema]) -> Iterator[tuple[str, Schema]]:
    """Yield the key of the value that each schema below applies to, empty for the value itself, and the schema."""
    for way, sub in references_of(schema):
        keyword = way[0]
        if keyword in DEFINITIONS or not isinstance(sub, dict):
            continue
        if keyword in _ALSO_IN_PLACE:
            yield "", sub
        elif keyword in ("properties", "prefixItems"):
            yield "/".join(way), sub
        else:
            yield keyword if keyword in _KEYS else _ANY_KEY, sub
    if id(schema) in targets:
        yield "", targets[id(schema)]


_KEYS: Final = frozenset({"items", "additionalProperties"})


def _cost(schema: Schema, targets: Mapping[int, Schema], costs: Mapping[int, _Cost]) -> _Cost:
    here = in_place_depth = 1
    inside: dict[str, int] = {}
    for key, sub in _edges(schema, targets):
        # A recursive schema counts once: each further level also takes one level of the value.
        below = costs.get(id(sub), _SELF_COST)
        if key:
            inside[key] = inside.get(key, 0) + below.total
        else:
            here += below.here
            in_place_depth = max(in_place_depth, 1 + below.in_place_depth)
            for name, count in below.inside.items():
                inside[name] = inside.get(name, 0) + count
    return _Cost(here, inside, in_place_depth)


def _inner_first(starts: list[Schema], targets: Mapping[int, Schema]) -> Iterator[Schema]:
    """Yield each schema after those that it leads to, except in cycles."""
    seen: set[int] = set()
    for start in starts:
        if id(start) in seen:
            continue
        seen.add(id(start))
        way = [(start, _below(start, targets))]
        while way:
            schema, rest = way[-1]
            following = next((each for each in rest if id(each) not in seen), None)
            if following is None:
                way.pop()
                yield schema
            else:
                seen.add(id(following))
                way.append((following, _below(following, targets)))


def _below(schema: Schema, targets: Mapping[int, Schema]) -> Iterator[Schema]:
    # A list: the caller may take schemas out meanwhile.
    return iter([sub for _, sub in _edges(schema, targets)])


def _recursive_in_place(schemas: list[Schema], targets: Mapping[int, Schema]) -> Iterator[Schema]:
    """Yield the schemas that lead back to themselves for the same value."""
    done: set[int] = set()
    on_the_way: set[int] = set()
    for start in schemas:
        if id(start) in done:
            continue
        way = [(start, iter(list(_edges(start, targets))))]
        on_the_way.add(id(start))
        while way:
            schema, rest = way[-1]
            following = next((sub for key, sub in rest if not key and id(sub) not in done), None)
            if following is None or id(following) in on_the_way:
                if following is not None:
                    yield schema
                way.pop()
                on_the_way.discard(id(schema))
                done.add(id(schema))
            else:
                way.append((following, iter(list(_edges(following, targets)))))
                on_the_way.add(id(following))


_MAX_DEPTH: Final = 200
"""Levels of JSON in a schema; the validator's limit is 255."""
_MAX_SCHEMAS: Final = 100_000
_MAX_VALUES: Final = 2_000_000
_REASON_LENGTH: Final = 120
_MAX_LISTED: Final = 3
_BELOW: Final = ("properties", "patternProperties", "prefixItems", "items", "additionalProperties")
"""Keywords about contained values; a later one may depend on an earlier one."""
_NEEDS: Final = {
    "items": {"prefixItems"},
    "additionalProperties": {"properties", "patternProperties"},
}
_INVERTING: Final[Mapping[str, tuple[str, ...]]] = {
    "not": ("not",),
    "if": ("if", "then", "else"),
    "contains": ("contains", "minContains", "maxContains"),
}
"""Keywords that refuse more values if their schema accepts more, with their dependent keywords."""
_KNOWN_KEYWORDS: Final = ASSERTIONS | NAMED | SEVERAL | ONE
"""Keywords that affect validation; any other may be deleted if it breaks the schema."""
_IN_PLACE: Final = frozenset("$ref allOf anyOf oneOf if then else dependentSchemas".split())
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnreadPlace:
    """A part of a schema that is neither validated nor repaired, by its JSON Pointer, and why it cannot be read."""

    pointer: str
    reason: str


@dataclass(frozen=True, slots=True)
class ReadableSchema:
    """A schema that compiles.

    Attributes:
        root: The schema in 2020-12; the published object itself if no translation was needed.
        unread: The parts taken out of it.
        accepts: The compiled check; may raise ValueError for a value that is not JSON.
        may_enter: Returns whether a value is shallow enough for the check.
    """

    root: Mapping[str, Any]
    unread: tuple[UnreadPlace, ...]
    accepts: Callable[[Any], bool]
    may_enter: Callable[[object], bool] = _accept_any_depth

    @property
    def told(self) -> str:
        """A sentence that lists the parts taken out."""
        places = [f"{place.pointer or '/'} ({place.reason})" for place in self.unread[:_MAX_LISTED]]
        more = len(self.unread) - len(places)
        return f"not judged or repaired at {', '.join(places)}{f' and {more} more places' if more else ''}"


def readable(schema: Mapping[str, Any] | ReadableSchema) -> ReadableSchema:
    """Make a schema readable; a :class:`ReadableSchema` is returned unchanged.

    Raises:
        SchemaError: When the schema is not a JSON object.
    """
    if isinstance(schema, ReadableSchema):
        return schema
    _check_object(schema)
    if not has_plain_ids(schema) and not _has_old_keywords(schema):
        dialect = schema.get("$schema", CURRENT)
        root = schema if dialect == CURRENT else {k: v for k, v in schema.items() if k != "$schema"}
        try:
            return ReadableSchema(root, (), compiled(root).is_valid)
        except SchemaError:
            pass
    return _Translator(schema).result()


def _check_object(schema: object) -> None:
    if not isinstance(schema, Mapping):
        msg = f"a schema must be an object, got {schema!r}."
        raise SchemaError(msg)


def _has_old_keywords(schema: Mapping[str, Any]) -> bool:
    waiting: list[Any] = [schema]
    seen = 0
    while seen < min(len(waiting), _MAX_VALUES):
        node = waiting[seen]
        seen += 1
        if isinstance(node, Mapping):
            if not OLD_WORDS.isdisjoint(node) or ("$schema" in node and node is not schema):
                return True
            waiting.extend(node.values())
        elif isinstance(node, (list, tuple)):
            waiting.extend(node)
    return seen == _MAX_VALUES


def references_of(schema: Mapping[str, Any]) -> Iterator[tuple[Path, Any]]:
    """Yield the subschemas of a translated schema."""
    for way, sub in subschemas(schema):
        if way[0] in NAMED or way[0] in SEVERAL or way[0] in ONE:
            yield way, sub


class _Translator:
    """The translation of one published schema, which is never modified."""

    def __init__(self, published: Mapping[str, Any]) -> None:
        self._published = published
        self._ref_alone = ref_stands_alone(published)
        self._names = _PublishedNames(published)
        self._nodes: list[Schema] = []
        self._origins: dict[int, Path] = {}
        """The published path of a translated schema, by its id."""
        self._made: dict[int, tuple[Path, Schema]] = {}
        """The path and translation of a published schema, by its id."""
        self._targets: dict[int, Schema] = {}
        """The target of a translated ``$ref``, by the id of the schema that has it."""
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
        if len(place) > _MAX_DEPTH or len(self._nodes) > _MAX_SCHEMAS:
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
            references = [(word, new.pop(word)) for word in words]
            targets = [self._names.target(published, word, reference) for word, reference in references]
            if any(target is None for target in targets):
                pairs = zip(references, targets, strict=True)
                shown = next(str(reference) for (_, reference), found in pairs if found is None)
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
            made = self._translate(target, ("$defs", name), self._names.origins.get(id(target), ()))
            self._root["$defs"] = {**self._root.get("$defs", {}), name: made}
        place, made = self._made[id(target)]
        new["$ref"] = "#" + quote(pointer(place), safe="/~$")
        self._targets[id(new)] = made

    # Unreadable parts

    def _take_out(self, schema: Schema, reason: str, broken: frozenset[str] = frozenset()) -> None:
        """Remove all keywords of a schema except readable ones about contained values."""
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
            alone = _without_subschemas(schema)
            reason = _issue(alone)
            if reason is None:
                continue
            issues = {keyword: _issue({keyword: value}) for keyword, value in alone.items()}
            broken = frozenset(keyword for keyword, issue in issues.items() if issue is not None)
            for keyword in broken - _KNOWN_KEYWORDS:
                del schema[keyword]
            broken &= _KNOWN_KEYWORDS
            if broken or not any(issues.values()):
                first = next((issue for issue in map(issues.get, broken) if issue), reason)
                self._take_out(schema, first, broken)

    def _relax(self) -> None:
        """Loosen keywords that would refuse more values now that a schema in them accepts anything."""
        above: dict[int, list[tuple[Schema, str]]] = {}
        for schema in self._nodes:
            for way, sub in references_of(schema):
                above.setdefault(id(sub), []).append((schema, way[0]))
            if id(schema) in self._targets:
                above.setdefault(id(self._targets[id(schema)]), []).append((schema, "$ref"))
        # In place: the unread schema applies to the value itself, not to a value in it.
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


def _without_subschemas(schema: Schema) -> Schema:
    """Return a schema with its subschemas and references replaced, so that only its own errors remain."""
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
    """The identifiers and reference targets of a published schema."""

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
            if len(path) <= _MAX_DEPTH:
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

    def target(self, schema: Mapping[str, Any], word: str, reference: Any) -> Any:
        """Return the target of a reference, or None; nothing is fetched."""
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
        """Return whether a dynamic anchor has several targets."""
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
