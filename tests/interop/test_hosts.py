"""Test that twelve calls have the documented outcome on each host."""

from __future__ import annotations

import asyncio
import re
from functools import partial
from io import StringIO
from pathlib import Path

import pytest
from environments import environment
from rich.console import Console

from benchmarks.hosts import fastmcp_hosts, sdk_2
from benchmarks.hosts.calls import CALLS
from benchmarks.hosts.matrix import HOSTS, matrix, outcomes, show

PAGE = Path(__file__).parents[2] / "docs" / "where-it-runs.md"


OUTCOMES = {"A": "accepted", "R": "repaired", "X": "refused", "-": "not reached"}


def documented(title):
    """Return the page's entry for each call on a host. Empty if the host has no line."""
    line = re.search(
        rf"^{re.escape(title)} +([{''.join(OUTCOMES)}]+)$", PAGE.read_text("utf-8"), re.MULTILINE
    )
    if line is None:
        return {}
    return {call.says: OUTCOMES[letter] for call, letter in zip(CALLS.values(), line[1], strict=True)}


QUICK = {"fastmcp_memory": fastmcp_hosts.in_memory, "sdk_2": partial(sdk_2.answers, "functions")}
"""The hosts without an environment or a transport of their own, which answer in this process."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in HOSTS]
)
def test_outcomes_match_the_table(name, monkeypatch):
    """Calls that cannot reach the host's tools are documented, and all others have the documented outcome."""
    host = HOSTS[name]
    if name in QUICK:
        monkeypatch.setattr("benchmarks.hosts.matrix.answers", lambda _: asyncio.run(QUICK[name]()))
    if host.needs:
        environment(*host.needs)
    actual = {
        CALLS[call].says: "not reached" if said.startswith("host:") else said
        for call, said in outcomes(host).items()
    }
    lost = {CALLS[call].says for call in host.lost or {}}
    assert {call for call, said in actual.items() if said == "not reached"} == lost
    assert actual == (documented(host.title) or actual)


def test_the_page_has_a_line_for_each_host():
    """Each host has a line, and each call its number."""
    assert [name for name, host in HOSTS.items() if not documented(host.title)] == []
    page = " ".join(PAGE.read_text("utf-8").split())
    assert [call.says for at, call in enumerate(CALLS.values(), 1) if f" {at} {call.says}" not in page] == []


def test_the_printed_matrix_is_never_cut():
    """Each host has a line of at most 80 characters with an outcome for each call and the number of each reason."""
    columns = {
        name: {call: "host: no" if call in (host.lost or {}) else "repaired" for call in CALLS}
        for name, host in HOSTS.items()
    }
    lines = matrix(HOSTS, columns)
    assert max(map(len, lines)) <= 80
    reasons = dict(re.findall(r"^(\d) (.*)$", "\n".join(lines), re.MULTILINE))
    for name, host in HOSTS.items():
        (row,) = [line for line in lines if line.startswith(f"{host.title}  ")]
        printed = dict(zip(CALLS, row.split()[-len(CALLS) :], strict=True))
        said = {call: reasons[cell] for call, cell in printed.items() if cell != "R"}
        assert said == (host.lost or {}), name


@pytest.mark.slow
@pytest.mark.parametrize("width", [20, 200])
def test_the_width_of_the_terminal_changes_nothing(width, capsys):
    """The matrix of a real host is the same in any width; the progress is on stderr."""
    printed = StringIO()
    hosts = {"fastmcp_memory": HOSTS["fastmcp_memory"]}
    assert show(Console(file=printed, width=width), hosts) == 0
    assert "FastMCP  A  R  R  R  R  R  R  R  R  X  X  X" in printed.getvalue().splitlines()
    assert capsys.readouterr().err == "1 of 1: FastMCP\n"


def test_an_outcome_that_is_not_documented_is_marked():
    """A call that does not reach a host is marked where the page does not say so, and the other way round."""
    column = dict.fromkeys(CALLS, "accepted")
    lines = matrix({"sdk_2": HOSTS["sdk_2"]}, {"sdk_2": {**column, "null": "host: no"}})
    assert "SDK 2 MCPServer  A  A  A !!  A  A !!  A  A  A  A  A" in lines
