"""Record what the rules propose and the validator says while the engine decides."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from mcp_lenient.rules import ABSENT, CallRule, Guard, NameRule, Place, Rule
from mcp_lenient.rules.rules import Obstacle
from mcp_lenient.types import Fault, Outcome, Path
from mcp_lenient.values.json_values import plain, pointer

_MOST: Final = 200
"""How many proposals are noted, and how many places without one; of a larger call the first part is explained."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What one rule reads a value or name as, where, whether the schema accepts it, and the guard that stops it."""

    rule: Rule
    pointer: str
    after: Any = None
    fits: bool = False
    guard: Guard | None = None


class ValidatorAnswer(NamedTuple):
    """What the validator said about complete arguments."""

    arguments: Mapping[str, Any]
    faults: tuple[Fault, ...]
    accepted: bool


@dataclass(slots=True)
class Trace:
    """The record of one decision: an :class:`mcp_lenient.engine.observer.Observer`.

    ``proposals`` has what each rule proposes once, by what it is; ``answers`` has what the validator said about complete
    arguments, starting with those sent; ``stopped`` has, by pointer and rule, the reading that came closest of a rule that
    a guard stopped, or that reads no such value; ``unused`` has, by pointer, why a reading of it is not used.
    """

    proposals: dict[str, Proposal] = field(default_factory=dict)
    answers: list[ValidatorAnswer] = field(default_factory=list)
    outcome: Outcome = field(init=False)
    stopped: dict[str, dict[str, Proposal]] = field(default_factory=dict)
    unused: dict[str, Obstacle] = field(default_factory=dict)

    def applied(self, rule: Rule, place: Place, results: Sequence[tuple[Any, Guard | None]]) -> None:
        """Record what a rule reads a value as, or what stops it."""
        where = pointer(place.path)
        if isinstance(rule, NameRule):
            names = {key: (name, guard) for (key, name), guard in results}
            for key in place.unknown:
                name, guard = names.get(key, (None, None))
                is_read = key in names
                self._note(Proposal(rule, pointer((*place.path, key)), name, is_read, guard), is_read=is_read)
        else:
            for result, guard in results:
                after = plain(result)
                fits = isinstance(rule, CallRule) or result is ABSENT or place.node.accepts(after)
                self._note(Proposal(rule, where, after, fits, guard))
            if not results:
                self._note(Proposal(rule, where), is_read=False)

    def withheld(self, path: Path, obstacle: Obstacle) -> None:
        """Record why a reading is not used."""
        if len(self.unused) < _MOST:
            self.unused.setdefault(pointer(path), obstacle)

    def judged(self, arguments: Mapping[str, Any], faults: tuple[Fault, ...], *, accepted: bool) -> None:
        """Record what the validator said."""
        self.answers.append(ValidatorAnswer(arguments, faults, accepted))

    def decided(self, outcome: Outcome) -> None:
        """Record the outcome."""
        self.outcome = outcome

    def unread(self) -> dict[str, Proposal]:
        """Return by pointer, for each value or name that no rule reads, the rule that comes closest.

        Its reading is one that the schema accepts, but a guard stops it; if there is none, its tier is the lowest.
        """
        read = {proposal.pointer for proposal in self.proposals.values()}
        places = {*read, *self.stopped}
        within = {place[:index] for place in places for index, sign in enumerate(place) if sign == "/"}
        unread = [place for place in self.stopped if place and place not in {*read, *within}]
        return {place: closest(self.stopped[place].values()) for place in unread}

    def _note(self, proposal: Proposal, *, is_read: bool = True) -> None:
        rule, where = proposal.rule.name, proposal.pointer
        if is_read and proposal.guard is None:
            if len(self.proposals) < _MOST:
                key = json.dumps([rule, where, proposal.after], default=repr)
                self.proposals.setdefault(key, proposal)
        elif where in self.stopped or len(self.stopped) < _MOST:
            of_place = self.stopped.setdefault(where, {})
            of_place[rule] = max(of_place.get(rule, proposal), proposal, key=_closeness)


def _closeness(proposal: Proposal) -> tuple[bool, bool]:
    return proposal.fits, proposal.guard is not None


def closest(proposals: Iterable[Proposal]) -> Proposal:
    """Return the proposal that the schema accepts, or else that of the lowest tier; of several the first."""
    return min(proposals, key=lambda proposal: (not proposal.fits, proposal.rule.tier))
