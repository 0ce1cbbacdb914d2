"""Observe one decision: rule results, validator answers and the outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from mcp_lenient.engine.schema_validator import WrappedValidator
from mcp_lenient.rules.rules import Place, Rule
from mcp_lenient.types import Outcome, ValidationIssue


class Observer(Protocol):
    """A recorder of one decision, which it cannot change."""

    def applied(self, rule: Rule, place: Place, made: Sequence[Any]) -> None:
        """Record what a rule made of the value at a place."""
        ...

    def judged(
        self, arguments: Mapping[str, Any], issues: tuple[ValidationIssue, ...], *, accepted: bool
    ) -> None:
        """Record whether the validator accepts the arguments, and its issues if not."""
        ...

    def decided(self, outcome: Outcome) -> None:
        """Record the outcome, including tied readings."""
        ...


@dataclass(frozen=True, slots=True)
class ObservedValidator(WrappedValidator):
    """A validator that reports its answers."""

    observer: Observer

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        """Delegate to the validator and report its answer."""
        accepted = self.validator.accepts(arguments)
        issues = () if accepted else self.validator.issues(arguments)
        self.observer.judged(arguments, issues, accepted=accepted)
        return accepted

    def issues(self, arguments: Mapping[str, Any]) -> tuple[ValidationIssue, ...]:
        """Delegate to the validator."""
        return self.validator.issues(arguments)
