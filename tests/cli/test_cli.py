"""The command line as a whole: what every command has in common."""

from __future__ import annotations

from importlib.metadata import version

import pytest

from mcp_lenient.cli import run
from mcp_lenient.cli.errors import CommandError
from mcp_lenient.cli.targets import target_of


def test_the_version_is_that_of_the_package(capsys):
    """``--version`` prints what is installed."""
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.strip() == version("mcp-lenient")


def test_a_wrong_command_is_one_line_on_stderr(capsys):
    """What cannot be done exits with 2, without a traceback."""
    assert run(["prxoy"]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("error: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        pytest.param([], "no server is named", id="nothing"),
        pytest.param(["no-such-command-here"], "no command on this machine", id="no command"),
        pytest.param(["missing.json"], "missing.json: there is no such file", id="no configuration"),
        pytest.param(["missing.py:mcp"], "missing.py: there is no such file", id="no Python file"),
    ],
)
def test_a_target_that_is_not_there_is_named(words, says):
    """The error names what was asked for."""
    with pytest.raises(CommandError, match=says):
        target_of(words)
