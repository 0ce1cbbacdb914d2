"""From arguments that a tool refuses to the one reading it accepts, or to none.

Pure: nothing here knows FastMCP, does I/O or logs. The judge says what is wrong, :mod:`mcp_lenient.engine.candidates`
gives the cheapest readings of each place that is, the judge decides which of them the tool takes, and only
a reading that is alone is used.
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
_MENDING_STEPS = 5_000
"""Places looked at before a call is given up; grows with the arguments, so that only a schema that
branches without end can use it up."""


def repair(plan: Plan, arguments: Mapping[str, Any], judge: Validator) -> Outcome:
    """Repair what has exactly one reading that the judge accepts.

    Args:
        plan: The compiled schema and policy.
        arguments: As the caller sent them; never changed.
        judge: What the tool accepts.

    Returns:
        The same arguments when they are accepted, repaired ones when that is certain, else what is wrong.
    """
    if judge.accepts(arguments):
        return Outcome("accepted", arguments)
    return repair_rejected(plan, arguments, judge)


def repair_parsed(plan: Plan, arguments: Mapping[str, Any], judge: Validator) -> Outcome:
    """Repair arguments that were read from text, whose numbers still have their source spelling.

    Args:
        plan: The compiled schema and policy.
        arguments: What was read, floats as :class:`~mcp_lenient.values.numbers.SpelledFloat`; never changed.
        judge: What the tool accepts.

    Returns:
        As :func:`repair`, with plain floats.
    """
    sent = plain(arguments)
    return Outcome("accepted", sent) if judge.accepts(sent) else repair_rejected(plan, arguments, judge)


def repair_rejected(plan: Plan, arguments: Mapping[str, Any], judge: Validator) -> Outcome:
    """As :func:`repair`, for arguments of which the judge has said already that it does not accept them."""
    outcome = _repaired(plan, arguments, judge)
    if outcome.status != "repaired":
        return outcome
    try:
        unread = ignored_names(plan.top, outcome.arguments, judge, outcome.repairs)
    except OutOfSteps:
        sent = plain(dict(arguments))
        return Outcome("refused", sent, faults=judge.faults(sent))
    if not unread:
        return outcome
    faults = tuple(ValidationIssue(path, "overlooked") for path in unread)
    return Outcome("refused", outcome.arguments, outcome.repairs, faults)


def still_wrong(plan: Plan, judge: Validator) -> Callable[[Mapping[str, Any]], tuple[ValidationIssue, ...]]:
    """Return the function that says what is still wrong with arguments once they are repaired."""

    def faults(arguments: Mapping[str, Any]) -> tuple[ValidationIssue, ...]:
        outcome = repair(plan, arguments, judge)
        if outcome.status != "refused":
            return ()
        tied = tuple(ValidationIssue(tie.path, "value") for tie in outcome.ties)
        return (*outcome.faults, *tied) or (ValidationIssue((), "value"),)

    return faults


def _repaired(plan: Plan, arguments: Mapping[str, Any], judge: Validator) -> Outcome:
    size = measured(arguments, plan.policy.limits)
    if size.beyond is not None:
        return Outcome("refused", arguments, faults=(ValidationIssue((), "size", size.beyond),))
    steps = _STEPS + 2 * size.bytes + 10 * size.items
    texts = TextParseCache(plan.policy.limits)
    session = RepairSession(plan, judge.exact_integers, steps, texts)
    if judge.by_schema:
        return _by_reading(arguments, judge, session, None, ())
    base, moves, faults = _moves(dict(arguments), judge, session)
    if moves and not faults:
        if not rounds(base):
            return Outcome("repaired", plain(base), moves)
        # The tool takes a number there, and would round it.
        return _by_reading(base, judge, session, None, moves)
    return _by_reading(base, judge, session, faults, moves)


_ROUNDS = 4
"""Moves within moves that are followed: arguments out of a wrapper, out of a text, under their names."""


def _moves(
    sent: dict[str, Any], judge: Validator, session: RepairSession
) -> tuple[dict[str, Any], tuple[Repair, ...], tuple[ValidationIssue, ...]]:
    """Apply moves until none remain; return the arguments with their source spellings, and the leftover faults."""
    base = sent
    moves: tuple[Repair, ...] = ()
    faults = judge.faults(plain(base))
    for _ in range(_ROUNDS):
        step = relocate(session.plan.top, base, (), session, scope_of(faults))
        if not step.repairs:
            break
        base, moves = step.value, (*moves, *step.repairs)
        faults = judge.faults(plain(base))
    return base, moves, faults


def _by_reading(
    arguments: Mapping[str, Any],
    judge: Validator,
    session: RepairSession,
    faults: tuple[ValidationIssue, ...] | None,
    moves: tuple[Repair, ...],
) -> Outcome:
    """Read what the judge holds something against by the schema; all of it where the judge is the schema."""
    plan = session.plan
    spelled = dict(arguments)
    sent = plain(spelled)
    scope = None if faults is None else scope_of(faults)
    try:
        readings = [
            reading for reading in _read_arguments(spelled, session, scope) if judge.accepts(reading.value)
        ]
        if len(readings) > 1:
            readings = distinct(readings)
        if len(readings) == 1:
            return Outcome("repaired", readings[0].value, (*moves, *readings[0].repairs))
        if readings:
            return _tied(sent, readings, judge, moves)
        session = RepairSession(plan, judge.exact_integers, min(session.steps, _MENDING_STEPS), session.texts)
        mended = repair_partially(spelled, session, scope)
    except OutOfSteps:
        return Outcome("refused", sent, moves, judge.faults(sent))
    value = plain(mended.value)
    remaining = judge.faults(value) if mended.repairs or not faults else faults
    if not remaining:
        # Mended, it would be taken, but only against a guard: what was sent is what is refused.
        return Outcome("refused", sent, moves, judge.faults(sent), tuple(session.ties))
    return Outcome("refused", value, (*moves, *mended.repairs), remaining, tuple(session.ties))


def _read_arguments(
    arguments: dict[str, Any], session: RepairSession, scope: Scope | None
) -> list[Candidate]:
    """The cheapest readings of the whole: repaired in place, unwrapped or wrapped."""
    top = session.plan.top
    found = structure(top, arguments, (), session, scope)
    for rule, cost, apply in session.plan.at(top).values.get(dict, ()):
        if found and worst_tier(found[0].cost) < rule.tier:
            break
        found += _read_content(rule, cost, apply, arguments, session)
    return [_plain(reading) for reading in cheapest(found)]


def _read_content(
    rule: Rule, cost: int, apply: Apply, arguments: dict[str, Any], session: RepairSession
) -> Iterator[Candidate]:
    """The readings of other arguments in place of these; keys that a client added are left out first."""
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


def _plain(reading: Candidate) -> Candidate:
    value = plain(reading.value)
    return reading if value is reading.value else Candidate(value, reading.cost, reading.repairs)


def _tied(
    sent: dict[str, Any], readings: list[Candidate], judge: Validator, moves: tuple[Repair, ...]
) -> Outcome:
    """Refused for the parameters on which the readings differ; what they agree on is repaired."""
    ties = _ties(readings)
    open_names = {tie.path[0] for tie in ties}
    first = readings[0]
    settled = {name: value for name, value in first.value.items() if name not in open_names}
    unsettled = {name: value for name, value in sent.items() if name in open_names}
    pointers = tuple(pointer((name,)) for name in open_names)
    repairs = tuple(
        each
        for each in first.repairs
        if not any(f"{each.pointer}/".startswith(f"{own}/") for own in pointers)
    )
    arguments = {**settled, **unsettled}
    return Outcome("refused", arguments, (*moves, *repairs), judge.faults(arguments), ties)


def _ties(readings: list[Candidate]) -> tuple[Tie, ...]:
    """The parameters on which the readings differ, each with the readings of it."""
    ties = []
    for name in dict.fromkeys(name for reading in readings for name in reading.value):
        own = distinct(
            Candidate(reading.value[name], reading.cost, reading.repairs)
            for reading in readings
            if name in reading.value
        )
        if len(own) > 1 or any(name not in reading.value for reading in readings):
            ties.append(Tie((name,), tuple(own)))
    return tuple(ties)
