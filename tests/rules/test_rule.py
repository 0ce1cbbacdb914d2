"""Test a reading's cost: its worst rule's tier counts first, then the number of rules of each tier."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tables import INTEGER, NUMBER, STRING, array, closed, union

from mcp_lenient import DEFAULT_RULES, Policy, ValueRule, normalize


@pytest.mark.parametrize("count", [1, 2, 40])
def test_many_rules_of_a_tier_cost_less_than_one_of_the_next(count):
    """Any number of repairs of a lower tier win over one of a higher one."""
    names = [f"n{at}" for at in range(count)]
    cheap, dear = (closed(*names, **dict.fromkeys(names, kind)) for kind in (NUMBER, array(NUMBER)))
    sent = dict.fromkeys(names, "5")
    result = normalize(closed("p", p=union(cheap, dear)), {"p": sent})
    assert result.arguments == {"p": dict.fromkeys(names, 5)}


def test_fewer_rules_of_one_tier_win():
    """Of two readings by rules of one tier, the one with fewer repairs is made."""
    one = closed("a", "b", a=INTEGER, b=STRING)
    both = closed("a", "b", a=INTEGER, b=INTEGER)
    result = normalize(closed("p", p=union(one, both)), {"p": {"a": "5", "b": "6"}})
    assert result.arguments == {"p": {"a": 5, "b": "6"}}


def test_the_derived_cost_is_not_in_the_repr() -> None:
    """A rule is shown with what its author gave."""
    assert "cost" not in repr(DEFAULT_RULES[0])


@pytest.mark.parametrize("kind", [NUMBER, union(NUMBER, INTEGER)], ids=["number", "union"])
def test_a_result_that_is_not_certain_is_only_offered(kind):
    """What a rule of the caller's own makes of a value is a fix, not a repair, if the rule is not certain."""

    def percent_to_number(_place: object, value: str) -> Iterator[float]:
        if value.endswith("%") and value[:-1].isdecimal():
            yield int(value[:-1]) / 100

    rule = ValueRule(
        "percent_to_number",
        4,
        percent_to_number,
        takes=("string",),
        gives=("number", "integer"),
        certain=False,
    )
    policy = Policy(rules=(*DEFAULT_RULES, rule))
    (violation,) = normalize(closed("p", p=kind), {"p": "15%"}, policy).violations
    assert violation.fixes == (({"op": "replace", "path": "/p", "value": 0.15},),)
    off = Policy(rules=(*DEFAULT_RULES, rule), disable=frozenset({"percent_to_number"}))
    (violation,) = normalize(closed("p", p=kind), {"p": "15%"}, off).violations
    assert not violation.fixes
