"""Many mixed calls at once, over HTTP, to a server in a process of its own."""

from __future__ import annotations

import os

import pytest

from benchmarks.load import measure

_CALLS = int(os.environ.get("MCP_LENIENT_CALLS") or 5_000)


@pytest.mark.slow
def test_no_answer_is_lost_doubled_or_mixed_up():
    """Of thousands of calls each gets its own answer, its tool runs once, and the server does not grow."""
    found = measure(_CALLS)
    assert not found.wrong
    assert found.is_sound
    assert found.growth_per_call < 2_000
