"""Many mixed calls at once, over HTTP, to a server in a process of its own."""

from __future__ import annotations

import os

import pytest

from benchmarks.load import measure

_CALLS = int(os.environ.get("MCP_LENIENT_CALLS") or 5_000)


@pytest.mark.full
@pytest.mark.parametrize("calls", [200, _CALLS])
def test_no_answer_is_lost_duplicated_or_swapped(calls):
    """Of many calls each gets its own answer and its tool runs once; the server does not grow by thousands of them."""
    found = measure(calls)
    assert not found.wrong
    assert found.is_sound
    assert calls < _CALLS or found.growth_per_call < 2_000
