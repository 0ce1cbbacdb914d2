"""Translate keywords of older drafts and of OpenAPI 3.0 to JSON Schema 2020-12, one schema at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

NOT_READ: Final = frozenset("$recursiveRef extends disallow".split())
"""Keywords that no tool was seen to use; a schema that has one is not read."""
ANNOTATIONS: Final = frozenset(
    "title description default examples example deprecated readOnly writeOnly $comment $schema $id".split()
)
"""Keywords that do not affect validation."""
DEFINITIONS: Final = frozenset({"$defs", "definitions"})

UNREAD: Final = "x-mcp-lenient-unread"
"""Our keyword for a schema that cannot be read: any value is valid, and no rule applies."""
DEFAULT: Final = "x-mcp-lenient-default"
"""Our keyword for the union of a schema, its first branch, and the default that the schema states and refuses."""
SINGLE_SCHEMAS: Final = frozenset(
    "additionalProperties unevaluatedProperties unevaluatedItems items contains propertyNames not if then else "
    "contentSchema".split()
)
"""Keywords whose value is a schema."""
SCHEMA_LISTS: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
"""Keywords whose value is a list of schemas."""
SCHEMA_MAPS: Final = frozenset(
    {"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"}
)
"""Keywords whose value maps names to schemas."""
CONDITIONS: Final = frozenset("not if contains propertyNames contentSchema".split())
"""Keywords whose schemas must not hold, or decide about others: they are neither closed nor widened."""
ASSERTIONS: Final = frozenset(
    "type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern "
    "maxItems minItems uniqueItems maxContains minContains maxProperties minProperties required dependentRequired "
    "format contentEncoding contentMediaType".split()
)
"""Assertion keywords of 2020-12 without subschemas."""

_REF_ALONE: Final = re.compile(r"draft-0[3-7]/")
_BESIDE_REF: Final = ANNOTATIONS | DEFINITIONS | {"$ref", "nullable", "x-nullable"}
_DROPPED: Final = ("$schema", "$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", DEFAULT)
_OUTSIDE_UNION: Final = ANNOTATIONS | DEFINITIONS | {"discriminator"}

Schema = dict[str, Any]


def ref_ignores_siblings(root: Mapping[str, Any]) -> bool:
    """Return whether the schema's dialect ignores keywords beside ``$ref``."""
    return _REF_ALONE.search(str(root.get("$schema"))) is not None


def subschemas(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each subschema of a translated schema, with its keyword; values may be invalid schemas."""
    for keyword, value in schema.items():
        if keyword in SCHEMA_MAPS and isinstance(value, Mapping):
            yield from ((keyword, sub) for sub in value.values())
        elif keyword in SCHEMA_LISTS and isinstance(value, (list, tuple)):
            yield from ((keyword, sub) for sub in value)
        elif keyword in SINGLE_SCHEMAS:
            yield keyword, value


def every_schema(root: Any) -> Iterator[Mapping[str, Any]]:
    """Yield a translated schema and all schemas in it."""
    waiting = [root]
    for schema in waiting:
        if isinstance(schema, Mapping):
            yield schema
            waiting += [sub for _, sub in subschemas(schema)]


def with_subschemas(schema: Mapping[str, Any], change: Callable[[Any], Any]) -> Schema:
    """Return a copy of a translated schema with ``change(sub)`` for each subschema."""
    new = dict(schema)
    for keyword, value in schema.items():
        if keyword in SCHEMA_MAPS and isinstance(value, Mapping):
            new[keyword] = {name: change(sub) for name, sub in value.items()}
        elif keyword in SCHEMA_LISTS and isinstance(value, (list, tuple)):
            new[keyword] = [change(sub) for sub in value]
        elif keyword in SINGLE_SCHEMAS and isinstance(value, Mapping):
            new[keyword] = change(value)
    return new


def to_2020_12(schema: Mapping[str, Any], *, ref_alone: bool, is_root: bool) -> Schema:
    """Return a copy of one schema translated to 2020-12; its subschemas are the same objects."""
    new = {name: value for name, value in schema.items() if isinstance(name, str) and name not in _DROPPED}
    if ref_alone and isinstance(new.get("$ref"), str):
        new = {keyword: value for keyword, value in new.items() if keyword in _BESIDE_REF}
    for keyword in DEFINITIONS & new.keys():
        if not isinstance(new[keyword], Mapping):
            del new[keyword]
    for translate in (_limits, _tuple_items, _required, _lists, _dependencies):
        translate(new)
    return new if is_root else _nullable_as_union(new)


def _limits(new: Schema) -> None:
    for exclusive, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(new.get(exclusive), bool) and new.pop(exclusive) and limit in new:
            new[exclusive] = new.pop(limit)
    if "divisibleBy" in new:
        new.setdefault("multipleOf", new.pop("divisibleBy"))


def _tuple_items(new: Schema) -> None:
    rest = new.pop("additionalItems", None)
    items = new.get("items")
    if not isinstance(items, (list, tuple)) or "prefixItems" in new:
        return
    del new["items"]
    if items:
        new["prefixItems"] = list(items)
    if rest is not None:
        new["items"] = rest


def _required(new: Schema) -> None:
    if isinstance(new.get("required"), bool):
        del new["required"]
    properties, names = new.get("properties"), new.get("required", ())
    subs = properties.items() if isinstance(properties, Mapping) else ()
    required = [name for name, sub in subs if isinstance(sub, Mapping) and sub.get("required") is True]
    if required and isinstance(names, (list, tuple)):
        new["required"] = [*names, *required]


def _lists(new: Schema) -> None:
    """Remove the type ``any`` of draft 3, and the duplicates that 2020-12 forbids."""
    named = new.get("type")
    if named == "any" or (isinstance(named, (list, tuple)) and "any" in named):
        del new["type"]
    for keyword in ("required", "type"):
        names = new.get(keyword)
        if isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names):
            new[keyword] = list(dict.fromkeys(names))


def _dependencies(new: Schema) -> None:
    dependencies = new.get("dependencies")
    if not isinstance(dependencies, Mapping):
        return
    del new["dependencies"]
    for name, needed in dependencies.items():
        is_names = isinstance(needed, (str, list, tuple))
        keyword = "dependentRequired" if is_names else "dependentSchemas"
        declared = new.get(keyword)
        value = [needed] if isinstance(needed, str) else needed
        new[keyword] = {**(declared if isinstance(declared, Mapping) else {}), name: value}


def _nullable_as_union(new: Schema) -> Schema:
    flags = [new.pop(keyword, None) for keyword in ("nullable", "x-nullable")]
    inside = {keyword: value for keyword, value in new.items() if keyword not in _OUTSIDE_UNION}
    if True not in flags or not inside:
        return new
    outside = {keyword: value for keyword, value in new.items() if keyword in _OUTSIDE_UNION}
    return {**outside, "anyOf": [inside, {"type": "null"}]}
