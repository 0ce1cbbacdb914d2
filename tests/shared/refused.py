"""Check a command that cannot be run as it was written."""

from __future__ import annotations

import pytest

from mcp_lenient.cli import run


def refused(command: list[str], captured: pytest.CaptureFixture[str]) -> str:
    """Check that a command gives one line on stderr, nothing else and exit code 2, and return the line."""
    assert run(command) == 2
    said = captured.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert said.err.count("\n") == 1
    return said.err
