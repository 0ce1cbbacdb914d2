"""From arguments that a tool refuses to the one candidate that it accepts, or to none.

Pure: nothing here knows FastMCP, does I/O or logs. The validator says what is wrong, :mod:`mcp_lenient.engine.candidates`
gives the cheapest candidates for each such place, the validator decides which of them the tool takes, and only a
candidate that is alone is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mcp_lenient.engine.candidates import structure
from mcp_lenient.engine.ignored_names import ignored_names
from mcp_lenient.engine.names import without_injected
from mcp_lenient.engine.partial import repair_partially
from mcp_lenient.engine.plan import Plan
from mcp_lenient.engine.relocate import relocate
from mcp_lenient.engine.session import OutOfSteps, RepairSession, Scope, scope_of
from mcp_lenient.engine.walk import cheapest, distinct
from mcp_lenient.rules.rule import Apply, Rule, worst_tier
from mcp_lenient.schema.node import SchemaNode
from mcp_lenient.types import Candidate, Outcome, Repair, Tie, ValidationIssue, Validator
from mcp_lenient.values.json_text import TextParseCache, plain
from mcp_lenient.values.json_values import measured
from mcp_lenient.values.numbers import rounds
from mcp_lenient.values.pointers import pointer

_STEPS = 3_000
_PARTIAL_STEPS = 5_000
"""Places looked at before a call is given up; grows with the arguments, so that only a schema that
branches without end can use it up."""


def repair(plan: Plan, arguments: Mapping[str, Any], validator: Validator) -> Outcome:
    """Repair what can be read only one way that the validator accepts.

    Args:
        plan: The schema, and the rules in force.
        arguments: As the caller sent them; never changed.
        validator: What the tool accepts.

    Returns:
        The same arguments when they are accepted, repaired ones when that is certain, else what is wrong.
    """
    if validator.accepts(arguments):
        return Outcome("accepted", arguments)
    return repair_rejected(plan, arguments, validator)


def repair_parsed(plan: Plan, arguments: Mapping[str, Any], validator: Validator) -> Outcome:
    """Repair arguments that were read from text, whose numbers still have their source spelling.

    Args:
        plan: The schema, and the rules in force.
        arguments: What was read, floats as :class:`~mcp_lenient.values.numbers.SpelledFloat`; never changed.
        validator: What the tool accepts.

    Returns:
        As :func:`repair`, with plain floats.
    """
    sent = plain(arguments)
    return (
        Outcome("accepted", sent) if validator.accepts(sent) else repair_rejected(plan, arguments, validator)
    )


def repair_rejected(plan: Plan, arguments: Mapping[str, Any], validator: Validator) -> Outcome:
    """As :func:`repair`, for arguments that the validator has refused already."""
    outcome = _repaired(plan, arguments, validator)
    if outcome.status != "repaired":
        return outcome
    try:
        unread = ignored_names(plan.top, outcome.arguments, validator, outcome.repairs)
    except OutOfSteps:
        sent = plain(dict(arguments))
        return Outcome("refused", sent, faults=validator.faults(sent))
    if not unread:
        return outcome
    issues = tuple(ValidationIssue(path, "overlooked") for path in unread)
    return Outcome("refused", outcome.arguments, outcome.repairs, issues)


def still_wrong(
    plan: Plan, validator: Validator
) -> Callable[[Mapping[str, Any]], tuple[ValidationIssue, ...]]:
    """Return the function that says what is still wrong with arguments once they are repaired."""

    def issues(arguments: Mapping[str, Any]) -> tuple[ValidationIssue, ...]:
        outcome = repair(plan, arguments, validator)
        if outcome.status != "refused":
            return ()
        tied = tuple(ValidationIssue(tie.path, "value") for tie in outcome.ties)
        return (*outcome.faults, *tied) or (ValidationIssue((), "value"),)

    return issues


def _repaired(plan: Plan, arguments: Mapping[str, Any], validator: Validator) -> Outcome:
    size = measured(arguments, plan.policy.limits)
    if size.beyond is not None:
        return Outcome("refused", arguments, faults=(ValidationIssue((), "size", size.beyond),))
    steps = _STEPS + 2 * size.bytes + 10 * size.items
    texts = TextParseCache(plan.policy.limits)
    session = RepairSession(plan, validator.exact_integers, steps, texts)
    if validator.by_schema:
        return _repaired_by_schema(arguments, validator, session, None, ())
    base, relocations, issues = _relocated(dict(arguments), validator, session)
    if relocations and not issues:
        if not rounds(base):
            return Outcome("repaired", plain(base), relocations)
        # The tool takes a number there, and would round it.
        return _repaired_by_schema(base, validator, session, None, relocations)
    return _repaired_by_schema(base, validator, session, issues, relocations)


# mutant: a bound; one more changes no answer
_ROUNDS = 4
"""Relocations within relocations that are followed: arguments out of a wrapper, out of a text, under their names."""


def _relocated(
    sent: dict[str, Any], validator: Validator, session: RepairSession
) -> tuple[dict[str, Any], tuple[Repair, ...], tuple[ValidationIssue, ...]]:
    """Apply relocations until none remain; return the arguments with their source spellings, and the leftover issues."""
    base = sent
    relocations: tuple[Repair, ...] = ()
    issues = validator.faults(plain(base))
    for _ in range(_ROUNDS):
        step = relocate(session.plan.top, base, (), session, scope_of(issues))
        if not step.repairs:
            break
        base, relocations = step.value, (*relocations, *step.repairs)
        issues = validator.faults(plain(base))
    return base, relocations, issues


def _repaired_by_schema(
    arguments: Mapping[str, Any],
    validator: Validator,
    session: RepairSession,
    issues: tuple[ValidationIssue, ...] | None,
    relocations: tuple[Repair, ...],
) -> Outcome:
    """Read what the validator holds something against by the schema; all of it where the validator is the schema."""
    plan = session.plan
    spelled = dict(arguments)
    sent = plain(spelled)
    scope = None if issues is None else scope_of(issues)
    try:
        candidates = [
            candidate
            for candidate in _candidates(spelled, session, scope)
            if validator.accepts(candidate.value)
        ]
        if len(candidates) > 1:
            candidates = distinct(candidates)
        if len(candidates) == 1:
            return Outcome("repaired", candidates[0].value, (*relocations, *candidates[0].repairs))
        if candidates:
            return _tied(sent, candidates, validator, relocations)
        session = RepairSession(
            plan, validator.exact_integers, min(session.steps, _PARTIAL_STEPS), session.texts
        )
        partial = repair_partially(spelled, session, scope)
    except OutOfSteps:
        return Outcome("refused", sent, relocations, validator.faults(sent))
    value = plain(partial.value)
    remaining = validator.faults(value) if partial.repairs or not issues else issues
    if not remaining:
        # So repaired it would be taken, but only against a guard: what was sent is what is refused.
        return Outcome("refused", sent, relocations, validator.faults(sent), tuple(session.ties))
    return Outcome("refused", value, (*relocations, *partial.repairs), remaining, tuple(session.ties))


def _candidates(arguments: dict[str, Any], session: RepairSession, scope: Scope | None) -> list[Candidate]:
    """Return the cheapest candidates for the whole: repaired in place, unwrapped or wrapped."""
    top = session.plan.top
    found = structure(top, arguments, (), session, scope)
    for rule, cost, apply in session.plan.at(top).values.get(dict, ()):
        if found and worst_tier(found[0].cost) < rule.tier:
            break
        found += _other_arguments(rule, cost, apply, arguments, session)
    return [_plain(candidate) for candidate in cheapest(found)]


def _other_arguments(
    rule: Rule, cost: int, apply: Apply, arguments: dict[str, Any], session: RepairSession
) -> Iterator[Candidate]:
    """Yield the candidates for other arguments in place of these; keys that a client added are left out first."""
    top = session.plan.top
    rest, dropped_cost, dropped = without_injected(session.plan, arguments)
    for content in apply(rest):
        record = Repair(rule.name, "", "object", "object")
        for inner in structure(top, content, (), session, None) or _as_is(top, content):
            if worst_tier(inner.cost) < rule.tier:
                yield Candidate(
                    inner.value, dropped_cost + cost + inner.cost, (*dropped, record, *inner.repairs)
                )


def _as_is(node: SchemaNode, value: Any) -> list[Candidate]:
    return [Candidate(value, 0)] if node.takes(value) else []


def _plain(candidate: Candidate) -> Candidate:
    value = plain(candidate.value)
    return candidate if value is candidate.value else Candidate(value, candidate.cost, candidate.repairs)


def _tied(
    sent: dict[str, Any], candidates: list[Candidate], validator: Validator, relocations: tuple[Repair, ...]
) -> Outcome:
    """Refuse the parameters on which the candidates differ; what they agree on is repaired."""
    ties = _ties(candidates)
    open_names = {tie.path[0] for tie in ties}
    first = candidates[0]
    settled = {name: value for name, value in first.value.items() if name not in open_names}
    unsettled = {name: value for name, value in sent.items() if name in open_names}
    pointers = tuple(pointer((name,)) for name in open_names)
    repairs = tuple(
        each
        for each in first.repairs
        if not any(f"{each.pointer}/".startswith(f"{own}/") for own in pointers)
    )
    arguments = {**settled, **unsettled}
    return Outcome("refused", arguments, (*relocations, *repairs), validator.faults(arguments), ties)


def _ties(candidates: list[Candidate]) -> tuple[Tie, ...]:
    """Return the parameters on which the candidates differ, each with its candidates."""
    ties = []
    for name in dict.fromkeys(name for candidate in candidates for name in candidate.value):
        own = distinct(
            Candidate(candidate.value[name], candidate.cost, candidate.repairs)
            for candidate in candidates
            if name in candidate.value
        )
        if len(own) > 1 or any(name not in candidate.value for candidate in candidates):
            ties.append(Tie((name,), tuple(own)))
    return tuple(ties)
