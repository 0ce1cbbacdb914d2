"""Validation by the published schema, for tools whose own validator cannot be reached."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from mcp_lenient.schema.compile import ReadableSchema, readable
from mcp_lenient.schema.node import SchemaNode, SchemaTree
from mcp_lenient.schema.unions import fits
from mcp_lenient.types import Path, ValidationIssue
from mcp_lenient.values.limits import MOST_ISSUES

_MAX_DEPTH = 100


class PublishedSchemaValidator:
    """A validator that uses a published schema.

    >>> validator = PublishedSchemaValidator({"type": "object", "properties": {"n": {"type": "integer"}}})
    >>> validator.accepts({"n": 1}), validator.issues({"n": "1"})
    (True, (ValidationIssue(path=('n',), kind='type', detail=None, error_code=None, reason=None),))

    Args:
        schema: The input schema of a tool, of any draft; unreadable parts accept any value.

    Raises:
        SchemaError: When the schema is not a JSON object.
    """

    exact_integers = False
    by_schema = True

    def __init__(self, schema: Mapping[str, Any] | ReadableSchema) -> None:
        read = readable(schema)
        self._top = SchemaTree(read).top
        self._may_enter = read.may_enter

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether the schema accepts these arguments; values that are not JSON are refused."""
        return self._may_enter(arguments) and self._top.takes(arguments)

    def issues(self, arguments: Mapping[str, Any]) -> tuple[ValidationIssue, ...]:
        """Return the schema's issues with these arguments, from the top down, at most 1,000.

        Branches of a union are not searched, since any of them may be the intended one.
        """
        # Not the validator's own errors: listing them all takes unbounded time in recursive unions.
        if not self._may_enter(arguments):
            return (ValidationIssue((), "size"),)
        return tuple(dict.fromkeys(islice(_issues(self._top, arguments, ()), MOST_ISSUES)))

    def tells_apart(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:  # noqa: ARG002 - never known
        """Return False: a schema does not say which arguments a tool reads."""
        return False


def _issues(node: SchemaNode, value: Any, path: Path) -> Iterator[ValidationIssue]:
    if node.takes(value):
        return
    below = iter(()) if node.is_union or len(path) > _MAX_DEPTH else _below(node, value, path)
    first = next(below, None)
    if first is None:
        yield ValidationIssue(path, "value" if _fits(node, value) else "type")
        return
    yield first
    yield from below


def _below(node: SchemaNode, value: Any, path: Path) -> Iterator[ValidationIssue]:
    if node.is_object and isinstance(value, dict):
        yield from _names(node, value, path)
        for key, entry in value.items():
            child = node.property(key) if isinstance(key, str) else None
            if child is not None:
                yield from _issues(child, entry, (*path, key))
    elif node.is_array and isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _issues(node.item(index, mixed=False), entry, (*path, index))


def _names(node: SchemaNode, value: Mapping[Any, Any], path: Path) -> Iterator[ValidationIssue]:
    shape = node.shape
    for name in sorted(shape.required - value.keys()):
        yield ValidationIssue((*path, name), "missing")
    if shape.closed:
        for key in value:
            if not isinstance(key, str) or node.property(key) is None:
                yield ValidationIssue((*path, key if isinstance(key, (str, int)) else str(key)), "unknown")


def _fits(node: SchemaNode, value: Any) -> bool:
    """Return whether the JSON type is right, so that the issue is the value."""
    if node.is_union:
        return any(_fits(branch, value) for branch in node.branches)
    return fits(node.types, value)
