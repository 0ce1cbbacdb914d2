"""Published servers on the official SDK 2: one that replaces the SDK's model of arguments, one with its own middleware."""

from __future__ import annotations

from pathlib import Path

import pytest
from adapters.own_environment import names_in, outcomes_in

from benchmarks.hosts.matrix import dependencies

pytestmark = [pytest.mark.slow]

FILE = Path(__file__).parent / "real_servers.py"


@pytest.fixture(scope="module")
def outcomes():
    """Return the outcome of each test by name."""
    return outcomes_in(FILE, "excel-mcp-server==2.2.2", "mcp-server-git==2026.10.19", *dependencies())


@pytest.mark.parametrize("test", names_in(FILE))
def test_with_the_real_server(test, outcomes):
    """Each test of ``real_servers.py`` passes with these servers."""
    assert outcomes[test] is None, outcomes[test]
