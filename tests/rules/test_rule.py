"""Test a reading's cost: its worst rule's tier counts first, then the number of rules of each tier."""

from __future__ import annotations

import pytest
from tables import INTEGER, NUMBER, STRING, array, closed, union

from mcp_lenient import DEFAULT_RULES, normalize


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
