"""Test what all commands share: targets, errors and closed pipes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from refused import refused
from tables import each_row

from mcp_lenient.cli import app, run
from mcp_lenient.cli.errors import CommandError
from mcp_lenient.cli.targets import target_of

COMMANDS = [name for name in app if not name.startswith("-")]


def test_the_version_matches_the_package(capsys):
    """``--version`` prints the installed version."""
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.strip() == version("mcp-lenient")


def test_a_wrong_command_is_one_line_on_stderr(capsys):
    """A wrong command exits with 2; the line has the command that was likely meant, or all of them."""
    assert refused(["prxoy"], capsys) == "error: unknown command 'prxoy'; did you mean 'proxy'?\n"
    assert refused(["help"], capsys).endswith("the commands are " + ", ".join(COMMANDS) + "\n")


@each_row(
    "command",
    [
        ["check", "no.py"],
        ["definitions", "no.json"],
        ["definitions", "server.py", "--prompt", "--config", "no.yaml"],
        ["explain", "no.py", "tool"],
        ["outcomes", "no.jsonl"],
        ["outcomes", "{exists}", "--against", "no.jsonl"],
        ["outcomes", "{exists}", "--config", "no.yaml"],
        ["proxy", "no.py:mcp"],
        ["proxy", "--config", "no.yaml", "https://example.com"],
        ["report", "no.jsonl"],
        ["stress", "no.py"],
        ["stress", "server.py", "--arguments", "no.json"],
        ["tail", "no.jsonl", "--no-follow"],
    ],
)
def test_a_missing_file_has_one_wording(command, tmp_path, capsys):
    """Every command names a missing file and says the same of it."""
    file = tmp_path / "calls.jsonl"
    file.touch()
    assert re.fullmatch(
        r"error: no\.\w+: no such file\n", refused([word.format(exists=file) for word in command], capsys)
    )


def test_a_missing_file_of_the_environment_has_the_same_wording(monkeypatch, capsys):
    """The proxy names the file of ``MCP_LENIENT_CONFIG`` too."""
    monkeypatch.setenv("MCP_LENIENT_CONFIG", "no.yaml")
    assert refused(["proxy", "https://example.com"], capsys) == "error: no.yaml: no such file\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        pytest.param([], "no server given", id="nothing"),
        pytest.param(["no-such-command-here"], "not a command on this machine", id="no command"),
        pytest.param(["missing.json"], "missing.json: no such file", id="no configuration"),
        pytest.param(["missing.py:mcp"], "missing.py: no such file", id="no Python file"),
    ],
)
def test_a_missing_target_is_named(words, says):
    """The error names the missing target."""
    with pytest.raises(CommandError, match=says):
        target_of(words)


def test_a_missing_file_is_named_before_fastmcp_is_loaded():
    """A misspelled file is an error at once, for each command that takes a server."""
    commands = [
        ["check", "no.py"],
        ["stress", "no.py:x"],
        ["explain", "no.json", "t"],
        ["definitions", "no.py"],
    ]
    code = (
        "import sys; from mcp_lenient.cli import run\n"
        f"print([run(each) for each in {[*commands, ['proxy', 'no.py']]}], 'fastmcp' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == "[2, 2, 2, 2, 2] False"
    assert done.stderr.count(": no such file") == 5


SERVER = """
from fastmcp import FastMCP
{imported}
def build_server() -> FastMCP:
    return FastMCP("built")

def breaks():
    raise RuntimeError("no database")

mcp = FastMCP("at the top")
"""


def test_a_python_file_names_its_server_or_factory(tmp_path):
    """Without a name the usual variable is the server; a name may be that of a factory. The path may have a blank."""
    file = tmp_path / "my server.py"
    file.write_text(SERVER.format(imported=""), encoding="utf-8")
    assert target_of([str(file)]).name == "at the top"
    assert target_of([f"{file}:build_server"]).name == "built"
    with pytest.raises(CommandError, match="'breaks' raised RuntimeError: no database"):
        target_of([f"{file}:breaks"])
    with pytest.raises(CommandError, match="'SERVER' is not a FastMCP server"):
        target_of([f"{file}:SERVER"])


def test_a_file_in_a_package_imports_its_siblings(tmp_path):
    """A server in a package is loaded as a module of that package."""
    package = tmp_path / "mcp_lenient_test_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "names.py").write_text("NAME = 'x'", encoding="utf-8")
    file = package / "server.py"
    imported = "from mcp_lenient_test_package.names import NAME\nfrom .names import NAME as again"
    file.write_text(SERVER.format(imported=imported), encoding="utf-8")
    assert target_of([str(file)]).name == "at the top"


@pytest.mark.parametrize("ending", ["plain.py", "plain.py:mcp", "servers.json"])
def test_a_quoted_command_may_end_like_a_file(ending):
    """A word with blanks is a command line unless a file has that name."""
    target = target_of([f"'{sys.executable}' -u {ending}"])
    assert (target.command, target.args) == (sys.executable, ["-u", ending])


def test_an_unclosed_quote_is_reported():
    """A command line with an unclosed quote is refused in one sentence."""
    with pytest.raises(CommandError, match="cannot be read as a command line: No closing quotation"):
        target_of(["python 'plain.py"])


MALFORMED = """
import json, sys

for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    answer = {"error": {"code": -32601, "message": "there is no such method"}}
    if asked["method"] == "initialize":
        version = asked["params"]["protocolVersion"]
        server = {"name": "malformed", "version": "1"}
        answer = {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}}
    elif asked["method"] == "tools/list":
        answer = {"result": {"tools": "no"}}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"]} | answer), flush=True)
