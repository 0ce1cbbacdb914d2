"""Test which tools ``mcp-lenient stress`` calls, when it needs consent, and what it prints."""

from __future__ import annotations

import io
import json
import sys
import threading

import pytest
from fastmcp import FastMCP
from fastmcp.tools import ToolResult
from fastmcp_versions import STRICT, not_on_3
from refused import refused
from wire import serving

from mcp_lenient.cli import run
from mcp_lenient.telemetry.log import EventLog
from mcp_lenient.telemetry.setup import reset_logging
from mcp_lenient.testing import stress as run_stress
from mcp_lenient.types import Repair

SERVER = '''
import sys
from pathlib import Path

from fastmcp import FastMCP
from mcp_lenient import LenientMiddleware

mcp = FastMCP("notes")
CALLS = Path(__file__).with_name("calls.txt")


def called(tool):
    with CALLS.open("a") as file:
        file.write(tool + "\\n")


@mcp.tool(annotations={"readOnlyHint": True})
def search(query: str, limit: int = 5) -> int:
    """Search."""
    called("search")
    return 0


@mcp.tool
def store(content: str, tags: list[str] | None = None) -> int:
    """Store."""
    called("store")
    return 0


if __name__ == "__main__":
    mcp.run(show_banner=False, log_level="ERROR")
mcp.add_middleware(LenientMiddleware())
'''
CORRUPTING = '''
from fastmcp import FastMCP
from mcp_lenient import LenientMiddleware, Policy, ValueRule

mcp = FastMCP("notes", strict_input_validation=True)
wrong = ValueRule("text_to_zero", 1, lambda place, value: (0,), ("string",), ("integer",))
mcp.add_middleware(LenientMiddleware(Policy(rules=[wrong])))


@mcp.tool
def store(count: list[int]) -> int:
    """Store."""


@mcp.tool
def take(count: int) -> int:
    """Take."""
'''


CHOOSY = '''
from typing import Annotated

from fastmcp import FastMCP
from mcp_lenient import LenientMiddleware
from pydantic import AfterValidator

mcp = FastMCP("choosy")
mcp.add_middleware(LenientMiddleware())


def only(value):
    if value != "K-314":
        raise ValueError("there is no such key")
    return value


@mcp.tool
def take(key: Annotated[str, AfterValidator(only)]) -> int:
    """Take."""
'''
COUNT = '''

@mcp.tool
def count(most: int) -> int:
    """Count."""
'''


@pytest.fixture
def server(tmp_path):
    file = tmp_path / "server.py"
    file.write_text(SERVER, encoding="utf-8")
    return file


def calls_of(server):
    file = server.with_name("calls.txt")
    return set(file.read_text(encoding="utf-8").split()) if file.exists() else set()


def test_tools_of_a_file_are_validated_but_not_run(server, capsys):
    """Each tool gets a table of damage by outcome, without a prompt."""
    assert run(["stress", str(server), "--per-tool", "1"]) == 0
    out, err = capsys.readouterr()
    headline, title, *_ = out.splitlines()
    assert headline.endswith(" damaged calls of notes, seed 0: 0 corrupted; 2 tools tried")
    assert title == "search"
    assert "All tools" in out.splitlines()
    assert "container_as_json_text" in out
    assert "call_repaired" not in err
    assert calls_of(server) == set()


def test_generated_calls_are_not_in_the_server_log(server, capsys):
    """Generated calls do not reach the server's event log, and later events do."""
    log = server.with_name("events.jsonl")
    chosen = "from mcp_lenient import configure_logging\nconfigure_logging(file=Path(__file__).with_name('events.jsonl'), accepted=1)\n"
    server.write_text(SERVER.replace("CALLS =", f"{chosen}CALLS ="), encoding="utf-8")
    try:
        assert run(["stress", str(server), "--per-tool", "1"]) == 0
        assert run(["explain", str(server), "search", '{"query": 5}']) == 0
        assert log.read_text(encoding="utf-8") == ""
        EventLog().warn_once("tool_not_compiled", "store", "its schema is not valid")
        assert json.loads(log.read_text(encoding="utf-8"))["subject"] == "store"
    finally:
        reset_logging()
    assert "call_" not in capsys.readouterr().err


@pytest.mark.parametrize("options", [("--summary",), ("--tool", "store")])
def test_a_server_without_the_middleware_makes_the_exit_code_1(server, capfd, options):
    """Its tools are named, and FastMCP's own warnings about generated calls are not shown."""
    server.write_text(SERVER.replace("mcp.add_middleware(LenientMiddleware())", ""), encoding="utf-8")
    assert run(["stress", str(server), "--per-tool", "1", *options]) == 1
    out, err = capfd.readouterr()
    named = "store" if "store" in options else "search, store"
    assert out.splitlines()[-1] == f"no LenientMiddleware for {named}: nothing is repaired there"
    assert err == ""
    assert [line for line in out.splitlines() if line != line.rstrip()] == []


