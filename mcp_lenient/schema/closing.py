"""Close a schema: where objects declare properties and say nothing of other names, forbid other names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcp_lenient.schema.checks import compiled
from mcp_lenient.schema.compile import ReadableSchema
from mcp_lenient.schema.drafts import CONDITIONS, DEFINITIONS, UNREAD, subschemas, with_subschemas
from mcp_lenient.schema.references import Parts, Schema, parts_of, resolve

_SETTLED: Final = frozenset(
    "additionalProperties unevaluatedProperties if then else dependentSchemas".split()
) | {UNREAD}
"""Keywords that say something of names which ``properties`` do not declare."""
_UNIONS: Final = frozenset({"anyOf", "oneOf"})
_NOT_ALONE: Final = frozenset("properties patternProperties allOf anyOf oneOf $ref".split())
_PARTS: Final = frozenset("allOf then else dependentSchemas".split())
"""Keywords whose schemas are for the same value: only what is inside the value is closed."""
_VALUE, _PART, _CONDITION = range(3)


def closed(read: ReadableSchema) -> ReadableSchema:
    """Return a schema that forbids the names which its objects do not declare.

    An object that says anything of other names (``additionalProperties``, conditions) stays as it is, and so does one
    that elsewhere is a part of a larger object.
    """
    root = _Closing(read.root).copy(read.root)
    return ReadableSchema(root, read.unread, compiled(root), recursive=read.recursive)


class _Closing:
    def __init__(self, root: Schema) -> None:
        self._root = root
        self._met: set[tuple[int, int]] = set()
        """The id and role of each schema in the root."""
        waiting: list[tuple[Any, int]] = [(root, _VALUE)]
        while waiting:
            schema, role = waiting.pop()
            if isinstance(schema, Mapping) and (id(schema), role) not in self._met:
                self._met.add((id(schema), role))
                branch_role = role if role or _is_alone(schema) else _PART
                waiting += [(sub, _role(keyword, role, branch_role)) for keyword, sub in subschemas(schema)]
                waiting.append((resolve(root, schema.get("$ref", "")), branch_role))

    def copy(self, schema: Any) -> Any:
        if not isinstance(schema, Mapping):
            return schema
        new = with_subschemas(schema, self.copy)
        is_open = not self._met.isdisjoint({(id(schema), _PART), (id(schema), _CONDITION)})
        return new if is_open else {**new, **self._closure(schema)}

    def _closure(self, schema: Schema) -> Schema:
        """Return the keyword that closes an object; none if that keyword describes other names."""
        parts = parts_of(self._root, schema)
        has_none = schema is self._root and _NOT_ALONE.isdisjoint(schema)  # a tool without parameters
        declares = has_none or any(part.get("properties") for part in parts)
        if not declares or any(_SETTLED & part.keys() for part in parts) or self._varies(parts):
            return {}
        if len(parts) == 1:
            return {"additionalProperties": False}
        return {} if _is_alone(schema) and "$ref" in schema else {"unevaluatedProperties": False}

    def _varies(self, parts: Parts) -> bool:
        branches = [branch for part in parts for keyword in _UNIONS for branch in part.get(keyword, ())]
        below = (part for branch in branches for part in parts_of(self._root, branch))
        return any(_SETTLED & part.keys() or part.get("properties") for part in below)


def _is_alone(schema: Schema) -> bool:
    """Return whether at most one keyword says which names an object has."""
    return len(_NOT_ALONE & schema.keys()) <= 1


def _role(keyword: str, role: int, branch_role: int) -> int:
    if keyword in DEFINITIONS:
        return _VALUE
    if role == _CONDITION or keyword in CONDITIONS:
        return _CONDITION
    if keyword in _UNIONS:
        return branch_role
    return _PART if keyword in _PARTS else _VALUE
