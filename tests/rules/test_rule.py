"""What a reading costs: by its worst rule's tier first, then by how many rules of each tier it needs."""

from __future__ import annotations

from itertools import pairwise

import pytest

from mcp_lenient import DEFAULT_RULES
from mcp_lenient.rules.rules import TIERS, worst_tier

COSTS = {rule.tier: rule.cost for rule in DEFAULT_RULES}


def test_what_changed_nothing_has_no_tier():
    """A reading without repairs is better than any with one."""
    assert worst_tier(0) == 0


@pytest.mark.parametrize("tier", TIERS)
def test_the_worst_tier_is_told_from_the_cost(tier):
    """However many better rules stand beside it."""
    better = sum(1_000 * COSTS[other] for other in TIERS if other < tier)
    assert worst_tier(COSTS[tier]) == worst_tier(COSTS[tier] + better) == tier


@pytest.mark.parametrize(("better", "worse"), list(pairwise(TIERS)))
def test_many_rules_of_a_tier_cost_less_than_one_of_the_next(better, worse):
    """A million repairs of the closer kind are closer to what was sent than one of the other."""
    assert 1_000_000 * COSTS[better] < COSTS[worse]