"""


@pytest.mark.parametrize("command", [["check"], ["stress", "--yes"]])
def test_a_malformed_list_of_tools_is_one_line_on_stderr(tmp_path, capfd, command):
    """A list of tools that breaks the protocol is refused in one sentence."""
    file = tmp_path / "malformed.py"
    file.write_text(MALFORMED, encoding="utf-8")
    told = refused([*command, "--", sys.executable, str(file)], capfd)
    assert told.endswith("the server cannot be used: its answer is not a valid ListToolsResult\n")


@pytest.mark.parametrize(
    ("written", "says"),
    [
        pytest.param(
            {"mcpServers": {"a": {"comand": "python"}}},
            "Server 'a' has the unknown field 'comand'; it probably means 'command'.",
            id="misspelled",
        ),
        pytest.param(
            {"mcpServers": {"a": {"command": "python", "args": "x"}, "b": {"x": 1}, "c": 5}},
            "not a client configuration: server 'a', field 'args': Input should be a valid list; "
            "server 'b' has neither 'command' nor 'url'; server 'c' must be an object",
            id="wrong fields",
        ),
        pytest.param({"mcpServers": []}, "mcpServers must be an object of servers by name", id="a list"),
        pytest.param([], "it must be an object with mcpServers", id="a list of all"),
        pytest.param({"servers": {}}, "servers has no server", id="VS Code's, empty"),
        pytest.param({"mcpServers": {}}, "mcpServers has no server", id="empty"),
    ],
)
def test_a_wrong_configuration_names_servers_and_fields(tmp_path, written, says):
    """The error is in the words of the file."""
    file = tmp_path / "servers.json"
    file.write_text(json.dumps(written), encoding="utf-8")
    with pytest.raises(CommandError) as error:
        target_of([str(file)])
    assert str(error.value).endswith(says)


def test_a_command_that_is_no_server_is_one_line_on_stderr(capfd):
    """The SDK's traceback for output that is not an MCP message is not shown."""
    told = refused(["check", "--", sys.executable, "-c", "print('hello')"], capfd)
    assert told.endswith("the server cannot be used: the output of this command is not MCP messages\n")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        pytest.param(["report", "--htm", "x"], "Unknown option: --htm. Did you mean --html?", id="report"),
        pytest.param(["report", "a", "--htm"], "Unknown option: --htm. Did you mean --html?", id="second"),
        pytest.param(["tail", "--folow", "x"], "Unknown option: --folow. Did you mean --follow?", id="tail"),
        pytest.param(["check", "--levl", "x"], "Unknown option: --levl. Did you mean --level?", id="check"),
        pytest.param(["report", "--memory", "5", str(Path(__file__))], "--memory 5: write", id="memory"),
    ],
)
def test_a_wrong_option_is_named(capsys, words, says):
    """A misspelled option is not taken for a file, and a wrong value has its option's name."""
    assert refused(words, capsys).startswith(f"error: {says}")


UNTYPED = """
from fastmcp import FastMCP

mcp = FastMCP("notes")


@mcp.tool
def store(content) -> int: ...
"""
EVENTS = Path(__file__).parents[1] / "telemetry" / "events.v1.jsonl"


@pytest.mark.skipif(sys.platform == "win32", reason="pipes behave differently there")
@pytest.mark.parametrize(
    ("words", "code", "unbuffered"),
    [
        pytest.param(["report", "--format", "json", str(EVENTS)], 0, "1", marks=pytest.mark.slow),
        pytest.param(["explain", "SERVER", "store", "{}"], 1, "1", marks=pytest.mark.slow),
        pytest.param(["explain", "SERVER", "store", "{}"], 1, "", marks=pytest.mark.slow),
        pytest.param(["check", "SERVER"], 1, "", marks=pytest.mark.slow),
        pytest.param(
            ["stress", "SERVER", "--per-tool", "1", "--format", "json"], 1, "", marks=pytest.mark.slow
        ),
        pytest.param(["tail", str(EVENTS)], 0, "1"),
        pytest.param(["--help"], 0, "", marks=pytest.mark.slow),
    ],
)
def test_a_closed_pipe_ends_a_command_quietly(tmp_path, words, code, unbuffered):
    """Nothing is on stderr, and the exit code does not change."""
    file = tmp_path / "server.py"
    file.write_text(UNTYPED, encoding="utf-8")
    command = [str(file) if word == "SERVER" else word for word in words]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(  # noqa: S603 - our own command
            [sys.executable, "-c", "from mcp_lenient.cli import main; main()", *command],
            stdout=writing,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
            check=False,
        )
    finally:
        os.close(writing)
    assert (done.stderr.decode(), done.returncode) == ("", code)


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot be sent Ctrl-C there")
@pytest.mark.parametrize(
    ("module", "words", "code"),
    [
        pytest.param("cyclopts", ["check", "x.py"], 130, id="while the commands are imported"),
        pytest.param("fastmcp", ["check", __file__], 130, id="in a command", marks=pytest.mark.slow),
        pytest.param("mcp_lenient.devtools.tail", ["tail", "-"], 0, id="tail", marks=pytest.mark.slow),
    ],
)
def test_ctrl_c_ends_a_command_quietly(module, words, code):
    """Nothing is on stderr, even if the modules are still being imported."""
    program = f"""
import signal, sys

class Interrupt:
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupt())
from mcp_lenient.cli import main
main()
"""
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", program, *words], capture_output=True, text=True, check=False, input=""
    )
    assert (done.stdout, done.stderr, done.returncode) == ("", "", code)


def test_tail_names_the_reader_of_parquet_files(tmp_path, capsys):
    """A Parquet file is refused in one line, with the command that reads it."""
    file = tmp_path / "log.parquet"
    file.write_bytes(b"PAR1\x15\x04")
    assert refused(["tail", str(file)], capsys).endswith(
        "a Parquet file cannot be followed; mcp-lenient report reads it\n"
    )
