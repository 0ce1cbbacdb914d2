"""Validators: by the published schema, where a tool's own cannot be reached, and around another validator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

from mcp_lenient.engine.faults import find_faults
from mcp_lenient.engine.ignored import misplaced_body, names_in_wrong_case, unread_paths
from mcp_lenient.schema.compile import ReadableSchema, readable
from mcp_lenient.schema.node import Node, Tree
from mcp_lenient.types import Fault, Path, Validator
from mcp_lenient.values.language import Text
from mcp_lenient.values.markup import leaked_markup, names_in_markup


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

    @property
    def runs_code(self) -> bool:
        """Whether it runs code of the tool's author."""
        return self.validator.runs_code

    def is_strict_at(self, path: Path) -> bool:
        """Return whether a scalar's JSON type may not be changed at a place."""
        return self.validator.is_strict_at(path)

    def distinguishes(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        """Return whether the tool receives different values from the two."""
        return self.validator.distinguishes(one, other)


class PublishedSchemaValidator:
    """A validator that uses a published schema, of any draft; unreadable parts accept any value.

    >>> validator = PublishedSchemaValidator({"type": "object", "properties": {"n": {"type": "integer"}}})
    >>> validator.accepts({"n": 1}), validator.faults({"n": "1"})
    (True, (Fault(path=('n',), kind='type', detail=None, error_code=None, reason=None, keyword='type'),))

    ``top`` is the node of the arguments, if the schema has been read before. Raises SchemaError for one that is not a JSON
    object.
    """

    exact_integers = False
    by_schema = True
    runs_code = False

    def __init__(self, schema: Mapping[str, Any] | ReadableSchema, top: Node | None = None) -> None:
        read = readable(schema)
        self._top = top or Tree(read).top
        self._may_enter = read.may_enter
        self.corrects_names = False

    def correcting_names(self) -> PublishedSchemaValidator:
        """Return a copy that also refuses names which nothing would read, if a declared, absent one is meant."""
        other = copy(self)
        other.corrects_names = True
        return other

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether the schema accepts these arguments; values that are not JSON are refused."""
        is_accepted = self._may_enter(arguments) and self._top.accepts(arguments)
        return is_accepted and not any(self._unread(arguments))

    def faults(self, arguments: Mapping[str, Any]) -> tuple[Fault, ...]:
        """Return what the schema refuses of these arguments, from the top down, at most 1,000 faults."""
        if not self._may_enter(arguments):
            return (Fault((), "size"),)
        unread = (Fault(path, "unknown") for path in self._unread(arguments))
        return (*find_faults(self._top, arguments), *unread)

    def _unread(self, arguments: Mapping[str, Any]) -> Iterator[Path]:
        """Yield names in another case style, and a wrapper around declared names."""
        if self.corrects_names:
            yield from names_in_wrong_case(self._top, arguments)
            yield from misplaced_body(self._top, arguments)

    def is_strict_at(self, path: Path) -> bool:  # noqa: ARG002 - never known
        """Return False: a schema does not say how strictly it is applied."""
        return False

    def distinguishes(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:  # noqa: ARG002 - never known
        """Return False: a schema does not say which arguments a tool reads."""
        return False


@dataclass(frozen=True, slots=True)
class ClosedValidator(WrappedValidator):
    """A validator that also refuses the names which a closed schema, of this top, does not declare and nobody reads."""

    top: Node

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        """Whether the tool takes these arguments, and every name in them is declared or read."""
        return self.validator.accepts(arguments) and not self._unknown(arguments, accepted=True)

    def faults(self, arguments: Mapping[str, Any]) -> tuple[Fault, ...]:
        """What the tool refuses, and unknown names."""
        validator_faults = self.validator.faults(arguments)
        refused = {fault.path for fault in validator_faults}
        unknown = self._unknown(arguments, accepted=not validator_faults)
        return (*validator_faults, *(Fault(path, "unknown") for path in unknown if path not in refused))

    def _unknown(self, arguments: Mapping[str, Any], *, accepted: bool) -> tuple[Path, ...]:
        paths = [fault.path for fault in find_faults(self.top, arguments) if fault.kind == "unknown"]
        # A name that only this validator knows (one of Pydantic's aliases) is read.
        return unread_paths(paths, arguments, self.validator) if paths and accepted else tuple(paths)


@dataclass(frozen=True, slots=True)
class MarkupValidator(WrappedValidator):
    """A validator that also refuses texts that go on with the markup of their call."""

    top: Node

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether the tool accepts these arguments, and no text of them holds the markup of the call."""
        return not leaked_markup(arguments) and self.validator.accepts(arguments)

    def faults(self, arguments: Mapping[str, Any]) -> tuple[Fault, ...]:
        """Return what the tool refuses, and each text that holds markup."""
        reasons = {key: self._reason(arguments[key]) for key in leaked_markup(arguments)}
        leaked = (Fault((key,), "value", reason=reason) for key, reason in reasons.items())
        return (*self.validator.faults(arguments), *leaked)

    def _reason(self, text: str) -> Text:
        names = [f"'{name}'" for name in dict.fromkeys(names_in_markup(text)) if name in self.top.properties]
        if not names:
            return Text("it goes on with the markup of the call; send the text without it")
        return Text(
            "it goes on with the markup of {names}; send each as a parameter of its own",
            names=", ".join(names),
        )
