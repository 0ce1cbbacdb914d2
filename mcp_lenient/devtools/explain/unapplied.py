"""Say of each rule that does not apply to a refused value what stops it: a guard, the place, the policy or the tool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from math import inf
from typing import Final, NamedTuple

from mcp_lenient.devtools.explain.trace import Proposal, Trace
from mcp_lenient.devtools.rule_catalogue import FAMILY_OF
from mcp_lenient.engine.reader import Plan
from mcp_lenient.refusal.locations import Location, RefusedCall
from mcp_lenient.rules import ABSENT, DEFAULT_RULES, CallRule, Guard, NameRule, Rule, ValueRule
from mcp_lenient.rules.rules import CallScope, Obstacle
from mcp_lenient.types import Fault, Path
from mcp_lenient.values.json_values import json_type, plain, pointer

_OBSTACLES: Final = (*Obstacle,)
_BARS: Final = frozenset({Obstacle.DISABLED, Obstacle.DESTRUCTIVE})
_MOST: Final = 20
"""Refused places of which the rules are listed."""


class Unapplied(NamedTuple):
    """Refused places, and the rules that do not apply there, by the words for what stops them."""

    pointers: list[str]
    rules: dict[str, list[str]]


def stop_of(proposal: Proposal) -> str:
    """Return what stops a rule: its guard, or that it reads no such value."""
    if proposal.guard is not None:
        return words_of(proposal.guard)
    name = proposal.rule.name
    return (
        f"this is not {FAMILY_OF[name].rules[name]}" if name in FAMILY_OF else "its function yields nothing"
    )


def barred(plan: Plan, location: Location) -> Iterator[Proposal]:
    """Yield what rules read a value as, and the schema accepts, that the policy disables or a destructive tool bars."""
    value, path, place = location.value, location.path, location.as_place(CallScope(plan.policy))
    if place is None or not path:
        return
    for rule in plan.policy.rules:
        obstacle = plan.obstacle(rule, place, json_type(value))
        if obstacle in _BARS and isinstance(rule, ValueRule):
            guard = as_guard(obstacle)
            for result in rule.apply(place, value):
                if result is ABSENT or place.node.accepts(plain(result)):
                    yield Proposal(rule, pointer(path), plain(result), fits=True, guard=guard)


def as_guard(obstacle: Obstacle) -> Guard:
    """Return an obstacle as a guard, by which an explanation names it."""
    return Guard(obstacle.name.lower(), obstacle.value, bool)


def unapplied(plan: Plan, trace: Trace) -> list[Unapplied]:
    """Return for the first refused places the rules that read such a value and do not apply, by what stops them.

    Rules of the author's own are listed whatever they read. Places with the same rules and reasons are listed together.
    """
    first = trace.answers[0]
    refused = RefusedCall(plan.top, first.arguments, plan.policy)
    listed: list[Unapplied] = []
    for path, rule_type in islice(_places(first.faults), _MOST):
        rules = _stops(plan, trace, refused, path, rule_type)
        same = next((place for place in listed if place.rules == rules), None)
        if same is not None:
            same.pointers.append(pointer(path))
        elif rules:
            listed.append(Unapplied([pointer(path)], rules))
    return listed


def _places(faults: Iterable[Fault]) -> Iterable[tuple[Path, type[Rule]]]:
    """Return the paths of refused values and names, and of the arguments, with the type of rules that are applied there."""
    places: dict[tuple[Path, type[Rule]], None] = {}
    for fault in faults:
        if fault.of_name or fault.kind == "overlooked":
            places |= {} if fault.kind == "missing" else {(fault.path, NameRule): None}
            places |= {((), CallRule): None} if len(fault.path) == 1 else {}
        elif fault.kind != "size":
            places[fault.path, ValueRule if fault.path else CallRule] = None
    return places


def _stops(
    plan: Plan, trace: Trace, refused: RefusedCall, path: Path, rule_type: type[Rule]
) -> dict[str, list[str]]:
    """Return the names of the rules that do not apply at a place, by the words for what stops them, likeliest first."""
    where, place = pointer(path), refused.location(path[:-1] if rule_type is NameRule else path)
    proposals = [proposal for proposal in trace.proposals.values() if proposal.pointer == where]
    applied = {proposal.rule.name for proposal in proposals}
    least = min((proposal.rule.tier for proposal in proposals if proposal.fits), default=inf)
    stops: list[tuple[int, str, str]] = []
    for rule in plan.policy.rules if place.present else ():
        proposal = trace.stopped.get(where, {}).get(rule.name)
        is_read = json_type(place.value) in rule.takes or rule not in DEFAULT_RULES
        if not isinstance(rule, rule_type) or rule.name in applied or not is_read:
            continue
        if proposal is not None:
            rank = len(_OBSTACLES) + proposal.fits + (proposal.guard is not None)
            stops.append((rank, stop_of(proposal), rule.name))
        elif obstacle := _obstacle(plan, rule, place) or (Obstacle.TIER if least < rule.tier else None):
            stops.append((_OBSTACLES.index(obstacle), _words(rule, obstacle), rule.name))
    by_words: dict[str, list[str]] = {}
    for _, words, name in sorted(stops, key=lambda stop: -stop[0]):
        by_words.setdefault(words, []).append(name)
    return by_words


def _words(rule: Rule, obstacle: Obstacle) -> str:
    asks = rule.asks if obstacle is Obstacle.ASKS and isinstance(rule, ValueRule) else None
    return obstacle.value if asks is None else words_of(asks)


def words_of(guard: Guard) -> str:
    """Return why a guard stops a rule, and its name."""
    return f"{guard.says} (guard {guard.name})"


def _obstacle(plan: Plan, rule: Rule, location: Location) -> Obstacle | None:
    """Return what keeps a rule from a value, at the closest node or branch."""
    here, kind = location.as_place(CallScope(plan.policy)), json_type(location.value)
    if here is None:
        return None
    branches = [here.as_branch(branch) for branch in here.node.branches if branch is not here.node]
    obstacles = [plan.obstacle(rule, place, kind) for place in (here, *branches)]
    ranks = [_OBSTACLES.index(obstacle) for obstacle in obstacles if obstacle is not None]
    return _OBSTACLES[max(ranks)] if len(ranks) == len(obstacles) else None
