"""Observe one decision: rule results, validator answers and the outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from mcp_lenient.engine.schema_validator import WrappedValidator
from mcp_lenient.rules.rules import Guard, Obstacle, Place, Rule
from mcp_lenient.types import Fault, Outcome, Path


class Observer(Protocol):
    """A recorder of one decision, which it cannot change."""

    def applied(self, rule: Rule, place: Place, results: Sequence[tuple[Any, Guard | None]]) -> None:
        """Record what a rule reads the value at a place as, each result with the guard that stops it."""

    def withheld(self, path: Path, obstacle: Obstacle) -> None:
        """Record why a reading of the value or name that was sent at a path is not used."""

    def judged(self, arguments: Mapping[str, Any], faults: tuple[Fault, ...], *, accepted: bool) -> None:
        """Record whether the validator accepts the arguments, and its faults if not."""

    def decided(self, outcome: Outcome) -> None:
        """Record the outcome, including tied readings."""


@dataclass(frozen=True, slots=True)
class ObservedValidator(WrappedValidator):
    """A validator that reports its answers."""

    observer: Observer

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        """Delegate to the validator and report its answer."""
        accepted = self.validator.accepts(arguments)
        faults = () if accepted else self.validator.faults(arguments)
        self.observer.judged(arguments, faults, accepted=accepted)
        return accepted

    def faults(self, arguments: Mapping[str, Any]) -> tuple[Fault, ...]:
        """Delegate to the validator."""
        return self.validator.faults(arguments)
