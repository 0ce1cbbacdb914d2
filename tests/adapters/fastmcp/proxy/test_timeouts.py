"""``timeout`` and ``connect_timeout`` of a proxy."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from contextlib import closing, contextmanager, nullcontext
from typing import Any

import pytest
from fastmcp import Client, Context, FastMCP
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp.shared.exceptions import MCPError
from tables import each_row
from waiting import PATIENCE
from wire import serving

from mcp_lenient import create_lenient_proxy
from mcp_lenient.cli import run


def _slow() -> FastMCP:

    async def wait(seconds: float) -> str:
        await asyncio.sleep(seconds)
        return "awake"

    async def ask(ctx: Context) -> str:
        answer = await ctx.elicit("Which?", response_type=str)
        return str(answer.data)

    server = FastMCP("upstream", tools=[wait, ask])

    @server.resource("note://slow")
    async def note() -> str:
        await asyncio.sleep(PATIENCE)
        return "late"

    return server


async def _called(front: FastMCP, tool: str, arguments: dict[str, Any], **client: Any):
    async with Client(front, **client) as connected:
        return await connected.call_tool_mcp(tool, arguments)


@pytest.mark.parametrize(("mode", "several"), [("legacy", True), ("auto", False)])
async def test_a_timeout_is_answered_with_an_envelope(mode, several, events, caplog):
    """The envelope has the seconds, and warns that the tool may have run; it is logged once, not by FastMCP."""
    target, tool = _slow(), "a_wait" if several else "wait"
    with serving(target) if several else nullcontext() as url:
        behind = {"mcpServers": {"a": {"url": url}, "b": {"url": url}}} if several else target
        front = create_lenient_proxy(behind, timeout=3)
        with caplog.at_level(logging.INFO), _fastmcps_log_to(caplog.handler):
            result = await _called(front, tool, {"seconds": PATIENCE}, mode=mode)
    reported = result.meta["mcp_lenient"]
    assert result.is_error
    assert reported["error_code"] == "UPSTREAM_TIMED_OUT"
    assert reported["details"] == {"tool": tool, "timeout_seconds": 3}
    assert "within 3 seconds" in reported["message"]
    assert "may have run" in reported["message"]
    assert [(event["event"], event.get("error_code")) for event in events] == [
        ("call_accepted", None),
        ("call_unanswered", "UPSTREAM_TIMED_OUT"),
    ]
    assert [each.message for each in caplog.records if each.name.startswith("fastmcp")] == []


@contextmanager
def _fastmcps_log_to(handler: logging.Handler):
    logger = logging.getLogger("fastmcp")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


async def test_elicitation_time_counts_toward_the_timeout():
    """A call times out even while the server waits for the client's user."""

    async def answer(*_: Any) -> dict[str, str]:
        await asyncio.sleep(PATIENCE)
        return {"value": "this"}

    front = create_lenient_proxy(_slow(), timeout=3)
    result = await _called(front, "ask", {}, elicitation_handler=answer, mode="legacy")
    assert result.meta["mcp_lenient"]["error_code"] == "UPSTREAM_TIMED_OUT"


async def test_other_requests_time_out_too():
    """Reading a resource times out with an error."""
    async with Client(create_lenient_proxy(_slow(), timeout=0.2)) as client:
        with pytest.raises(MCPError, match=r"timed out|did not answer in time"):
            await asyncio.wait_for(client.read_resource("note://slow"), PATIENCE / 2)


async def test_a_silent_process_times_out(events):
    """A program that starts but sends nothing is unavailable after ``connect_timeout``."""
    silent = StdioTransport(sys.executable, ["-c", "import time; time.sleep(60)"])
    front = create_lenient_proxy(silent, connect_timeout=0.5)
    result = await asyncio.wait_for(_called(front, "wait", {}, mode="auto"), PATIENCE / 2)
    await silent.close()
    assert result.meta["mcp_lenient"]["error_code"] == "UPSTREAM_UNAVAILABLE"
    assert (result.meta["mcp_lenient"]["recovery"], result.meta["mcp_lenient"]["retryable"]) == (
        "transient",
        True,
    )
    assert [event["event"] for event in events] == ["list_failed", "call_rejected"]


async def test_a_stopped_server_is_unavailable(events):
    """If the server no longer listens, the envelope says that it is unavailable."""
    with serving(_slow()) as url:
        front = create_lenient_proxy(url, connect_timeout=PATIENCE)
        assert not (await _called(front, "wait", {"seconds": 0}, mode="legacy")).is_error
    result = await asyncio.wait_for(_called(front, "wait", {"seconds": 0}, mode="legacy"), PATIENCE / 2)
    assert result.meta["mcp_lenient"]["error_code"] == "UPSTREAM_UNAVAILABLE"
    assert (events[-1]["event"], events[-1]["error_code"]) == ("call_unanswered", "UPSTREAM_UNAVAILABLE")


async def test_an_unreachable_address_times_out():
    """A port with a full queue does not answer; the server is unavailable after ``connect_timeout``."""
    with (
        closing(socket.socket()) as full,
        closing(socket.socket()) as first,
        closing(socket.socket()) as second,
    ):
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for waiting in (first, second):
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        url = f"http://127.0.0.1:{full.getsockname()[1]}/mcp"
        front = create_lenient_proxy(StreamableHttpTransport(url), connect_timeout=0.5)
        result = await asyncio.wait_for(_called(front, "wait", {"seconds": 0}), PATIENCE / 2)
    assert result.meta["mcp_lenient"]["error_code"] == "UPSTREAM_UNAVAILABLE"


@each_row("given", [0, -1, float("nan"), float("inf"), True, "5"])
@each_row("name", ["timeout", "connect_timeout"])
def test_an_invalid_duration_is_an_error(name, given):
    """A duration must be a positive number of seconds."""
    with pytest.raises(ValueError, match=f"{name}: this must be"):
        create_lenient_proxy("http://localhost:1/mcp", **{name: given})


def test_a_client_keeps_its_own_timeouts():
    """A timeout for a ready-made client is an error, since the client has its own."""
    with pytest.raises(ValueError, match=r"timeout: .*client"):
        create_lenient_proxy(Client("http://localhost:1/mcp"), timeout=5)


@each_row(
    ("option", "given"),
    [("--timeout", "5s"), ("--connect-timeout", "0"), ("--timeout", "nan"), ("--connect-timeout", "1e999")],
)
def test_the_command_reports_an_invalid_duration(option, given, capsys):
    """The command's error names the option."""
    assert run(["proxy", f"{option}={given}", "https://example.com/mcp"]) == 2
    err = capsys.readouterr().err
    assert option in err
    assert err.count("\n") == 1


def test_an_in_process_server_has_no_connect_timeout(tmp_path, capsys):
    """``--timeout`` is an error for the server of a Python file, which runs inside the proxy."""
    file = tmp_path / "server.py"
    file.write_text("from fastmcp import FastMCP\nmcp = FastMCP('one')\n")
    assert run(["proxy", "--timeout", "5", str(file)]) == 2
    assert "--timeout" in capsys.readouterr().err
