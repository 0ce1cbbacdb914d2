"""LangChain agents with ``LenientInterceptor``, and with ``MCPAdapter`` and a lenient proxy."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from adapters.own_environment import names_in, outcomes_in

from benchmarks.hosts.matrix import HOSTS

pytestmark = [pytest.mark.slow]

FILES = {
    host: Path(__file__).parent / name
    for host, name in {"langchain_adapters": "interceptor.py", "langchain_mcp": "mcp_adapter.py"}.items()
}


@cache
def outcomes(host):
    """Return the outcome of each test in one environment, by name."""
    return outcomes_in(FILES[host], *HOSTS[host].needs)


@pytest.mark.parametrize(("host", "test"), [(host, test) for host in FILES for test in names_in(FILES[host])])
def test_with_the_real_package(host, test):
    """Each test of these files passes with the real package."""
    assert outcomes(host)[test] is None, outcomes(host)[test]