@not_on_3(STRICT)
def test_a_corrupted_call_makes_the_exit_code_1(tmp_path, capsys):
    """A rule that changes the meaning of a value is reported with the call and the rule."""
    file = tmp_path / "corrupting.py"
    file.write_text(CORRUPTING, encoding="utf-8")
    assert run(["stress", str(file), "--tool", "t*"]) == 1
    out = capsys.readouterr().out
    assert "corrupted take, number_as_text" in out
    assert "by     text_to_zero" in out
    assert "store" not in out


@pytest.fixture
def choosy(tmp_path):
    """Return a server with a tool that accepts one key, which no generator can guess."""
    file = tmp_path / "choosy.py"
    file.write_text(CHOOSY, encoding="utf-8")
    return file


@pytest.mark.parametrize("options", [(), ("--summary",)])
def test_the_exit_code_is_1_if_nothing_could_be_tried(choosy, capsys, options):
    """No empty table is shown. The first line says that nothing was tested, the last one how to fix it."""
    assert run(["stress", str(choosy), *options]) == 1
    out = capsys.readouterr().out
    assert out.startswith("Nothing was tested: no tool of choosy could be tried\n")
    assert "there is no such key" in out
    assert '{"take": [{...}]}' in out
    assert "--arguments" in out
    assert "┃" not in out


def test_untried_tools_are_reported_first(choosy, capsys):
    """If only some tools could not be tried, the first line counts them and the exit code is 0."""
    choosy.write_text(CHOOSY + COUNT, encoding="utf-8")
    assert run(["stress", str(choosy)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0].endswith("seed 0: 0 corrupted; 1 of 2 tools tried (see below)")
    assert "not tried: take\n  the tool does not accept what was made up" in out


@pytest.mark.parametrize("written", [{"take": {"key": "K-314"}}, {"take": [{"key": "K-314"}]}])
@not_on_3(STRICT)
def test_supplied_arguments_are_damaged(choosy, capsys, written):
    """``--arguments`` supplies valid arguments, for one call or several. ``--dry-run`` shows them too."""
    file = choosy.with_name("arguments.json")
    file.write_text(json.dumps(written), encoding="utf-8")
    command = ["stress", str(choosy), "--arguments", str(file)]
    assert run([*command, "--dry-run"]) == 0
    assert '{"key": "K-314"}' in capsys.readouterr().out
    assert run([*command, "--format", "json", "--seed", "3"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["seed"], report["skipped"]) == (3, {})
    assert report["tools"]["take"]["arguments_as_text"] == {"repaired": 1}


def test_invalid_supplied_arguments_make_the_exit_code_1(choosy, capsys):
    """Supplied arguments that the tool refuses are reported, even if other tools were tried."""
    choosy.write_text(CHOOSY + COUNT, encoding="utf-8")
    file = choosy.with_name("arguments.json")
    file.write_text('{"take": {"key": "K-1"}}', encoding="utf-8")
    assert run(["stress", str(choosy), "--arguments", str(file)]) == 1
    assert 'the tool does not accept what was given, {"key": "K-1"}' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("written", "says"),
    [
        pytest.param("{", "Invalid JSON: ", id="not JSON"),
        pytest.param("[]", "write the arguments of one call or several by tool", id="a list"),
        pytest.param('{"take": 5}', "take: Input should be an object", id="no arguments"),
        pytest.param('{"take": []}', "take: List should have at least 1 item", id="no call"),
        pytest.param('{"give": {}}', "the server has no tool 'give'", id="no tool"),
    ],
)
def test_a_wrong_file_of_arguments_is_one_line(choosy, capsys, written, says):
    """The exit code is 2, and one line names the error in the file."""
    file = choosy.with_name("arguments.json")
    file.write_text(written, encoding="utf-8")
    told = refused(["stress", str(choosy), "--arguments", str(file)], capsys)
    assert told.startswith("error: --arguments: ")
    assert says in told


def test_the_exit_code_is_1_if_no_tool_may_be_called(capsys):
    """If a server has no read-only tool, nothing is tested and the exit code is 1."""
    mcp = FastMCP("notes")
    mcp.tool(lambda content: content, name="store")
    with serving(mcp) as url:
        assert run(["stress", "--yes", url]) == 1
    assert "Left out because they may change something" in capsys.readouterr().out


@pytest.mark.slow
def test_a_dry_run_calls_nothing(server, capfd):
    """A dry run prints the tools that would be called and those that would not."""
    assert run(["stress", "--dry-run", "--", sys.executable, str(server)]) == 0
    out = capfd.readouterr().out
    assert "of 1 tool, reaching the tools" in out
    assert "Left out because they may change something (--all calls them too): store" in out
    assert calls_of(server) == set()


@pytest.mark.slow
def test_a_real_server_gets_only_read_only_calls(server, capfd):
    """Calls go through the middleware to the server, but only to read-only tools."""
    assert run(["stress", "--yes", "--per-tool", "1", "--", sys.executable, str(server)]) == 0
    assert "damaged calls of" in capfd.readouterr().out
    assert calls_of(server) == {"search"}


@pytest.mark.slow
@pytest.mark.usefixtures("capfd")
def test_all_tools_are_called_on_request(server):
    """``--all`` also calls tools that are not read-only."""
    assert run(["stress", "--yes", "--all", "--per-tool", "1", "--", sys.executable, str(server)]) == 0
    assert calls_of(server) == {"search", "store"}


@pytest.mark.slow
def test_without_a_terminal_there_is_no_prompt(server, capfd, monkeypatch):
    """Without a terminal and without ``--yes`` the command exits and calls nothing."""
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert run(["stress", "--", sys.executable, str(server)]) == 2
    assert "add --yes to make them" in capfd.readouterr().err
    assert calls_of(server) == set()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        pytest.param(["--tool", "nothing_*"], "no tool of the server matches 'nothing_*'", id="no tool"),
        pytest.param(["--per-tool", "0"], '"0" for --per-tool. Must be >= 1', id="no calls"),
    ],
)
def test_wrong_use_is_one_line(server, capsys, options, says):
    """The exit code is 2, and one line on stderr names the error."""
    assert says in refused(["stress", str(server), *options], capsys)


