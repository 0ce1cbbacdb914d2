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
_CONTAINERS: Final[Mapping[str, tuple[str, type]]] = {"[": ("array", list), "{": ("object", dict)}


def kept_texts(root: Mapping[str, Any], arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return JSON Pointers of texts with a JSON array or object, for parameters that accept either.

    Such a text is valid, so it stays text. Texts of more than 100,000 characters are skipped.

    Args:
        root: The tool's input schema.
        arguments: The arguments that the tool receives.
    """
    texts = {name: kind for name, value in arguments.items() if (kind := _container(value)) is not None}
    if not texts:
        return ()
    declared = shape_of(root, root).properties
    return tuple(
        pointer((name,))
        for name, (json_type, read) in texts.items()
        if name in declared
        and {"string", json_type} <= _types(root, shape_of(root, declared[name]))
        and _is(arguments[name], read)
    )


def _container(value: object) -> tuple[str, type] | None:
    if not isinstance(value, str) or len(value) > _MAX_TEXT:
        return None
    return _CONTAINERS.get(value.lstrip()[:1])


def _types(root: Mapping[str, Any], shape: Shape) -> set[str]:
    """Return the types of a schema and of its union branches."""
    types = set(shape.types or ())
    for branch in shape.branches[:_MAX_BRANCHES]:
        types |= shape_of(root, branch).types or set()
    return types


def _is(text: str, read: type) -> bool:
    try:
        return isinstance(pydantic_core.from_json(text), read)
    except ValueError:
        return False
