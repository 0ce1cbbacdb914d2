"""Test a candidate's cost: its worst rule's tier counts first, then the number of rules of each tier."""

from __future__ import annotations

from itertools import pairwise

import pytest
from tables import each_row

from mcp_lenient import DEFAULT_RULES
from mcp_lenient.rules.rules import TIERS, worst_tier

COSTS = {rule.tier: rule.cost for rule in DEFAULT_RULES}


def test_unchanged_value_has_no_tier():
    """A candidate without repairs is better than any with one."""
    assert worst_tier(0) == 0


@each_row("tier", TIERS)
def test_worst_tier_is_computed_from_the_cost(tier):
    """The worst tier does not depend on the number of better rules."""
    better = sum(1_000 * COSTS[other] for other in TIERS if other < tier)
    assert worst_tier(COSTS[tier]) == worst_tier(COSTS[tier] + better) == tier


@pytest.mark.parametrize(("better", "worse"), list(pairwise(TIERS)))
def test_many_rules_of_a_tier_cost_less_than_one_of_the_next(better, worse):
    """A million repairs of one tier cost less than one of the next."""
    assert 1_000_000 * COSTS[better] < COSTS[worse]


def test_the_derived_cost_is_not_in_the_repr() -> None:
    """A rule is shown with what its author gave."""
    assert "cost" not in repr(DEFAULT_RULES[0])
