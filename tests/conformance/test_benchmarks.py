"""Test ``python -m benchmarks``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fastmcp_versions import PROXY, not_on_3
from rich.table import Table

import benchmarks
from benchmarks.__main__ import SCRIPTS, app
from benchmarks.evidence.loops import answered
from benchmarks.evidence.structure import MOST_EXAMPLE_LINES, example_lines
from benchmarks.printing import wide_console


def test_the_help_describes_each_script(capsys):
    """Each script is listed with the first line of its docstring."""
    app("--help", result_action="return_value")
    lines = " ".join(line.strip("│ ") for line in capsys.readouterr().out.splitlines())
    assert "overhead Measure what the middleware adds to a correct call" in re.sub(" +", " ", lines)
    assert [name for name in SCRIPTS if f" {name} " not in lines] == []


@pytest.mark.parametrize("name", SCRIPTS)
@not_on_3(PROXY)
def test_each_script_has_a_help(capsys, name):
    """Each script can be imported, and describes its options."""
    app([name, "--help"], result_action="return_value")
    assert f"Usage: python -m benchmarks {name}" in capsys.readouterr().out


def test_each_script_is_on_the_page_of_its_folder():
    """A folder's page says what each of its scripts measures, and the overview lists them."""
    pages = Path(benchmarks.__file__).parent
    overview = (pages / "README.md").read_text(encoding="utf-8")
    for name, module in SCRIPTS.items():
        page = (pages / module.partition(".")[0] / "README.md").read_text(encoding="utf-8")
        assert f"`{name}" in page
        assert f"`{name}`" in overview


@not_on_3("the benchmark asks in an era of the protocol")
async def test_each_answer_to_a_repeated_call_is_another_one():
    """Of the twenty calls, the three answers differ, and the second is shorter than the first."""
    found = await answered()
    assert len(found) == 20
    assert [each.kind for each in found if not each.is_right] == []


def test_the_example_systems_stay_small():
    """The five example systems and their transcripts have at most 4,000 lines of code."""
    lines = example_lines()
    assert len(lines) == 6
    assert all(lines.values())
    assert sum(lines.values()) <= MOST_EXAMPLE_LINES == 4_000


@pytest.mark.parametrize("terminal", ["", "1"], ids=["file", "terminal"])
def test_tables_are_shown_whole(monkeypatch, capsys, terminal):
    """A table of 110 columns is neither squeezed nor cut where 80 columns are known."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FORCE_COLOR", terminal)
    table = Table(*(f"column{at:02}" + "x" * 10 for at in range(5)))
    table.add_row(*("y" * 18 for _ in range(5)))
    wide_console().print(table)
    shown = capsys.readouterr().out
    assert shown.count("x" * 10) == 5
    assert shown.count("y" * 18) == 5
    assert "…" not in shown


def test_a_wide_terminal_is_used(monkeypatch):
    """A terminal wider than the least width keeps its width."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert wide_console().width == 200
