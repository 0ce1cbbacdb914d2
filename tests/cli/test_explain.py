"""Test ``mcp-lenient explain`` with calls and with log lines."""

from __future__ import annotations

import io
import json
import sys

import pytest
from refused import refused

from mcp_lenient.cli import run

SERVER = '''
from fastmcp import FastMCP
from mcp_lenient import LenientMiddleware

mcp = FastMCP("notes")
mcp.add_middleware(LenientMiddleware())


@mcp.tool
def store(content: str, tags: list[str] | None = None) -> int:
    """Store a note."""
    raise SystemExit("the tool was run")
'''
TRIED = """

@mcp.tool
def echo(text: str) -> str:
    return text


import asyncio

asyncio.run(mcp.call_tool("echo", {"text": "a"}))
"""
EVENT = {
    "schema_version": 1,
    "event": "call_repaired",
    "tool": "store",
    "client_name": "n8n",
    "repairs": [{"rule": "json_text_to_array", "pointer": "/tags", "before": "string", "after": "array"}],
    "repair_count": 1,
}


@pytest.fixture
def server(tmp_path):
    file = tmp_path / "server.py"
    file.write_text(SERVER, encoding="utf-8")
    return str(file)


def test_a_command_comes_after_two_hyphens(tmp_path, capfd):
    """As for the other commands, a server may be a command line after ``--``; the tool and options come before it."""
    file = tmp_path / "a server.py"
    file.write_text(f"{SERVER}\n\nmcp.run(show_banner=False)\n", encoding="utf-8")
    call = ["store", '{"content": "a", "tags": "b, c"}']
    assert run(["explain", *call, "--format", "json", "--", sys.executable, str(file)]) == 1
    assert json.loads(capfd.readouterr().out)["envelope"]["error_code"] == "INVALID_TAGS_TYPE"
    told = refused(["explain", *call, "--", "no-such-command-here"], capfd)
    assert told.startswith("error: 'no-such-command-here' is not a command on this machine")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        pytest.param('{"content": "a"}', 0, "the tool accepts the arguments as sent", id="right"),
        pytest.param('{"content": "a", "tags": "b"}', 0, "/tags: scalar_to_array (tier 8)", id="repaired"),
        pytest.param('{"content": "a", "tags": "b, c"}', 1, "INVALID_TAGS_TYPE", id="refused"),
        pytest.param('{"content": "a"', 1, "The arguments are not an object", id="cut off"),
        pytest.param("-1", 1, "got an integer", id="a number"),
        pytest.param('"{\\"content\\": \\"a\\"}"', 0, "json_text_to_object (tier 1) reads it", id="JSON"),
    ],
)
def test_a_call_is_explained_and_not_run(server, capsys, arguments, code, says):
    """The exit code says whether the tool would run; the tool itself is not run."""
    assert run(["explain", server, "store", arguments]) == code
    assert says in capsys.readouterr().out


def test_a_file_that_calls_its_own_server_is_explained(tmp_path, capsys):
    """A Python file may run an event loop while it is loaded, as a first try of a server does."""
    file = tmp_path / "first.py"
    file.write_text(SERVER + TRIED, encoding="utf-8")
    assert run(["explain", str(file), "store", '{"content": "a"}']) == 0
    out, err = capsys.readouterr()
    assert "the tool accepts the arguments as sent" in out
    assert not err


def test_the_explanation_is_available_as_json(server, capsys):
    """The JSON has the fate, arguments, repairs and envelope."""
    run(["explain", server, "store", '{"content": "a", "tags": "b"}', "--format", "json"])
    written = json.loads(capsys.readouterr().out)
    assert written["fate"] == "repaired"
    assert written["arguments"] == {"content": "a", "tags": ["b"]}
    assert [each["rule"] for each in written["repairs"]] == ["scalar_to_array"]
    assert written["envelope"] is None


def test_guards_are_shown_on_demand(server, capsys):
    """Without ``--all`` only the guard that came closest is named; JSON always has those of all rules."""
    shown = []
    for options in ([], ["--all"], ["--format", "json"]):
        run(["explain", server, "store", '{"content": "a", "tags": "b, c"}', *options])
        shown.append(" ".join(capsys.readouterr().out.split()))
    assert all("(guard is_one_item)" in each for each in shown)
    for said in ("this is not a list, written as JSON text: json_text_to_array", "What stops each rule"):
        assert [said in each for each in shown] == [False, True, True]


def test_a_log_line_is_explained(server, capsys):
    """The explanation names the place, the rule, on demand its guards, and what was likely sent; the log has no values."""
    for options in ([], ["--all"]):
        assert run(["explain", server, "--event", json.dumps(EVENT), *options]) == 0
        text = " ".join(capsys.readouterr().out.split())
        assert "json_text_to_array (tier 1): string to array." in text
        assert "Likely sent: a list, written as JSON text." in text
        assert "The schema expects an array of strings or null there." in text
        assert ("Its guards: " in text) is bool(options)


def test_lines_are_read_from_stdin(server, capsys, monkeypatch):
    """With ``-`` each event on stdin is explained, and other lines are skipped."""
    lines = f"{json.dumps(EVENT)}\nsomething else\n{json.dumps(EVENT)}\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    assert run(["explain", server, "--event", "-"]) == 0
    assert capsys.readouterr().out.count("1. What was logged") == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        pytest.param([], "name a tool", id="nothing to explain"),
        pytest.param(["store", "{}", "--event", "{}"], "name a tool", id="both"),
        pytest.param(["--event", "{}"], "no mcp-lenient event", id="no event"),
    ],
)
def test_wrong_use_is_one_line(server, capsys, words, says):
    """The exit code is 2, and one line on stderr names the error."""
    assert says in refused(["explain", server, *words], capsys)


def test_an_unknown_tool_is_refused_with_similar_names(server, capsys):
    """An unknown tool gets the envelope that a caller would get, with a similar name."""
    assert run(["explain", server, "stor", "{}"]) == 1
    assert "Did you mean 'store'?" in capsys.readouterr().out
