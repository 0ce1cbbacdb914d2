"""Observe one decision: rule results, validator answers and the outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from mcp_lenient.engine.repair import Plan
from mcp_lenient.engine.schema_validator import WrappedValidator
from mcp_lenient.rules.rules import Apply, Rule, Site
from mcp_lenient.types import Outcome, ValidationIssue


class Observer(Protocol):
    """A recorder of one decision, which it cannot change."""

    def applied(self, rule: Rule, site: Site, value: Any, made: Any) -> None:
        """Record a rule's result for the value, names or arguments it was given."""
        ...

    def judged(
        self, arguments: Mapping[str, Any], issues: tuple[ValidationIssue, ...], *, accepted: bool
    ) -> None:
        """Record whether the validator accepts the arguments, and its issues if not."""
        ...

    def decided(self, outcome: Outcome) -> None:
        """Record the outcome, including tied candidates."""
        ...


def observed_plan(plan: Plan, observer: Observer) -> Plan:
    """Return a copy of the plan whose rules report to an observer."""
    rules = tuple(replace(rule, build=_Reporting(rule, observer)) for rule in plan.policy.rules)
    return Plan(plan.root, plan.policy.changed(rules=rules), destructive=plan.destructive, tool=plan.tool)


@dataclass(frozen=True, slots=True)
class _Reporting:
    """A rule factory whose rules report their results."""

    rule: Rule
    observer: Observer

    def __call__(self, site: Site) -> Apply | None:
        apply = self.rule.build(site)
        if apply is None:
            return None

        def reported(value: Any, *more: Any) -> Any:
            made = apply(value, *more)
            self.observer.applied(self.rule, site, value, made)
            return made

        return reported


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
