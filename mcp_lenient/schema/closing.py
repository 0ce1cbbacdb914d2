"""Close a schema: where objects declare properties and say nothing of other names, forbid other names."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

from mcp_lenient.schema.checks import compiled
from mcp_lenient.schema.compile import ReadableSchema
from mcp_lenient.schema.drafts import DEFINITIONS, NAMED, ONE, SEVERAL, UNREAD
from mcp_lenient.schema.references import parts_of, resolve

Schema = dict[str, Any]


class _Role(Enum):
    """What a schema is about."""

    VALUE = "closed"
    """A whole value: it is closed."""
    PART = "part"
    """One of several schemas for the same value: only what is inside the value is closed."""
    CONDITION = "condition"
    """Something that must not hold, or decides about other schemas: nothing in it is closed."""


_SETTLED: Final = frozenset(
    "additionalProperties unevaluatedProperties if then else dependentSchemas".split()
) | {UNREAD}
"""Keywords that say something of names which ``properties`` do not declare."""
_UNIONS: Final = ("anyOf", "oneOf")
_NOT_ALONE: Final = frozenset("properties patternProperties allOf anyOf oneOf $ref".split())
_ROLES: Final[Mapping[str, _Role]] = {
    **dict.fromkeys(("allOf", "then", "else", "dependentSchemas"), _Role.PART),
    **dict.fromkeys(("not", "if", "contains", "propertyNames", "contentSchema"), _Role.CONDITION),
}
"""The role of the schemas under a keyword; under any other they are about a value inside this one."""


def closed(read: ReadableSchema) -> ReadableSchema:
    """Return a schema that forbids the names which its objects do not declare.

    An object that says anything of other names (``additionalProperties``, conditions) stays as it is.

    >>> from mcp_lenient.schema.compile import readable
    >>> closed(readable({"type": "object", "properties": {"n": {}}})).root["additionalProperties"]
    False
    """
    root = _Closing(read.root).root()
    return ReadableSchema(root, read.unread, compiled(root).is_valid, read.may_enter)


class _Closing:
    """One schema on its way to being closed."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._names: dict[tuple[int, _Role], str] = {}
        """The copy of a schema that references of another role lead to."""
        self._waiting: deque[tuple[str, Mapping[str, Any], _Role]] = deque()

    def root(self) -> Schema:
        new: Schema = self._copy(self._root, _Role.VALUE)
        definitions: Schema = {}
        while self._waiting:
            name, target, role = self._waiting.popleft()
            definitions[name] = self._copy(target, role)
        if definitions:
            new["$defs"] = {**new.get("$defs", {}), **definitions}
        return new

    def _copy(self, schema: Any, role: _Role) -> Any:
        if not isinstance(schema, Mapping):
            return schema
        alone = role is _Role.VALUE and len(_NOT_ALONE & schema.keys()) <= 1
        new = {keyword: self._below(keyword, value, role, alone) for keyword, value in schema.items()}
        if not alone and isinstance(schema.get("$ref"), str):
            new["$ref"] = self._reference(schema["$ref"], _Role.PART if role is _Role.VALUE else role)
        return new | self._closure(schema, alone) if role is _Role.VALUE else new

    def _below(self, keyword: str, value: Any, role: _Role, alone: bool) -> Any:  # noqa: FBT001 - private
        inner = _role_below(keyword, role, alone=alone)
        if keyword in NAMED and isinstance(value, Mapping):
            return {name: self._copy(sub, inner) for name, sub in value.items()}
        if keyword in SEVERAL and isinstance(value, (list, tuple)):
            return [self._copy(sub, inner) for sub in value]
        return self._copy(value, inner) if keyword in ONE else value

    def _closure(self, schema: Mapping[str, Any], alone: bool) -> Schema:  # noqa: FBT001 - private
        """Return the keyword that closes the object; none where it says something of other names."""
        parts = tuple(parts_of(self._root, schema))
        declaring = any(part.get("properties") for part in parts)
        if not declaring or any(_SETTLED & part.keys() for part in parts) or self._varies(parts):
            return {}
        if len(parts) == 1:
            return {"additionalProperties": False}
        return {} if alone and "$ref" in schema else {"unevaluatedProperties": False}

    def _varies(self, parts: tuple[Mapping[str, Any], ...]) -> bool:
        """Return whether branches of a union declare further names."""
        branches = [branch for part in parts for keyword in _UNIONS for branch in part.get(keyword, ())]
        return any(
            _SETTLED & below.keys() or below.get("properties")
            for branch in branches
            for below in parts_of(self._root, branch)
        )

    def _reference(self, reference: str, role: _Role) -> str:
        target = resolve(self._root, reference)
        if not isinstance(target, Mapping):
            return reference
        key = id(target), role
        if key not in self._names:
            name = f"{role.value}-{len(self._names)}"
            while name in self._root.get("$defs", {}):
                name += "-"
            self._names[key] = name
            self._waiting.append((name, target, role))
        return f"#/$defs/{self._names[key]}"


def _role_below(keyword: str, role: _Role, *, alone: bool) -> _Role:
    if keyword in DEFINITIONS:
        return _Role.VALUE
    if role is _Role.CONDITION:
        return role
    if keyword in _UNIONS:
        return _Role.VALUE if alone else _Role.PART
    return _ROLES.get(keyword, _Role.VALUE)
