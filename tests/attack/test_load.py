"""Send many mixed calls at once over HTTP to a server in another process."""

from __future__ import annotations

import os

import pytest

from benchmarks.speed.load import measure

_CALLS = int(os.environ.get("MCP_LENIENT_CALLS") or 5_000)


@pytest.mark.slow
@pytest.mark.parametrize("calls", [200, _CALLS])
def test_no_answer_is_lost_duplicated_or_swapped(calls):
    """Each call gets its own answer, its tool runs once, and the server grows little per call."""
    found = measure(calls)
    assert not found.wrong
    assert found.is_sound
    assert calls < _CALLS or found.growth_per_call < 2_000
