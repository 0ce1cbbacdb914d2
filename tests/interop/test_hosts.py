"""Test that twelve calls have the documented outcome on each host."""

from __future__ import annotations

from pathlib import Path

import pytest
from environments import environment

from benchmarks.hosts.calls import CALLS
from benchmarks.hosts.matrix import HOSTS, outcomes

PAGE = Path(__file__).parents[2] / "docs" / "where-it-runs.md"


def documented(title):
    """Return the page's entry for each call on a host. Empty if the host has no column."""
    rows = [
        [cell.strip() for cell in line.strip("|").replace("`", "").split("|")]
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("|")
    ]
    start = next((at for at, row in enumerate(rows) if row[0] == "call" and title in row), None)
    if start is None:
        return {}
    column = rows[start].index(title)
    return {row[0]: row[column] for row in rows[start + 2 : start + 2 + len(CALLS)]}


@pytest.mark.usual_rows("fastmcp_memory", "sdk_2_low_level")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.full if host.needs else pytest.mark.slow)
        for name, host in HOSTS.items()
    ],
)
def test_outcomes_match_the_table(name):
    """Calls that cannot reach the host's tools are documented, and all others have the documented outcome."""
    host = HOSTS[name]
    if host.needs:
        environment(*host.needs)
    actual = {
        CALLS[call].says: "not reached" if said.startswith("host:") else said
        for call, said in outcomes(host).items()
    }
    lost = {CALLS[call].says for call in host.lost or {}}
    assert {call for call, said in actual.items() if said == "not reached"} == lost
    assert actual == (documented(host.title) or actual)


def test_the_page_has_a_column_for_each_host():
    """Each host has a column, except FastMCP over stdio, which shares FastMCP's."""
    assert [name for name, host in HOSTS.items() if not documented(host.title)] == ["fastmcp_stdio"]
