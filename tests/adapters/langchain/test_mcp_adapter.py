"""LangChain's own ``MCPAdapter`` around a lenient proxy, in an environment of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from own_environment import names_in, told_by

from benchmarks.hosts.matrix import HOSTS

pytestmark = [pytest.mark.full]

FILE = Path(__file__).parent / "mcp_adapter.py"


@pytest.fixture(scope="module")
def told():
    """What came out of each test, by its name."""
    return told_by(FILE, *HOSTS["langchain_mcp"].needs)


@pytest.mark.parametrize("test", names_in(FILE))
def test_with_the_adapter(test, told):
    """It comes out as its own sentence says."""
    assert told[test] is None, told[test]
