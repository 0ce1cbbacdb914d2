"""A proxy process over HTTP in front of an HTTP server: many concurrent callers, long answers."""

from __future__ import annotations

import asyncio
import json
import sys

import httpx2
import pytest
from adapters.fastmcp.proxy.fronts import COMMAND, UPSTREAM
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport
from processes import free_port, running


def _patient(headers=None, auth=None, **_):
    """Create an HTTP client without timeouts, so that it waits while others are served."""
    return httpx2.AsyncClient(headers=headers, auth=auth, timeout=None, verify=False)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Return the address of the proxy, and its log."""
    upstream, front, log = free_port(), free_port(), tmp_path_factory.mktemp("log") / "events.jsonl"
    command = [*COMMAND, "--http", f"127.0.0.1:{front}"]
    command += ["--log", str(log), "--header", "X-Key: ${A_KEY}", f"http://127.0.0.1:{upstream}/mcp"]
    with (
        running([sys.executable, UPSTREAM], upstream, UPSTREAM_PORT=str(upstream)),
        running(command, front, A_KEY="secret"),
    ):
        yield f"http://127.0.0.1:{front}/mcp", log


@pytest.mark.slow
async def test_concurrent_callers_get_their_own_answers(served):
    """Each caller gets its own answer, for valid and repaired calls."""
    url, _ = served
    clients = [Client(StreamableHttpTransport(url, httpx_client_factory=_patient)) for _ in range(10)]

    async def call(number: int):
        sent = {"a": number if number % 2 else str(number), "b": 1}
        return (await clients[number % 10].call_tool_mcp("add", sent)).structured_content

    for client in clients:
        await client.__aenter__()
    answers = await asyncio.gather(*map(call, range(1000)))
    for client in clients:
        await client.__aexit__(None, None, None)
    assert answers == [{"result": number + 1} for number in range(1000)]


@pytest.mark.slow
async def test_a_result_of_twenty_megabytes_arrives_whole(served):
    """A long answer is not cut, and its event is in the log."""
    url, log = served
    async with Client(StreamableHttpTransport(url)) as client:
        result = await client.call_tool_mcp("large", {"megabytes": "20"})
    assert len(result.content[0].text) == 20 * 2**20
    last = json.loads(log.read_text().splitlines()[-1])
    assert (last["event"], last["tool"], last["transport"]) == ("call_repaired", "large", "streamable-http")
