"""Schemas that ask for a scalar type and for nothing else: checked without a validator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

_UNCONSTRAINED = frozenset(
    "type title description default examples example deprecated readOnly writeOnly $comment".split()
)


def _is_integer(value: Any) -> bool:
    return type(value) is int or (isinstance(value, float) and value.is_integer())


_CHECKS: Mapping[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": _is_integer,
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}


def simple_check(schema: Any) -> Callable[[Any], bool] | None:
    """The check that such a schema comes down to, or None."""
    if (
        isinstance(schema, Mapping)
        and isinstance(schema.get("type"), str)
        and _UNCONSTRAINED.issuperset(schema)
    ):
        return _CHECKS.get(schema["type"])
    return None
