"""Find accepted texts that contain JSON; for the log only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import pydantic_core

from mcp_lenient.values.json_values import pointer

if TYPE_CHECKING:
    from mcp_lenient.schema.node import Node

_MAX_TEXT: Final = 100_000
_CONTAINERS: Final = {"[": "array", "{": "object"}


def json_texts(top: Node, arguments: Mapping[str, Any]) -> tuple[str, ...]:
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
    declared = top.property_nodes
    return tuple(
        pointer((name,))
        for name, kind in texts.items()
        if name in declared
        and {"string", kind} <= _declared_types(declared[name])
        and _is_json(arguments[name])
    )


def _declared_types(node: Node) -> set[str]:
    return {name for branch in node.branches for name in branch.declared_types or ()}


def _is_json(text: str) -> bool:
    try:
        pydantic_core.from_json(text)
    except ValueError:
        return False
    return True
