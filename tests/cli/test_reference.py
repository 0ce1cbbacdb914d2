"""Test that the command-line page documents every command and option."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_lenient.cli import app, run
from mcp_lenient.devtools.check import CHECKS

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
COMMANDS = [name for name in app if not name.startswith("-")]


@pytest.mark.parametrize("command", COMMANDS)
def test_each_option_is_in_its_section(command):
    """The list in a command's section has exactly its options, each with a description."""
    arguments = app[command].assemble_argument_collection()
    there = {name for argument in arguments for name in argument.names if name.startswith("--")}
    rows = re.findall(r"^- (`--.+?): (\S.*)$", SECTIONS[command], re.MULTILINE)
    assert {name for option, _ in rows for name in re.findall(r"`(--[\w-]+)", option)} == there


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_help_is_readable_at_80_columns(command, capsys, monkeypatch):
    """Each help text begins with the usage and fits into 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    assert run([*command, "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"Usage: mcp-lenient {' '.join(command)}".rstrip())
    assert max(map(len, lines)) <= 80
    assert "ARGS]" not in lines[0]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command, capsys, monkeypatch):
    """Below the first sentence, each command's help has a command line to copy."""
    monkeypatch.setenv("COLUMNS", "80")
    assert run([command, "--help"]) == 0
    description = capsys.readouterr().out.split("╭")[0].splitlines()[1:]
    assert any(line.startswith(f"mcp-lenient {command} ") for line in description)


def test_the_command_line_lists_its_commands():
    """Without arguments the program lists its commands, each with a sentence."""
    done = subprocess.run(
        [sys.executable, "-c", "from mcp_lenient.cli import main; main()"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert [name for name in COMMANDS if not re.search(rf"{name} +[A-Z]", done.stdout)] == []


def test_check_codes_are_stable_words():
    """A code is lowercase words joined by underscores, so that patterns can match it."""
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)+", each.code) for each in CHECKS)