def claiming(claims, *, is_error):
    """Return a server of which each tool claims something in its metadata."""
    server = FastMCP("claiming")
    for number, claim in enumerate(claims):

        @server.tool(name=f"take_{number}", annotations={"readOnlyHint": True})
        def take(count: int, claim=claim) -> ToolResult:
            return ToolResult(content=f"{count} taken", meta={"mcp_lenient": claim}, is_error=is_error)

    return server


CLAIMS = [
    "x",
    {"repairs": 5},
    {"repairs": [{"rule": "x"}]},
    {"repairs": [dict.fromkeys(Repair._fields, 5)]},
    {"repairs": [dict.fromkeys(Repair._fields, "scalar_to_array")]},  # the pointer is none
    {"error_code": 5},
    {"error_code": "X", "details": "y"},
    {"error_code": "X", "details": {"violations": [1]}},
    {"error_code": "X", "details": {}},  # an envelope of our shape
    {"repairs": [Repair("scalar_to_array", "/count", "integer", "array")._asdict()]},  # a repair of our shape
]


@pytest.mark.slow
@pytest.mark.parametrize("is_error", [False, True])
def test_claims_of_a_server_are_not_trusted(capsys, is_error):
    """Only the metadata of our own middleware counts, whatever the server's metadata claims."""
    reports = []
    for claimed in ([None] * len(CLAIMS), CLAIMS):
        with serving(claiming(claimed, is_error=is_error)) as url:
            assert run(["stress", "--yes", "--per-tool", "1", "--format", "json", url]) == 0
        reports.append(json.loads(capsys.readouterr().out))
    assert len(reports[0]["tools"]) == len(CLAIMS)
    assert reports[0] == reports[1]


def test_only_well_formed_metadata_is_read():
    """Malformed metadata from a tool in this process is ignored."""
    report = run_stress(claiming(CLAIMS[:-2], is_error=True), per_tool=1, run=True)
    assert len({call.tool for call in report.calls}) == len(CLAIMS) - 2
    assert {call.error_code for call in report.calls} <= {None}


INTERRUPTING = """
import os, signal, time
from typing import Annotated

from fastmcp import FastMCP
from mcp_lenient import LenientMiddleware
from pydantic import AfterValidator

mcp = FastMCP("notes")
mcp.add_middleware(LenientMiddleware())
seen = []


def interrupt(text):
    seen.append(text)
    if len(seen) == 30:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
    return text


@mcp.tool
def search(query: Annotated[str, AfterValidator(interrupt)], tags: list[str], limit: int = 5) -> int: ...
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot send itself Ctrl-C there")
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_a_run_with_the_report_until_then(tmp_path, capsys):
    """The calls made so far are shown, and the exit code is 130."""
    file = tmp_path / "server.py"
    file.write_text(INTERRUPTING, encoding="utf-8")
    before = {*threading.enumerate()}
    assert run(["stress", str(file), "--per-tool", "3"]) == 130
    out, err = capsys.readouterr()
    for thread in {*threading.enumerate()} - before:  # which would log its last call in a later test
        thread.join(10)
    assert 1 <= int(out.split(" damaged calls")[0]) <= 30
    assert err == "interrupted: this is the report of the calls until then\n"


def test_progress_is_told_call_by_call():
    """The percentage grows from nothing and stays below the whole."""
    mcp, told = FastMCP("notes"), []

    def search(text: str, limit: int = 5) -> str:
        return text * limit

    for name in ("first", "second"):
        mcp.tool(search, name=name)
    report = run_stress(mcp, progress=lambda *step: told.append(step[1]))
    assert len(told) == len(report.calls)
    assert told == sorted(told)
    assert (told[0], max(told) < 100, 50 in told) == (0, True, True)
