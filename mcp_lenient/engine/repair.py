"""Repair one call's arguments: read what the tool refuses, and let the tool's own validator decide about the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from mcp_lenient.engine.exact_values import only_values, strict_fields
from mcp_lenient.engine.ignored import OutOfSteps, ignored_names
from mcp_lenient.engine.reader import CHAIN_AT_TOP, REFUSED, Plan, Reader, ReadingStep, Scope
from mcp_lenient.engine.spelled_numbers import keeping_digits
from mcp_lenient.rules.rules import ABSENT, Obstacle
from mcp_lenient.types import Fault, Outcome, Path, Validator
from mcp_lenient.values.json_values import measured, plain

if TYPE_CHECKING:
    from mcp_lenient.engine.observer import Observer

_STEPS: Final = 3_000
"""Values visited before the repair is given up; grows with the arguments, so that only a schema that branches
endlessly can use it up."""


def repair(
    plan: Plan, arguments: Mapping[str, Any], validator: Validator, observer: Observer | None = None
) -> Outcome:
    """Repair arguments that the validator refuses, if they can be read only one way; else the outcome has the faults.

    Numbers that were parsed from text may keep their source spelling in ``arguments``; in the outcome they are plain.
    """
    size = measured(arguments, plan.policy.limits)
    if size.beyond is not None:
        return Outcome("refused", arguments, faults=(Fault((), "size", size.beyond),))
    max_steps = _STEPS + 2 * size.bytes + 10 * size.items
    reader = Reader(plan, exact_integers=validator.exact_integers, steps=max_steps, observer=observer)
    try:
        return _outcome(reader, dict(arguments), validator)
    except OutOfSteps:
        plain_arguments = plain(dict(arguments))
        return Outcome("refused", plain_arguments, faults=validator.faults(plain_arguments))


def _outcome(reader: Reader, arguments: dict[str, Any], validator: Validator) -> Outcome:
    faults = () if validator.by_schema else validator.faults(plain(arguments))
    scope = Scope.of(faults) if faults else REFUSED
    reading = reader.read(reader.top, arguments, scope, chain=CHAIN_AT_TOP, partly=True)
    value, steps = keeping_digits(reader.plan.top, reading.value, validator), reading.steps
    # What only the schema refuses in a repaired container, the tool may read itself.
    may_be_used = reading.complete or not (validator.by_schema or reading.ties)
    is_repaired = may_be_used and bool(steps) and validator.accepts(value)
    if is_repaired and not validator.by_schema:
        value, steps = _needed_changes(value, steps, reader, validator, faults) or (plain(arguments), ())
    repairs, is_repaired = tuple([step.repair for step in steps]), is_repaired and bool(steps)
    inexact = dict.fromkeys(strict_fields(steps, validator), Obstacle.STRICT_FIELD)
    if is_repaired:
        inexact |= dict.fromkeys(only_values(reader.plan.top, steps, value, validator), Obstacle.ONE_VALUE)
    if inexact:
        outcome = _refuse_inexact(inexact, value, steps, reader, validator)
        return replace(outcome, faults=(*reading.ties, *outcome.faults))
    if is_repaired:
        ignored_faults = ignored_names(reader.plan.top, value, validator, repairs)
        return Outcome("refused" if ignored_faults else "repaired", value, repairs, ignored_faults)
    remaining = faults if faults and not steps else validator.faults(value)
    if remaining or reading.ties:
        return Outcome("refused", value, repairs, (*reading.ties, *remaining))
    # The tool would accept the partial repairs, but a guard forbids using them.
    return Outcome("refused", plain(arguments), faults=validator.faults(plain(arguments)))


def _refuse_inexact(
    inexact: Mapping[Path, Obstacle],
    value: Any,
    steps: Sequence[ReadingStep],
    reader: Reader,
    validator: Validator,
) -> Outcome:
    """Refuse a call whose values at these paths were not sent exactly; the other repairs stay, also of their names."""
    changes = (step for step in steps if step.changes_value or step.value is ABSENT)
    reverted = [step for step in changes if step.result_path in inexact]
    for step in reverted:
        reader.withhold(inexact[step.result_path], step.path)
    value = _reverted(value, reverted)
    repairs = tuple([step.repair for step in steps if step not in reverted])
    return Outcome("refused", value, repairs, validator.faults(value))


def _needed_changes(
    value: Any,
    all_steps: tuple[ReadingStep, ...],
    reader: Reader,
    validator: Validator,
    faults: Sequence[Fault],
) -> tuple[Any, tuple[ReadingStep, ...]] | None:
    """Return a value and its steps with only those changes of values that the tool's own validator needs.

    In a changed container the schema decided, and the tool may read a value there itself: it is asked, from the outside
    in. None if a value was changed that only a check of the author's refuses: the tool may mean another change.
    """
    steps = dict(enumerate(all_steps))
    unsure = {index: step for index, step in steps.items() if step.path and step.changes_value}
    refused = _by_place(faults)
    needed = _outermost({index: step for index, step in unsure.items() if step.path in refused})
    while True:
        paths = [path for step in needed.values() for path in refused.keys() & _with_ancestors(step)]
        checks = [
            path for path in paths if refused[path].kind == "value" and refused[path].detail is not None
        ]
        if checks:
            reader.withhold(Obstacle.AUTHORS_CHECK, *checks)
            return None
        unsure = {index: step for index, step in unsure.items() if index not in needed}
        if not unsure:
            return value, all_steps
        reverted = _reverted(value, list(unsure.values()))
        refused = _by_place(validator.faults(reverted))
        if not refused:
            return reverted, tuple([step for index, step in steps.items() if index not in unsure])
        blamed = {index: step for index, step in unsure.items() if refused.keys() & _with_ancestors(step)}
        needed = _outermost(blamed)
        if not needed:
            return value, all_steps


def _by_place(faults: Sequence[Fault]) -> dict[Path, Fault]:
    """Return the first fault of each value; a name's is that of its object."""
    return {fault.place: fault for fault in reversed(faults)}


def _outermost(steps: Mapping[int, ReadingStep]) -> dict[int, ReadingStep]:
    """Return the first step at each place, and none inside another."""
    outermost: dict[int, ReadingStep] = {}
    places: set[Path] = set()
    for at, step in steps.items():
        if places.isdisjoint(step.result_path[:length] for length in range(len(step.result_path) + 1)):
            outermost[at] = step
            places.add(step.result_path)
    return outermost


def _reverted(value: Any, steps: Sequence[ReadingStep]) -> Any:
    """Return a value with each value that these steps changed as it was sent, under the name that it has now."""
    reverted = deepcopy(value) if steps else value
    for step in reversed(steps):
        *above, last = step.result_path
        container = reverted
        for part in above:
            container = container[part]
        container[last] = plain(step.sent)
    return reverted


def _with_ancestors(step: ReadingStep) -> set[Path]:
    """Return the paths of a value and of all that it is in, as it was sent and as it is now."""
    return {path[:length] for path in (step.path, step.result_path) for length in range(len(path) + 1)}
