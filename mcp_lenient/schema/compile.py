"""Make a schema of any draft readable: translate it, bound its cost, take out unreadable parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final
from urllib.parse import quote

from mcp_lenient.errors import SchemaError
from mcp_lenient.schema.checks import Check, compiled
from mcp_lenient.schema.drafts import (
    ANNOTATIONS,
    ASSERTIONS,
    DEFINITIONS,
    NOT_READ,
    SCHEMA_LISTS,
    SCHEMA_MAPS,
    SINGLE_SCHEMAS,
    UNREAD,
    Schema,
    ref_ignores_siblings,
    subschemas,
    to_2020_12,
    with_subschemas,
)
from mcp_lenient.schema.named import NamedSchemas, Resource
from mcp_lenient.schema.references import resolve
from mcp_lenient.types import Path
from mcp_lenient.values.display import encodable
from mcp_lenient.values.json_values import nests_at_most, pointer

_MAX_DEPTH: Final = 200
"""Levels of JSON in a schema, and nested schemas for one value; the validator's limit is 255."""
_DEEPEST_VALUE: Final = 1_000
_MAX_SCHEMAS: Final = 100_000
_MAX_EXPANDED: Final = 2_000
"""Schemas that one value, and one value below it on each level, may be compared with."""
_REASON_LENGTH: Final = 120
_MAX_LISTED: Final = 3
_IN_PLACE: Final = frozenset("$ref allOf anyOf oneOf not if then else dependentSchemas".split())
"""Keywords whose schemas are for the value itself; those of any other are for a value in it."""
_SAME_VALUE: Final = {"prefixItems": "items", "additionalProperties": "properties"}
"""Pairs of keywords: a contained value is validated by one or by the other."""
_BELOW: Final = frozenset("properties patternProperties prefixItems items additionalProperties".split())
"""Keywords about contained values that stay where the rest of a schema cannot be read."""
_INVERTING: Final[Mapping[str, tuple[str, ...]]] = {
    "not": ("not",),
    "if": ("if", "then", "else"),
    "contains": ("contains", "minContains", "maxContains"),
}
"""Keywords that refuse more values if their schema accepts more, with their dependent keywords."""
_KNOWN_KEYWORDS: Final = ASSERTIONS | SCHEMA_MAPS | SCHEMA_LISTS | SINGLE_SCHEMAS
"""Keywords that affect validation; any other may be deleted if it breaks the schema."""


@dataclass(frozen=True, slots=True)
class ReadableSchema:
    """A schema that compiles.

    Attributes:
        root: The schema in 2020-12.
        unread: The parts that are neither validated nor repaired, by JSON Pointer, and why they cannot be read.
        accepts: The compiled check; may raise ValueError for a value that is not JSON.
        recursive: Whether the check may go as deep as a value.
    """

    root: Mapping[str, Any]
    unread: Mapping[str, str]
    accepts: Check
    recursive: bool = False

    def may_enter(self, value: object) -> bool:
        """Return whether the check, written in C or Rust, can walk a value without overflowing the stack."""
        return not self.recursive or nests_at_most(value, _DEEPEST_VALUE)

    @property
    def summary(self) -> str:
        """A sentence that lists the parts taken out."""
        places = [f"{path or '/'} ({why})" for path, why in islice(self.unread.items(), _MAX_LISTED)]
        more = len(self.unread) - len(places)
        return f"not judged or repaired at {', '.join(places)}{f' and {more} more places' if more else ''}"


def readable(schema: Mapping[str, Any] | ReadableSchema) -> ReadableSchema:
    """Make a schema readable; raise SchemaError for one that is not a JSON object."""
    return schema if isinstance(schema, ReadableSchema) else _Translation(schema).result()


