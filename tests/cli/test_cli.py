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


SERVER = """
from fastmcp import FastMCP
{imported}
def build_server() -> FastMCP:
    return FastMCP("built")

def breaks():
    raise RuntimeError("no database")

mcp = FastMCP("at the top")
"""


def test_a_python_file_names_its_server_or_what_makes_it(tmp_path):
    """Without a name it is the usual one; with a name also what a function of that name returns."""
    file = tmp_path / "server.py"
    file.write_text(SERVER.format(imported=""), encoding="utf-8")
    assert target_of([str(file)]).name == "at the top"
    assert target_of([f"{file}:build_server"]).name == "built"
    with pytest.raises(CommandError, match="'breaks' raised RuntimeError: no database"):
        target_of([f"{file}:breaks"])
    with pytest.raises(CommandError, match="'SERVER' is no FastMCP server"):
        target_of([f"{file}:SERVER"])


def test_a_file_in_a_package_imports_what_stands_beside_it(tmp_path):
    """A server that is a module of a package is loaded as that module."""
    package = tmp_path / "mcp_lenient_test_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "names.py").write_text("NAME = 'x'", encoding="utf-8")
    file = package / "server.py"
    imported = "from mcp_lenient_test_package.names import NAME\nfrom .names import NAME as again"
    file.write_text(SERVER.format(imported=imported), encoding="utf-8")
    assert target_of([str(file)]).name == "at the top"
