"""Find accepted texts that contain JSON; for the log only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import pydantic_core

from mcp_lenient.schema.shape import shape_of
from mcp_lenient.values.json_values import pointer

if TYPE_CHECKING:
    from mcp_lenient.schema.shape import Shape

_MAX_TEXT: Final = 100_000
_MAX_BRANCHES: Final = 50
_CONTAINERS: Final = {"[": "array", "{": "object"}


def kept_texts(root: Mapping[str, Any], arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return JSON Pointers of texts with a JSON array or object, for parameters that accept either.

    Such a text is valid, so it stays text. Texts of more than 100,000 characters are skipped.
    """
    texts = {
        name: kind
        for name, value in arguments.items()
        if isinstance(value, str)
        and len(value) <= _MAX_TEXT
        and (kind := _CONTAINERS.get(value.lstrip()[:1]))
    }
    if not texts:
        return ()
    declared = shape_of(root, root).properties
    return tuple(
        pointer((name,))
        for name, kind in texts.items()
        if name in declared
        and {"string", kind} <= _types(root, shape_of(root, declared[name]))
        and _is_json(arguments[name])
    )


def _types(root: Mapping[str, Any], shape: Shape) -> set[str]:
    types = set(shape.types or ())
    for branch in shape.branches[:_MAX_BRANCHES]:
        types |= shape_of(root, branch).types or set()
    return types


def _is_json(text: str) -> bool:
    try:
        pydantic_core.from_json(text)
    except ValueError:
        return False
    return True
