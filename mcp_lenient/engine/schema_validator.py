"""Validators: by the published schema, where a tool's own cannot be reached, and around another validator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from mcp_lenient.engine.repair import unread_paths
from mcp_lenient.schema.compile import ReadableSchema, readable
from mcp_lenient.schema.node import SchemaNode, SchemaTree
from mcp_lenient.schema.unions import fits
from mcp_lenient.types import Path, ValidationIssue, Validator
from mcp_lenient.values.limits import MOST_ISSUES

_MAX_DEPTH = 100


@dataclass(frozen=True, slots=True)
class WrappedValidator:
    """A validator that answers as another one does, except where a subclass answers itself."""

    validator: Validator

    @property
    def exact_integers(self) -> bool:
        """Whether ``7.0`` is refused for an integer."""
        return self.validator.exact_integers

    @property
    def by_schema(self) -> bool:
        """Whether only the published schema is checked."""
        return self.validator.by_schema

    def tells_apart(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        """Return whether the tool receives different values from the two."""
        return self.validator.tells_apart(one, other)


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
        found: list[ValidationIssue] = []
        _collect(self._top, arguments, (), found)
        return tuple(dict.fromkeys(found[:MOST_ISSUES]) if len(found) > 1 else found)

    def tells_apart(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:  # noqa: ARG002 - never known
        """Return False: a schema does not say which arguments a tool reads."""
        return False


def _collect(node: SchemaNode, value: Any, path: Path, found: list[ValidationIssue]) -> None:
    """Append the issues of a value: those of its parts or, if they have none, its own."""
    if len(found) >= MOST_ISSUES or node.takes(value):
        return
    before = len(found)
    if node.is_union or len(path) > _MAX_DEPTH:
        pass
    elif node.is_object and isinstance(value, dict):
        _collect_names(node, value, path, found)
        for key, entry in value.items():
            child = node.property(key) if isinstance(key, str) else None
            if child is not None:
                _collect(child, entry, (*path, key), found)
    elif node.is_array and isinstance(value, list):
        for index, entry in enumerate(value):
            _collect(node.item(index, mixed=False), entry, (*path, index), found)
    if len(found) == before:
        found.append(ValidationIssue(path, "value" if _fits(node, value) else "type"))


def _collect_names(
    node: SchemaNode, value: Mapping[Any, Any], path: Path, found: list[ValidationIssue]
) -> None:
    shape = node.shape
    missing = shape.required - value.keys()
    found += [ValidationIssue((*path, name), "missing") for name in sorted(missing)]
    if shape.closed:
        for key in value:
            if not isinstance(key, str) or node.property(key) is None:
                name = key if isinstance(key, (str, int)) else str(key)
                found.append(ValidationIssue((*path, name), "unknown"))


def _fits(node: SchemaNode, value: Any) -> bool:
    """Return whether the JSON type is right, so that the issue is the value."""
    if node.is_union:
        return any(_fits(branch, value) for branch in node.branches)
    return fits(node.types, value)


_LOOKS: Final = 20_000
"""Places looked at before the names of a call are taken as they are: unions in one another branch without end."""


@dataclass(frozen=True, slots=True)
class ClosedValidator(WrappedValidator):
    """A validator that also refuses the names which a closed schema does not declare and nobody reads.

    ``top`` is the node of the arguments in that schema.
    """

    top: SchemaNode

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        """Whether the tool takes these arguments, and every name in them is declared or read."""
        return self.validator.accepts(arguments) and not self._unknown(arguments, accepted=True)

    def issues(self, arguments: Mapping[str, Any]) -> tuple[ValidationIssue, ...]:
        """What the tool refuses, and unknown names."""
        found = self.validator.issues(arguments)
        known = {issue.path for issue in found}
        unknown = self._unknown(arguments, accepted=not found)
        return (*found, *(ValidationIssue(path, "unknown") for path in unknown if path not in known))

    def _unknown(self, arguments: Mapping[str, Any], *, accepted: bool) -> tuple[Path, ...]:
        looks = iter(range(_LOOKS))
        found = list(islice(_undeclared_names(self.top, arguments, (), looks), MOST_ISSUES))
        # A name that only this validator knows (one of Pydantic's aliases) is read.
        return unread_paths(found, arguments, self.validator) if found and accepted else tuple(found)


def _undeclared_names(node: SchemaNode, value: Any, path: Path, looks: Iterator[int]) -> Iterator[Path]:
    if next(looks, None) is None or not isinstance(value, (Mapping, list)) or node.takes(value):
        return
    if node.shape.branches:
        yield from _in_no_branch(node, value, path, looks)
    elif isinstance(value, list):
        item_at = node.item_nodes(mixed=False)
        for index, entry in enumerate(value):
            yield from _undeclared_names(item_at(index), entry, (*path, index), looks)
    else:
        for key, entry in value.items():
            child = node.property(key) if isinstance(key, str) else None
            if child is not None:
                yield from _undeclared_names(child, entry, (*path, key), looks)
            elif node.shape.closed:
                yield (*path, key)


def _in_no_branch(node: SchemaNode, value: Any, path: Path, looks: Iterator[int]) -> tuple[Path, ...]:
    """Return the names that no branch declares; where each branch lacks another one, those of the nearest."""
    found = [tuple(_undeclared_names(branch, value, path, looks)) for branch in node.possible(value)]
    if not found:
        return ()
    nowhere = frozenset(found[0]).intersection(*found)
    return tuple(each for each in found[0] if each in nowhere) or min(found, key=len)
