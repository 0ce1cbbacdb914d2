"""Record what the rules propose and the validator says while the engine decides."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from mcp_lenient.rules import ABSENT, CallRule, NameRule, Place, Rule, ValueRule
from mcp_lenient.types import Fault, Outcome
from mcp_lenient.values.json_values import plain, pointer

_MOST: Final = 200
"""How many proposals are noted, and how many places without one; of a larger call the first part is explained."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What one rule proposes for one value or name, where (if known), and whether the schema accepts it."""

    rule: str
    tier: int
    of: type[Rule]
    pointer: str
    after: Any
    fits: bool


class ValidatorAnswer(NamedTuple):
    """What the validator said about complete arguments."""

    arguments: Mapping[str, Any]
    faults: tuple[Fault, ...]
    accepted: bool


@dataclass(slots=True)
class Trace:
    """The record of one decision: an :class:`mcp_lenient.engine.observer.Observer`.

    ``proposals`` has what each rule proposes once, by what it is; ``answers`` has what the validator said about complete arguments, starting with those sent; ``kept_out`` has, by
    pointer, the rules that were tried on a value and did not apply.
    """

    proposals: dict[str, Proposal] = field(default_factory=dict)
    answers: list[ValidatorAnswer] = field(default_factory=list)
    outcome: Outcome = field(init=False)
    kept_out: dict[str, dict[str, None]] = field(default_factory=dict)

    def applied(self, rule: Rule, place: Place, made: Sequence[Any]) -> None:
        """Record what a rule made of a value, or that it did not apply."""
        if isinstance(rule, NameRule):
            done = [key for key, _ in made]
            self._note(rule, place, made)
            for key in (each for each in place.unknown if each not in done):
                self._note_kept_out(rule, pointer((*place.path, key)))
        elif made:
            self._note(rule, place, [(None, each) for each in made])
        elif not isinstance(rule, CallRule):
            self._note_kept_out(rule, pointer(place.path))

    def judged(self, arguments: Mapping[str, Any], faults: tuple[Fault, ...], *, accepted: bool) -> None:
        """Record what the validator said."""
        self.answers.append(ValidatorAnswer(arguments, faults, accepted))

    def decided(self, outcome: Outcome) -> None:
        """Record the outcome."""
        self.outcome = outcome

    def _note(self, rule: Rule, place: Place, made: Iterable[tuple[str | None, Any]]) -> None:
        for key, raw in made if len(self.proposals) < _MOST else ():
            after = plain(raw)
            where = pointer(place.path if key is None else (*place.path, key))
            noted = json.dumps([rule.name, where, after], default=repr)
            if noted not in self.proposals:
                fits = not isinstance(rule, ValueRule) or raw is ABSENT or place.node.takes(after)
                self.proposals[noted] = Proposal(rule.name, rule.tier, type(rule), where, after, fits)

    def _note_kept_out(self, rule: Rule, where: str) -> None:
        if where in self.kept_out or len(self.kept_out) < _MOST:
            self.kept_out.setdefault(where, {})[rule.name] = None
