"""Observe one decision: rule results, validator answers and the outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from mcp_lenient.engine.repair import Plan
from mcp_lenient.rules.rules import Apply, Rule, Site
from mcp_lenient.types import Outcome, ValidationIssue, Validator


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
class ObservedValidator:
    """A validator that reports its answers."""

    inner: Validator
    observer: Observer

    @property
    def exact_integers(self) -> bool:
        """Whether ``7.0`` is refused for an integer."""
        return self.inner.exact_integers

    @property
    def by_schema(self) -> bool:
        """Whether only the published schema is checked."""
        return self.inner.by_schema

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        """Delegate to the validator and report its answer."""
        accepted = self.inner.accepts(arguments)
        issues = () if accepted else self.inner.issues(arguments)
        self.observer.judged(arguments, issues, accepted=accepted)
        return accepted

    def issues(self, arguments: Mapping[str, Any]) -> tuple[ValidationIssue, ...]:
        """Delegate to the validator."""
        return self.inner.issues(arguments)

    def tells_apart(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        """Delegate to the validator."""
        return self.inner.tells_apart(one, other)
