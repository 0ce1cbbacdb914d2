"""An upstream server that dies or hangs: the proxy behaves like FastMCP's own, and logs the failure."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import pytest
from adapters.fastmcp.proxy.fronts import SERVERS, UPSTREAM, of_process
from adapters.fastmcp.proxy.servers import upstream
from adapters.fastmcp.proxy.servers.upstream import mcp
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy
from waiting import until
from wire import serving

from mcp_lenient import create_lenient_proxy

pytestmark = pytest.mark.filterwarnings("ignore:The (roots|sampling|logging) capability is deprecated")


async def _after_death(front) -> tuple[str, Any]:
    """Return the answers to a call during which the server dies, and to the next one."""
    async with of_process(UPSTREAM, front=front) as client:
        await client.call_tool_mcp("add", {"a": 1, "b": 2})
        died = await client.call_tool_mcp("die", {})
        again = await client.call_tool_mcp("add", {"a": 1, "b": 2})
    return died.model_dump_json(), again.structured_content


@pytest.mark.slow
async def test_a_server_that_dies_during_a_call(logged):
    """The caller gets FastMCP's error, the failure is logged, and the next call starts the server again."""
    own = await _after_death(create_proxy)
    assert await _after_death(create_lenient_proxy) == own
    assert own[1] == {"result": 3}
    assert [(event["event"], event["tool"], event["error_code"]) for event in logged] == [
        ("call_unanswered", "die", "CONNECTION_LOST")
    ]


async def test_a_hanging_call_does_not_block_others(logged):
    """While one call hangs, others are answered and wrong ones refused."""
    async with Client(create_lenient_proxy(mcp), mode="legacy") as client:
        upstream.hanging.clear()
        hanging = asyncio.create_task(client.call_tool_mcp("hang", {}))
        await until(lambda: upstream.hanging)
        assert (await client.call_tool_mcp("add", {"a": "1", "b": 2})).structured_content == {"result": 3}
        assert (await client.call_tool_mcp("add", {"a": [], "b": 2})).is_error
        hanging.cancel()
        await until(lambda: len(logged) == 3)
        assert (await client.call_tool_mcp("add", {"a": 1, "b": 2})).structured_content == {"result": 3}
    assert logged.names == ["call_repaired", "call_rejected", "call_unanswered"]
    assert logged[-1]["error_code"] == "CANCELLED"


async def test_other_features_pass_through():
    """Resources, prompts, progress and instructions of the server reach the client."""
    seen = []

    async def progress(done, total, _message):
        seen.append((done, total))

    async with Client(create_lenient_proxy(mcp), mode="legacy") as client:
        assert client.initialize_result.instructions == "Be careful."
        assert client.initialize_result.server_info.name == "upstream"
        assert (await client.read_resource("note://one"))[0].text == "a note"
        prompt = await client.get_prompt("ask", {"topic": "bees"})
        assert prompt.messages[0].content.text == "What is bees?"
        await client.call_tool_mcp("slowly", {}, progress_handler=progress)
    assert seen == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.slow
async def test_several_servers_are_each_started_once(tmp_path, logged):
    """Each configured server is started once and prefixes its tools; one that fails to start is skipped."""
    starts = tmp_path / "starts"
    here = {"command": sys.executable, "args": [UPSTREAM, str(starts)]}
    config = {"mcpServers": {"one": here, "two": here, "gone": {"command": "no-such-command-here"}}}
    async with Client(create_lenient_proxy(config), mode="legacy") as client:
        names = {tool.name for tool in await client.list_tools()}
        for _ in range(3):
            result = await client.call_tool_mcp("one_add", {"a": "1", "b": 2})
            assert result.structured_content == {"result": 3}
            await client.call_tool_mcp("two_add", {"a": 1, "b": 2})
        refused = await client.call_tool_mcp("two_add", {"a": []})
    assert {"one_add", "two_add"} < names
    assert refused.meta["mcp_lenient"]["error_code"] == "INVALID_ARGUMENTS"
    assert starts.read_text().splitlines() == ["started", "started"]
    lists = [event for event in logged if event["event"] == "list_failed"]
    assert {event["subject"] for event in lists} == {"gone"}
    calls = [(event["tool"], event["mounted"]) for event in logged if event not in lists]
    assert set(calls) == {("one_add", "one"), ("two_add", "two")}
    assert json.dumps(logged)


@pytest.mark.slow
@pytest.mark.parametrize("over_http", [False, True])
async def test_a_server_of_the_newer_era_is_started_once(tmp_path, over_http):
    """Asking a server over stdio for its protocol era starts it, and the calls use the same process."""
    starts = tmp_path / "starts"
    transport = StdioTransport(sys.executable, [UPSTREAM, str(starts)])
    front = create_lenient_proxy(transport)
    if over_http:
        with serving(front) as url:
            eras = [await _era_of_a_call(url), await _era_of_a_call(url)]
    else:
        eras = [await _era_of_a_call(front)]
        await transport.close()
    assert set(eras) == {"2026-07-28"}
    assert starts.read_text().splitlines() == ["started"]


async def _era_of_a_call(front) -> str:
    """Make a call as a client of the newer protocol era, and return the negotiated era."""
    async with Client(front) as client:
        result = await client.call_tool_mcp("add", {"a": "1", "b": 2})
        assert result.structured_content == {"result": 3}
        return client.protocol_version


async def test_a_server_of_the_older_era_can_ask_for_roots_at_its_start(tmp_path):
    """The process that was asked for its era is replaced, so that a client can answer the requests of a starting server."""
    starts = tmp_path / "starts"
    async with of_process(
        str(SERVERS / "older.py"), str(starts), mode="auto", roots=["file:///here"]
    ) as client:
        await client.list_tools()
        result = await client.call_tool_mcp("roots", {})
    assert result.content[0].text == "file:///here"
    assert starts.read_text().splitlines() == ["started", "started"]
