"""The proxy as a process, served over HTTP, in front of a server over HTTP: many callers at once, long answers."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path

import httpx2
import pytest
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport

_SERVER = Path(__file__).parent / "servers" / "upstream.py"

pytestmark = pytest.mark.slow


def _free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int) -> None:
    for _ in range(600):
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    pytest.fail(f"nothing listens on port {port}")


@contextmanager
def _running(command: list[str], port: int, **environment: str):
    with subprocess.Popen(  # noqa: S603 - our own
        command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            _wait_for(port)
            yield process
        finally:
            process.terminate()


def _patient(headers=None, auth=None, **_):
    """A caller's own HTTP client, which does not give up while the others are served."""
    return httpx2.AsyncClient(headers=headers, auth=auth, timeout=None, verify=False)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The address of the proxy, and its log."""
    upstream, front, log = _free_port(), _free_port(), tmp_path_factory.mktemp("log") / "events.jsonl"
    command = [
        sys.executable,
        "-c",
        "from mcp_lenient.cli import main; main()",
        "proxy",
        "--http",
        f"127.0.0.1:{front}",
    ]
    command += ["--log", str(log), "--header", "X-Key: ${A_KEY}", f"http://127.0.0.1:{upstream}/mcp"]
    with (
        _running([sys.executable, str(_SERVER)], upstream, UPSTREAM_PORT=str(upstream)),
        _running(command, front, A_KEY="secret"),
    ):
        yield f"http://127.0.0.1:{front}/mcp", log


@pytest.mark.full
@pytest.mark.parametrize("calls", [100, pytest.param(1000, marks=pytest.mark.full)])
async def test_many_calls_at_once(served, calls):
    """Each of many callers gets its own answer, whether its call was right or repaired."""
    url, _ = served
    clients = [Client(StreamableHttpTransport(url, httpx_client_factory=_patient)) for _ in range(10)]

    async def call(number: int):
        sent = {"a": number if number % 2 else str(number), "b": 1}
        return (await clients[number % 10].call_tool_mcp("add", sent)).structured_content

    for client in clients:
        await client.__aenter__()
    answers = await asyncio.gather(*map(call, range(calls)))
    for client in clients:
        await client.__aexit__(None, None, None)
    assert answers == [{"result": number + 1} for number in range(calls)]


@pytest.mark.full
async def test_a_result_of_twenty_megabytes(served):
    """A long answer arrives whole, and the event is in the log."""
    url, log = served
    async with Client(StreamableHttpTransport(url)) as client:
        result = await client.call_tool_mcp("large", {"megabytes": "20"})
    assert len(result.content[0].text) == 20 * 2**20
    last = json.loads(log.read_text().splitlines()[-1])
    assert (last["event"], last["tool"], last["transport"]) == ("call_repaired", "large", "streamable-http")
