"""A tool's own validator, and besides no name that a closed schema does not declare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from mcp_lenient.schema.node import SchemaNode
from mcp_lenient.types import Path, ValidationIssue, Validator
from mcp_lenient.values.limits import MOST_ISSUES

_LOOKS: Final = 20_000
"""Places looked at before the names of a call are taken as they are: unions in one another branch without end."""


@dataclass(frozen=True, slots=True)
class ClosedValidator:
    """A validator that also refuses the names which nothing declares and nobody reads.

    Attributes:
        validator: The tool's own.
        top: Where the arguments stand in the closed schema.
    """

    validator: Validator
    top: SchemaNode

    @property
    def exact_integers(self) -> bool:
        """Whether ``7.0`` is refused for an integer."""
        return self.validator.exact_integers

    @property
    def by_schema(self) -> bool:
        """Whether the published schema alone judges."""
        return self.validator.by_schema

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        """Whether the tool takes these arguments, and every name in them is declared or read."""
        return self.validator.accepts(arguments) and not self._unknown(arguments, accepted=True)

    def issues(self, arguments: Mapping[str, Any]) -> tuple[ValidationIssue, ...]:
        """What the tool refuses, and unknown names."""
        found = self.validator.issues(arguments)
        known = {issue.path for issue in found}
        unknown = self._unknown(arguments, accepted=not found)
        return (*found, *(ValidationIssue(path, "unknown") for path in unknown if path not in known))

    def tells_apart(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        """Whether the tool would get something else from the one than from the other."""
        return self.validator.tells_apart(one, other)

    def _unknown(self, arguments: Mapping[str, Any], *, accepted: bool) -> tuple[Path, ...]:
        found = list(islice(_Walk().unknown(self.top, arguments, ()), MOST_ISSUES))
        if not found or not accepted:
            return tuple(found)
        from mcp_lenient.engine.repair import unread_paths

        # A name that only this validator knows (one of Pydantic's aliases) is read.
        return unread_paths(found, arguments, self.validator)


@dataclass(slots=True)
class _Walk:
    """One walk through arguments."""

    left: int = field(default=_LOOKS)

    def unknown(self, node: SchemaNode, value: Any, path: Path) -> Iterator[Path]:
        """Yield where names stand that no schema declares."""
        self.left -= 1
        if self.left < 0 or not isinstance(value, (Mapping, list)) or node.takes(value):
            return
        if node.shape.branches:
            yield from self._of_branches(node, value, path)
        elif isinstance(value, list):
            item_at = node.item_nodes(mixed=False)
            for index, entry in enumerate(value):
                yield from self.unknown(item_at(index), entry, (*path, index))
        else:
            for key, entry in value.items():
                child = node.property(key) if isinstance(key, str) else None
                if child is not None:
                    yield from self.unknown(child, entry, (*path, key))
                elif node.shape.closed:
                    yield (*path, key)

    def _of_branches(self, node: SchemaNode, value: Any, path: Path) -> tuple[Path, ...]:
        """Return the names that no branch declares; where each branch lacks another one, those of the nearest."""
        found = [tuple(self.unknown(branch, value, path)) for branch in node.possible(value)]
        if not found:
            return ()
        nowhere = frozenset(found[0]).intersection(*found)
        return tuple(each for each in found[0] if each in nowhere) or min(found, key=len)
