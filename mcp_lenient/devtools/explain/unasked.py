"""Find the rules that were not asked about a refused value, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from math import inf
from typing import Final, Literal, NamedTuple

from mcp_lenient.devtools.explain.trace import Trace
from mcp_lenient.engine.reader import Plan
from mcp_lenient.refusal.locations import Refused
from mcp_lenient.rules import DEFAULT_RULES, CallRule, NameRule, Rule, ValueRule
from mcp_lenient.rules.rules import Obstacle
from mcp_lenient.schema.node import Node
from mcp_lenient.types import Fault, Path
from mcp_lenient.values.json_values import json_type, pointer

Reason = Obstacle | Literal["takes", "tier"]
_WORDS: Final[Mapping[Reason, str]] = {
    "takes": "the value has a type that is not in `takes`",
    "unread": "this part of the schema is not read",
    "required": "only optional properties are left out",
    "gives": "the schema accepts other types here than those in `gives`",
    "enum": "numbers of an enum without a type are only read by fold_enum",
    "asks": "the schema does not say here what is needed (`asks`)",
    "one value": "only one value is allowed here, and no rule says it for the caller",
    "union": "in a union, only rules with `literal` read a value of another type",
    "disabled": "disabled by the policy",
    "uncertain": "only offered as a fix (`certain=False`)",
    "destructive": "not allowed in a destructive tool",
    "tier": "a rule of a lower tier gave a value that fits",
}
"""What is said of each reason, in the order in which a rule meets them."""
_REASONS: Final = (*_WORDS,)
_MET: Final = {reason: at for at, reason in enumerate(_REASONS)}
_MOST: Final = 20
"""Refused places of which the rules are listed."""


class Unasked(NamedTuple):
    """Refused places, and the rules that were not asked there, by the words for the reason."""

    pointers: list[str]
    rules: dict[str, list[str]]


def unasked(plan: Plan, trace: Trace) -> list[Unasked]:
    """Return for the first refused places the rules that read such a value and were not asked about it.

    Rules of the author's own are listed whatever they read. Places with the same rules and reasons are listed together.
    """
    first = trace.answers[0]
    refused = Refused(plan.top, first.arguments, plan.policy)
    found: list[Unasked] = []
    for path, types in islice(_places(first.faults).items(), _MOST):
        rules = _rules(plan, trace, refused, path, types)
        alike = next((each for each in found if each.rules == rules), None)
        if alike is not None:
            alike.pointers.append(pointer(path))
        elif rules:
            found.append(Unasked([pointer(path)], rules))
    return found


def _places(faults: Iterable[Fault]) -> dict[Path, set[type[Rule]]]:
    """Return the paths of refused values and of objects with a wrong name, with the types of rules that are asked there."""
    found: dict[Path, set[type[Rule]]] = {}
    for fault in faults:
        if fault.of_name or fault.kind == "overlooked":
            owner = fault.path[:-1]
            found.setdefault(owner, set()).update((NameRule,) if owner else (NameRule, CallRule))
        elif fault.kind != "size":
            found.setdefault(fault.path, set()).add(ValueRule if fault.path else CallRule)
    return found


def _rules(
    plan: Plan, trace: Trace, refused: Refused, path: Path, types: set[type[Rule]]
) -> dict[str, list[str]]:
    """Return the names of the rules that were not asked about a value, by the words for the reason, likeliest first."""
    place, where, optional = refused.look(path), pointer(path), _is_optional(refused, path)
    node, kind = place.node, json_type(place.value)
    of_value = [each for each in trace.proposals.values() if each.pointer == where and each.of is ValueRule]
    asked = {*trace.kept_out.get(where, ()), *(each.rule for each in of_value)}
    least = min((each.tier for each in of_value if each.fits), default=inf)
    found: dict[Reason, list[str]] = {}
    for rule in plan.policy.rules if place.present else ():
        is_read = kind in rule.takes or rule not in DEFAULT_RULES
        if node is not None and is_read and type(rule) in types and rule.name not in asked:
            reason = _obstacle(plan, rule, node, kind, optional=optional)
            if reason is None and isinstance(rule, ValueRule) and least < rule.tier:
                reason = "tier"
            if reason is not None:
                found.setdefault(reason, []).append(rule.name)
    return {_WORDS[reason]: found[reason] for reason in sorted(found, key=_MET.__getitem__, reverse=True)}


def _is_optional(refused: Refused, path: Path) -> bool:
    """Return whether the last name in a path is that of a property that may be left out."""
    above = refused.look(path[:-1]).node if path else None
    if above is None or path[-1] not in above.names:
        return False
    return not any(path[-1] in way.required for way in above.ways)


def _obstacle(plan: Plan, rule: Rule, node: Node, kind: str, *, optional: bool) -> Reason | None:
    """Return why a rule is not asked about a value, at the node or branch that comes closest to asking it."""
    if kind not in rule.takes:
        return "takes"
    in_union = len(node.families) > 1
    met = [plan.obstacle(rule, node, kind, optional=optional)]
    met += [plan.obstacle(rule, way, kind, in_union=in_union) for way in node.ways if way is not node]
    at = [_MET[each] for each in met if each is not None]
    return _REASONS[max(at)] if len(at) == len(met) else None
