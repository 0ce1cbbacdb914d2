"""``mcp-lenient proxy`` as a process: stdout, stderr, the server's environment and the log."""

from __future__ import annotations

import asyncio
import json
import sys

import pytest
from adapters.fastmcp.proxy.fronts import COMMAND, UPSTREAM
from fastmcp import Client
from tables import each_row
from wire import call, pipes

from mcp_lenient.cli import run


def _spoken(options: list[str], target: list[str], *calls: tuple[str, object], **environment: str):
    """Call tools through a proxy process, and return its answers and its stderr."""
    with pipes(*COMMAND, *options, *target, **environment) as wire:
        answers = [call(wire, name, arguments)["result"] for name, arguments in calls]
    assert wire.process.returncode == 0
    assert all(line.startswith("{") for line in wire.stdout)
    return answers, "".join(wire.stderr)


@pytest.mark.slow
def test_stdout_contains_only_the_protocol(tmp_path):
    """Each line on stdout is a message; the server's stderr and the log go to stderr."""
    log = tmp_path / "events.jsonl"
    target = ["--", sys.executable, UPSTREAM]
    calls = (("noise", {}), ("add", {"a": "1", "b": 2}), ("add", {"a": [], "b": 2}))
    answers, err = _spoken([], target, *calls, ("environment", {"name": "A_KEY"}), A_KEY="handed-down")
    assert [answer["isError"] for answer in answers] == [False, False, True, False]
    assert answers[1]["structuredContent"] == {"result": 3}
    assert answers[3]["structuredContent"] == {"result": "handed-down"}
    assert "upstream-noise" in err
    assert '"event":"call_repaired"' in err
    answers, err = _spoken(["--log", str(log), "--observe"], target, calls[1])
    assert answers[0]["structuredContent"] == {"result": 3}  # FastMCP itself converts "1" to an integer
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(event["event"], event["server"]) for event in events] == [("call_observed", "upstream")]
    assert "call_observed" not in err


@pytest.mark.slow
def test_forwarding_a_log_message_prints_no_warning():
    """The SDK's deprecation warning for log messages is not shown to the operator of a proxy."""
    target = ["--", sys.executable, UPSTREAM]
    (reported,), err = _spoken([], target, ("tell", {}), FASTMCP_LOG_LEVEL="DEBUG")
    assert reported["structuredContent"] == {"result": "told"}
    assert "upstream-told" in err  # FastMCP's own line at DEBUG: the message arrived
    assert "Warning" not in err


@pytest.mark.slow
def test_options_reach_the_policy():
    """``--policy``, ``--unrepairable`` and ``--closed`` set the policy."""
    target = ["--", sys.executable, UPSTREAM]
    (strict,), _ = _spoken(["--policy", "strict"], target, ("add", {"a": "1", "b": 2}))
    assert strict["_meta"]["mcp_lenient"]["error_code"] == "INVALID_A_TYPE"
    (forwarded,), _ = _spoken(["--unrepairable", "forward"], target, ("add", {"a": [], "b": 2}))
    assert forwarded["_meta"]["mcp_lenient"]["error_code"] == "REFUSED_UPSTREAM"
    for options, is_refused in ([], False), (["--closed"], True):
        sent = {"order": {"shipTo": "work", "gift": True}}
        (shipped,), _ = _spoken(options, target, ("ship", sent))
        assert shipped.get("isError", False) is is_refused
        if not is_refused:
            assert shipped["structuredContent"] == {"result": "work"}


async def test_functions_of_a_python_file_validate_calls(commanded, events):
    """The server of a Python file gets the middleware, and its functions validate the calls."""
    async with Client(await commanded(f"{UPSTREAM}:mcp")) as client:
        assert (await client.call_tool("add", {"a": "1", "b": 2})).data == 3
    assert events.names == ["call_accepted"]  # its functions accept "1", so that nothing is repaired


@pytest.mark.parametrize(
    "is_file",
    [
        pytest.param(True, id="a Python file"),
        pytest.param(False, id="another process", marks=pytest.mark.slow),
    ],
)
async def test_an_edited_definitions_file_is_read_again(is_file, tmp_path, commanded):
    """With ``--reload``, an alias added to the file applies to later calls."""
    server = tmp_path / "server.py"
    server.write_text(
        "from fastmcp import FastMCP\nmcp = FastMCP('one')\n"
        "@mcp.tool\ndef note(tags: list[str]) -> int:\n    return len(tags)\n"
        "mcp.run(show_banner=False) if __name__ == '__main__' else None\n"
    )
    config = tmp_path / "tools.yaml"
    config.write_text("tools: {}\n")
    target = [str(server)] if is_file else ["--", sys.executable, str(server)]
    async with Client(await commanded("--config", str(config), "--reload", *target)) as client:
        assert (await client.call_tool_mcp("note", {"labels": ["a"]})).is_error
        config.write_text("tools: {note: {parameters: {tags: {aliases: [labels]}}}}\n")
        await asyncio.sleep(1.1)  # the file is checked once a second
        assert (await client.call_tool("note", {"labels": ["a"]})).data == 1


@each_row(
    ("line", "says"),
    [
        pytest.param("", "no server given", id="nothing"),
        pytest.param("no-such-command-here", "not a command on this machine", id="not a command"),
        pytest.param("--http here https://x", "--http here: must be HOST:PORT", id="address"),
        pytest.param("--http 1.2.3.4:99999 https://x", "must be HOST:PORT", id="port"),
        pytest.param("--header secret https://x", "write each header as", id="header"),
        pytest.param("--header A:${NO_SUCH} https://x", "variable NO_SUCH is not set", id="variable"),
        pytest.param(f"--header A:b -- {sys.executable}", "only sent to a server at a URL", id="not a URL"),
        pytest.param("--config no.yaml https://x", "no.yaml: no such file", id="config"),
        pytest.param("--reload https://x", "--reload: name the file with --config", id="reload"),
        pytest.param(
            "--log /no/such/log https://x",
            "file must be one that can be written to, but '/no/such/log' is not",
            id="log",
        ),
        pytest.param("--policy kind https://x", "kind", id="policy"),
    ],
)
def test_errors_are_one_line(line, says, capsys):
    """A wrong command line exits with 2, one line on stderr, and nothing on stdout."""
    assert run(["proxy", *line.split()]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert says in err
    assert err.count("\n") == 1
    assert "secret" not in err
