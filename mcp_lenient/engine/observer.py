"""Watch one decision: what each rule made, what the validator said, what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from mcp_lenient.engine.plan import Plan
from mcp_lenient.rules.rules import Apply, Rule, Site
from mcp_lenient.types import Outcome, ValidationIssue, Validator


class Observer(Protocol):
    """Takes notes of one decision; nothing that it does changes the decision."""

    def applied(self, rule: Rule, site: Site, value: Any, made: Any) -> None:
        """Note what a rule made of the value, names or arguments that it looked at."""
        ...

    def judged(
        self, arguments: Mapping[str, Any], issues: tuple[ValidationIssue, ...], *, accepted: bool
    ) -> None:
        """Note whether the validator accepts whole arguments, and its issues where it does not."""
        ...

    def decided(self, outcome: Outcome) -> None:
        """Note the outcome, with the readings that tied."""
        ...


def observed_plan(plan: Plan, observer: Observer) -> Plan:
    """Return a plan for one decision, with rules that report to an observer."""
    rules = tuple(replace(rule, build=_Reporting(rule, observer)) for rule in plan.policy.rules)
    return Plan(plan.root, plan.policy.changed(rules=rules), destructive=plan.destructive, tool=plan.tool)


@dataclass(frozen=True, slots=True)
class _Reporting:
    """The factory of a rule that reports what it makes."""

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
    """A validator that reports what it says of whole arguments."""

    inner: Validator
    observer: Observer

    @property
    def exact_integers(self) -> bool:
        """As of the validator."""
        return self.inner.exact_integers

    @property
    def by_schema(self) -> bool:
        """As of the validator."""
        return self.inner.by_schema

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        """Answer as the validator does, and report it."""
        accepted = self.inner.accepts(arguments)
        issues = () if accepted else self.inner.issues(arguments)
        self.observer.judged(arguments, issues, accepted=accepted)
        return accepted

    def issues(self, arguments: Mapping[str, Any]) -> tuple[ValidationIssue, ...]:
        """As of the validator."""
        return self.inner.issues(arguments)

    def tells_apart(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        """As of the validator."""
        return self.inner.tells_apart(one, other)
