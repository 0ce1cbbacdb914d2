"""Find the code of an author in a Pydantic core schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from mcp_lenient.declare.normalizers.annotation import Chain, Custom

_NOT_SCHEMAS: Final = frozenset({"metadata", "serialization", "default", "expected", "members"})
_NOT_THE_AUTHORS: Final = frozenset({"pydantic", "pydantic_core", "builtins", "mcp_lenient"})


def schemas_in(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Return a Pydantic core schema and all schemas inside it."""
    pending: list[Any] = [schema]
    while pending:
        part = pending.pop()
        if isinstance(part, (list, tuple)):
            pending.extend(part)
        elif isinstance(part, dict):
            is_schema = isinstance(part.get("type"), str)
            if is_schema:
                yield part
            pending.extend(value for name, value in part.items() if not (is_schema and name in _NOT_SCHEMAS))


def runs_authors_code(schema: Mapping[str, Any]) -> bool:
    """Return whether validation by this core schema, not by those inside it, runs Python code of the author."""
    if schema["type"].startswith("function-"):
        return _is_authors(schema["function"]["function"])
    if schema.get("custom_init") or schema.get("post_init"):
        return True
    return any(_is_authors(schema.get(name)) for name in ("discriminator", "missing", "default_factory"))


def _is_authors(function: object) -> bool:
    """Return whether this is Python code from outside Pydantic and the standard library.

    A closure of Pydantic's counts as the author's, since it may contain the author's predicate.
    """
    if isinstance(function, Chain):
        return any(isinstance(normalizer, Custom) for normalizer in function.normalizers)
    module = getattr(function, "__module__", None)
    if not callable(function) or module is None:
        return False
    is_closure = "<locals>" in getattr(function, "__qualname__", "")
    return is_closure or module.partition(".")[0] not in _NOT_THE_AUTHORS
