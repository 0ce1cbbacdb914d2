"""Test that no command prints a character that controls a terminal or reorders its text."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from processes import free_port, running
from rich.text import Text

from mcp_lenient.cli import run
from mcp_lenient.devtools.printing import Output, PrintableRecord, print_exception, printable

HOSTILE = "\x1b]0;x\x07\x1b[2J\x9b31m\x85\x7f\x08\u202egnp\u2066\u200f\u2028\ufeff\u061c\u00ad\U000e0041"
"""C0 and C1 controls, escape sequences, bidirectional controls and invisible letters."""
SERVER = f'''
import sys

from fastmcp import Context, FastMCP
from fastmcp.tools import Tool, ToolResult
from mcp.types import ToolAnnotations
from mcp_lenient import LenientMiddleware

H = {HOSTILE!r}
mcp = FastMCP("server" + H)
mcp.add_middleware(LenientMiddleware())


class Own(Tool):
    async def run(self, arguments):
        raise ValueError("failed " + H)


def own(name, **properties):
    schema = {{"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}}
    hints = ToolAnnotations(readOnlyHint=True)
    mcp.add_tool(Own(name=name, description="Delete " + H + "\\\\n" + H, parameters=schema, annotations=hints))


own("own" + H, **{{"key" + H: {{"type": ["string", "array"], "description": "Use None " + H}}}})
own("plain", mode={{"enum": ["a" + H, "b" + H], "default": "a" + H, "description": H}}, count={{"type": "integer"}})
own("unmet", key={{"type": "string", "pattern": "^(?=x)y" + H}})


@mcp.tool(annotations={{"readOnlyHint": True}})
async def noisy(ctx: Context, text: str) -> str:
    """Log a text."""
    await ctx.warning("warned " + H)
    await ctx.error("failed " + H, logger_name=H)
    raise RuntimeError(text + H)


if __name__ == "__main__":
    mcp.run("http", port=int(sys.argv[1]), show_banner=False, log_level="ERROR")
'''


def controls(text):
    """Return the characters of an output that may do more than be shown."""
    return {character for character in text if not character.isprintable()} - {"\n"}


@pytest.fixture
def server(tmp_path):
    file = tmp_path / "server.py"
    file.write_text(SERVER, encoding="utf-8")
    return str(file)


COMMANDS = [
    pytest.param(["check", "SERVER", "--level", "note"], id="check"),
    pytest.param(["check", "SERVER", "--format", "json"], id="check as JSON"),
    pytest.param(["check", "SERVER", "--format", "github"], id="check for GitHub"),
    pytest.param(["check", "SERVER", "--format", "sarif"], id="check as SARIF"),
    pytest.param(["check", "SERVER", "--select", HOSTILE], id="check, wrong rule"),
    pytest.param(["definitions", "SERVER"], id="definitions"),
    pytest.param(["definitions", "SERVER", "--prompt"], id="definitions as a prompt"),
    pytest.param(["explain", "SERVER", "plain", json.dumps({"mode": HOSTILE, HOSTILE: "5"})], id="explain"),
    pytest.param(["explain", "SERVER", "plain", f"{HOSTILE}\r\ud800", "--all"], id="explain a text"),
    pytest.param(["explain", "SERVER", f"own{HOSTILE}", "{}"], id="explain an unknown tool"),
    pytest.param(["explain", "SERVER", "plain", '{"count": "5"}', "--format", "json"], id="explain as JSON"),
    pytest.param(["stress", "SERVER", "--per-tool", "1"], id="stress"),
    pytest.param(["stress", "SERVER", "--dry-run"], id="stress, a dry run"),
    pytest.param(["stress", "SERVER", "--format", "json", "--per-tool", "1"], id="stress as JSON"),
    pytest.param(["stress", "SERVER", "--tool", HOSTILE], id="stress, no such tool"),
    pytest.param(["check", f"{HOSTILE}.py"], id="no such file"),
    pytest.param(["check", f"http://127.0.0.1:1/{HOSTILE}"], id="no such server"),
    pytest.param(["tail", HOSTILE], id="no such log"),
    pytest.param(["report", HOSTILE], id="no log to report"),
    pytest.param(["proxy", "SERVER", "--http", HOSTILE], id="proxy at no address"),
    pytest.param([HOSTILE], id="no such command"),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_prints_no_controls(server, capfd, command):
    """Names, descriptions, values and errors of a hostile server or caller are escaped."""
    run([server if word == "SERVER" else word for word in command])
    out, err = capfd.readouterr()
    assert out + err
    assert controls(out + err) == set()


@pytest.mark.slow
async def test_a_server_elsewhere_prints_no_controls(server, tmp_path):
    """Neither do the answers of a server at a URL, the logs of libraries, or a traceback."""
    port, program = free_port(), Path(sys.executable).with_name("mcp-lenient")
    url, log = f"http://127.0.0.1:{port}/mcp", tmp_path / "stderr.txt"
    with running([sys.executable, server, str(port)], port):
        for command in (["check"], ["definitions", "--prompt"], ["stress", "--yes", "--per-tool", "1"]):
            done = subprocess.run([program, *command, url], check=False, capture_output=True)  # noqa: S603, ASYNC221
            printed = (done.stdout + done.stderr).decode()
            assert "own" in printed
            assert controls(printed) == set()
        proxy = StdioTransport(
            str(program), ["proxy", url], env={**os.environ}, log_file=log, keep_alive=False
        )
        async with Client(proxy) as client:
            names = [tool.name for tool in await client.list_tools()]
            calls = [(name, {}) for name in names] + [("noisy", {"text": HOSTILE}), (HOSTILE, {})]
            for name, arguments in calls:
                await client.call_tool(name, arguments, raise_on_error=False)
    printed = log.read_text(encoding="utf-8")
    assert "call_rejected" in printed
    assert controls(printed) == set()


def test_a_traceback_prints_no_controls(capsys):
    """Neither does the traceback of an error that nobody expected, in the log or at the end of the program."""
    record = PrintableRecord(
        "a", 40, "a.py", 1, "failed %s", (HOSTILE,), exc_info=(ValueError, ValueError(HOSTILE), None)
    )
    print_exception(ValueError, ValueError(HOSTILE), None)
    for printed in (logging.Formatter().format(record), capsys.readouterr().err):
        assert "ValueError: " in printed
        assert controls(printed) == set()


EVENT = {"timestamp": "2026-11-24T10:00:00Z", "level": "info", "event": "call_repaired", "schema_version": 1}
EVENT |= {"tool": "own\u061c\u00ad\U000e0041", "client_name": "c\u061c", "repair_count": 1, "duration_us": 5}
EVENT["repairs"] = [{"rule": "x\u061c", "pointer": "/\u061ca", "before": "string", "after": "array"}]


@pytest.fixture
def log(tmp_path):
    """Return a log with an event that another program has written, and a line that is not an event."""
    file = tmp_path / "events.jsonl"
    file.write_text(f"{json.dumps(EVENT)}\nnot an event {HOSTILE}\n", encoding="utf-8")
    return str(file)


@pytest.mark.parametrize(
    "command",
    [["tail", "--no-follow", "LOG"], ["report", "LOG"], ["report", "--format", "json", "LOG"]],
    ids=["tail", "report", "report as JSON"],
)
def test_a_log_prints_no_controls(log, capfd, command):
    """The events of a log that a stranger wrote are escaped; JSON keeps its meaning. Those with others are no events."""
    assert run([log if word == "LOG" else word for word in command]) == 0
    out, err = capfd.readouterr()
    assert controls(out + err) == set()
    if "json" in command:
        assert [each["tool"] for each in json.loads(out)["tools"]] == [EVENT["tool"]]


def test_an_event_is_explained_without_controls(server, capfd):
    """``explain --event`` escapes the line that it is given."""
    run(["explain", server, "--event", json.dumps(EVENT)])
    out, err = capfd.readouterr()
    assert controls(out + err) == set()


def test_the_text_of_people_is_kept():
    """Line breaks, tabs, wide spaces, and the joiners of emoji and Persian are printed as they are."""
    text = "名前\u3000a\u00a0b\tc\n👩\u200d💻 می\u200cشود"
    assert printable(text) == text


@pytest.mark.parametrize("terminal", [True, False])
def test_styles_are_kept(terminal):
    """On a terminal, only the escape sequences of our own styles are printed."""
    colors = "standard" if terminal else None
    console = Output(file=StringIO(), force_terminal=terminal, color_system=colors)
    console.print(Text("a\x1b[31m", "bold"))
    assert console.file.getvalue() == ("\x1b[1ma\\u001b[31m\x1b[0m\n" if terminal else "a\\u001b[31m\n")
