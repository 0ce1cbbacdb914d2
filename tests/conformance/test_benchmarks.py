"""Test ``python -m benchmarks``."""

from __future__ import annotations

import sys

import pytest

from benchmarks.__main__ import main
from benchmarks.structure import MOST_EXAMPLE_LINES, example_lines


def test_the_help_describes_each_script(monkeypatch, capsys):
    """Each script is listed with the first line of its docstring."""
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--help"])
    with pytest.raises(SystemExit, match="0"):
        main()
    lines = capsys.readouterr().out.partition("names:\n")[2].splitlines()
    described = {name: rest for name, _, rest in (line.strip().partition(" ") for line in lines)}
    assert "Measure what the middleware adds to a correct call" in described["overhead"]
    assert "`cases --json`" in described["differences"]
    assert [name for name, rest in described.items() if not rest.endswith((".", "?"))] == []


def test_the_example_systems_stay_small():
    """The five example systems and what they share have at most 2,500 Python lines."""
    lines = example_lines()
    assert len(lines) == 6
    assert all(lines.values())
    assert sum(lines.values()) <= MOST_EXAMPLE_LINES == 2_500
