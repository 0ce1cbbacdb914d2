"""Test ``python -m benchmarks``."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from rich.table import Table

import benchmarks
from benchmarks.__main__ import _SCRIPTS, main, wide_console
from benchmarks.evidence.loops import answered
from benchmarks.evidence.structure import MOST_EXAMPLE_LINES, example_lines


def test_the_help_describes_each_script(monkeypatch, capsys):
    """Each script is listed with the first line of its docstring."""
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--help"])
    with pytest.raises(SystemExit, match="0"):
        main()
    lines = capsys.readouterr().out.partition("names:\n")[2].splitlines()
    described = {name: rest for name, _, rest in (line.strip().partition(" ") for line in lines)}
    assert "Measure what the middleware adds to a correct call" in described["overhead"]
    assert [name for name, rest in described.items() if not rest.endswith((".", "?"))] == []


def test_each_script_is_on_the_page_of_its_folder():
    """A folder's page says what each of its scripts measures, and the overview lists them."""
    pages = Path(benchmarks.__file__).parent
    overview = (pages / "README.md").read_text(encoding="utf-8")
    for name, (folder, *_) in _SCRIPTS.items():
        page = (pages / (folder or name) / "README.md").read_text(encoding="utf-8")
        assert f"`{name}" in page
        assert f"`{name}`" in overview


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