class _Translation:
    def __init__(self, published: object) -> None:
        if not isinstance(published, Mapping):
            msg = f"a schema must be an object, got {published!r}."
            raise SchemaError(msg)
        self._ref_ignores_siblings = ref_ignores_siblings(published)
        self._schemas: list[Schema] = []
        self._paths: dict[int, Path] = {}
        """The path of a translated schema, by its id; of one that only references lead to, the published path."""
        self._translated: dict[int, tuple[Path, Schema]] = {}
        """The path and translation of a published schema, by its id."""
        self._targets: dict[int, Schema] = {}
        """The target of a translated ``$ref``, by the id of the schema that has it."""
        self._references: list[tuple[Schema, Resource]] = []
        """The schemas with a ``$ref``, each with the resource that it is in."""
        self._registry = NamedSchemas()
        self._unread: dict[Path, str] = {}
        self._recursive = False
        self._root: Schema = self._translate(published, (), Resource(published))

    def result(self) -> ReadableSchema:
        self._follow_references()
        if self._targets:
            self._remove_costly()
        try:
            return self._relax_and_compile()
        except SchemaError:
            self._remove_broken()
            self._keep_targets()
            return self._relax_and_compile()

    def _relax_and_compile(self) -> ReadableSchema:
        self._relax()
        unread = {pointer(path): reason for path, reason in self._unread.items()}
        return ReadableSchema(self._root, unread, compiled(self._root), recursive=self._recursive)

    # Translating

    def _translate(self, schema: Any, path: Path, resource: Resource, published_path: Path = ()) -> Any:
        if isinstance(schema, bool):
            return schema
        translated: Schema = {}
        self._schemas.append(translated)
        self._paths[id(translated)] = published_path or path
        if not isinstance(schema, Mapping):
            return self._remove_unreadable(translated, "not a schema")
        if len(path) > _MAX_DEPTH or len(self._schemas) > _MAX_SCHEMAS:
            return self._remove_unreadable(translated, "nested too deep, or too many schemas")
        self._translated[id(schema)] = path, translated
        if not (self._ref_ignores_siblings and "$ref" in schema):
            resource = self._registry.enter(schema, resource)
        translated.update(to_2020_12(schema, ref_alone=self._ref_ignores_siblings, is_root=not path))
        self._translate_below(translated, path, resource)
        if not NOT_READ.isdisjoint(translated) or {"$ref", "$dynamicRef"} <= translated.keys():
            unread = (NOT_READ | {"$dynamicRef"}) & translated.keys()
            return self._remove_unreadable(translated, f"{min(unread)} is not read")
        if "$ref" in translated or "$dynamicRef" in translated:
            self._references.append((translated, resource))
        return translated

    def _translate_below(self, translated: Schema, path: Path, resource: Resource) -> None:
        for keyword, value in list(translated.items()):
            here = (*path, keyword)
            if keyword in SCHEMA_MAPS and isinstance(value, Mapping):
                names = [name for name in value if isinstance(name, str) and encodable(name) == name]
                schemas = {name: self._translate(value[name], (*here, name), resource) for name in names}
                translated[keyword] = schemas
                if len(names) < len(value):
                    self._unread.setdefault(here, "a name that is not a JSON string")
                    translated[UNREAD] = True
                    translated.pop("additionalProperties", None)
            elif keyword in SCHEMA_LISTS and isinstance(value, (list, tuple)):
                several = enumerate(value)
                translated[keyword] = [
                    self._translate(sub, (*here, str(at)), resource) for at, sub in several
                ]
            elif keyword in SINGLE_SCHEMAS and isinstance(value, Mapping):
                translated[keyword] = self._translate(value, here, resource)

    def _follow_references(self) -> None:
        for translated, resource in self._references:  # grows meanwhile
            is_dynamic = "$dynamicRef" in translated
            reference = translated.pop("$dynamicRef" if is_dynamic else "$ref")
            referred = self._registry.target_of(reference, resource, is_dynamic=is_dynamic)
            target = None if referred is None else referred.schema
            if isinstance(target, Mapping) and referred is not None:
                if id(target) not in self._translated:
                    path = self._free_place()
                    definition = self._translate(target, path, referred.resource, referred.path)
                    self._root["$defs"][path[-1]] = definition
                path, self._targets[id(translated)] = self._translated[id(target)]
                translated["$ref"] = _reference(path)
            elif isinstance(target, bool):
                translated.update({} if target else {"not": {}})
            else:
                where = "no schema in it, or to several" if is_dynamic else "no schema in it"
                self._remove_unreadable(translated, f"{str(reference)[:_REASON_LENGTH]!r} leads to {where}")

    def _free_place(self) -> Path:
        return "$defs", f"referred-to-{len(self._root.setdefault('$defs', {}))}"

    # Unreadable parts

    def _remove_unreadable(self, schema: Schema, reason: str, broken: frozenset[str] = frozenset()) -> Schema:
        """Remove all keywords of a schema except readable ones about contained values."""
        self._unread.setdefault(self._paths[id(schema)], reason)
        staying = ANNOTATIONS | DEFINITIONS | (_BELOW - broken)
        for keyword in schema.keys() - staying:
            del schema[keyword]
        if "prefixItems" in broken:
            schema.pop("items", None)
        others = schema.get("additionalProperties")
        if not isinstance(others, Mapping) or broken & {"properties", "patternProperties"}:
            schema.pop("additionalProperties", None)
        schema[UNREAD] = True
        self._targets.pop(id(schema), None)
        return schema

    def _remove_costly(self) -> None:
        """Take out what refers to itself for the same value, and what references multiply beyond the bound."""
        for schema, leads_back in self._inner_first(_IN_PLACE):
            if leads_back:
                self._remove_unreadable(schema, "refers to itself for the same value")
        most = max(_MAX_EXPANDED, len(self._schemas))
        reason = f"its references expand to more than {most} schemas, or {_MAX_DEPTH} in a row"
        costs: dict[int, tuple[int, int]] = {}
        for schema, leads_back in self._inner_first():
            self._recursive |= leads_back
            for broken in (frozenset[str](), _BELOW):
                count, depth = costs[id(schema)] = self._cost(schema, costs)
                if count <= most and depth <= _MAX_DEPTH:
                    break
                self._remove_unreadable(schema, reason, broken)
            else:
                costs[id(schema)] = 1, 1

    def _cost(self, schema: Schema, costs: Mapping[int, tuple[int, int]]) -> tuple[int, int]:
        """Return how many schemas a value and one value in it on each level meet, and how many in a row for itself."""
        here, depth = 1, 0
        inside: dict[str, int] = {}
        for keyword, sub in self._edges(schema):
            # A recursive schema counts once: each further level also takes one level of the value.
            count, in_a_row = costs.get(id(sub), (1, 1))
            if keyword in _IN_PLACE:
                here += count
                depth = max(depth, in_a_row)
            else:
                value = _SAME_VALUE.get(keyword, keyword)
                inside[value] = max(inside.get(value, 0), count)
        return here + sum(inside.values()), depth + 1

    def _edges(self, schema: Schema) -> Iterator[tuple[str, Schema]]:
        """Yield each schema that a value of this one, or one in it, is compared with, and the keyword that says so."""
        for keyword, sub in subschemas(schema):
            if keyword not in DEFINITIONS and isinstance(sub, dict):
                yield keyword, sub
        if id(schema) in self._targets:
            yield "$ref", self._targets[id(schema)]

    def _inner_first(self, keywords: frozenset[str] = frozenset()) -> Iterator[tuple[Schema, bool]]:
        """Yield each schema after those that it leads to by these or all keywords, and whether it leads back; linear."""
        is_open: dict[int, bool] = {}
        leading_back: set[int] = set()
        stack: list[tuple[Schema, Iterator[Schema]]] = [({}, iter(self._schemas))]
        while stack:
            schema, rest = stack[-1]
            sub = next(rest, None)
            if sub is None:
                stack.pop()
                is_open[id(schema)] = False
                if stack:
                    yield schema, id(schema) in leading_back
            elif id(sub) not in is_open:
                is_open[id(sub)] = True
                edges = [below for word, below in self._edges(sub) if not keywords or word in keywords]
                stack.append((sub, iter(edges)))
            elif is_open[id(sub)]:
                leading_back.add(id(schema))

    def _remove_broken(self) -> None:
        for schema in self._schemas:
            # With its subschemas and reference replaced, only its own errors remain.
            alone = with_subschemas({k: v for k, v in schema.items() if k != "$ref"}, lambda _sub: True)
            reason = _fault(alone)
            if reason is None:
                continue
            every_fault = {keyword: _fault({keyword: value}) for keyword, value in alone.items()}
            faults = {keyword: fault for keyword, fault in every_fault.items() if fault}
            for keyword in faults.keys() - _KNOWN_KEYWORDS:
                del schema[keyword]
            of_keyword = {keyword: fault for keyword, fault in faults.items() if keyword in _KNOWN_KEYWORDS}
            if of_keyword or not faults:
                first_reason = next(iter(of_keyword.values()), reason)
                self._remove_unreadable(schema, first_reason, frozenset(of_keyword))

    def _keep_targets(self) -> None:
        """Move the targets of references out of the parts that were taken out."""
        for schema in self._schemas:
            target = self._targets.get(id(schema))
            if target is not None and resolve(self._root, schema["$ref"]) is not target:
                path = self._free_place()
                self._root["$defs"][path[-1]] = target
                schema["$ref"] = _reference(path)

    def _relax(self) -> None:
        """Loosen keywords that would refuse more values now that a schema in them accepts anything."""
        above: dict[int, list[tuple[Schema, str]]] = {}
        for schema in self._schemas:
            for keyword, sub in self._edges(schema):
                above.setdefault(id(sub), []).append((schema, keyword))
        waiting = [schema for schema in self._schemas if UNREAD in schema]
        for schema in waiting:
            for parent, keyword in above.pop(id(schema), ()):
                _loosen(parent, keyword)
                waiting.append(parent)


def _reference(path: Path) -> str:
    return "#" + quote(pointer(path), safe="/~$")


def _loosen(parent: Schema, keyword: str) -> None:
    if keyword in _INVERTING and keyword in parent:
        for dependent in _INVERTING[keyword]:
            parent.pop(dependent, None)
        parent[UNREAD] = True
    if keyword == "oneOf" and "oneOf" in parent:
        either = {"anyOf": parent.pop("oneOf")}
        parent.update({"allOf": [*parent.get("allOf", ()), either]} if "anyOf" in parent else either)
    if keyword in _IN_PLACE or keyword in _INVERTING:
        parent.pop("unevaluatedProperties", None)
        parent.pop("unevaluatedItems", None)


def _fault(schema: Schema) -> str | None:
    try:
        compiled(schema)
    except SchemaError as error:
        return str(error).removeprefix("the schema cannot be compiled: ")[:_REASON_LENGTH]
    return None
