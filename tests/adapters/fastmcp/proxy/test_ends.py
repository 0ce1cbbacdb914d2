"""A stdio proxy that gets a signal, or whose server exits."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager
from time import monotonic, sleep

import pytest
from adapters.fastmcp.proxy.fronts import COMMAND, UPSTREAM
from fastmcp import Client
from processes import free_port, running
from wire import Pipes, call

_COMMAND = [*COMMAND, "--", sys.executable]
_SECONDS = 30
_DEAF = "import runpy, sys, time; sys.argv.pop(0); runpy.run_path(sys.argv[0], run_name='__main__'); time.sleep(300)"

pytestmark = pytest.mark.slow


@contextmanager
def connected(*server: str):
    """Start a proxy of a Python program, and return a connection to it."""
    wire = Pipes(*_COMMAND, *server)
    try:
        wire.handshake()
        yield wire
    finally:
        wire.process.kill()
        wire.close()


def _has_ended(pid: int) -> bool:
    """Wait up to 30 seconds for a process to end, and return whether it did."""
    end = monotonic() + _SECONDS
    while monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        sleep(0.05)
    return False


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize(
    ("number", "busy"), [(signal.SIGINT, False), (signal.SIGTERM, True)], ids=["SIGINT", "SIGTERM-in-a-call"]
)
def test_a_signal_ends_the_proxy_and_its_server(number, busy):
    """The proxy exits at once and ends the server that it started, even during a call."""
    with connected(UPSTREAM) as wire:
        server = call(wire, "process")["result"]["structuredContent"]["result"]
        if busy:
            wire.post("tools/call", {"name": "hang", "arguments": {}})
            sleep(0.5)
        wire.process.send_signal(number)
        assert wire.process.wait(_SECONDS) == 0
    assert _has_ended(server)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
async def test_sigterm_ends_a_proxy_over_http_and_its_server():
    """A proxy over HTTP exits with 0 after SIGTERM, and ends a server that ignores the end of its input."""
    port = free_port()
    command = [*_COMMAND[:4], "--http", f"127.0.0.1:{port}", *_COMMAND[4:], "-c", _DEAF, UPSTREAM]
    with running(command, port) as process:
        async with Client(f"http://127.0.0.1:{port}/mcp") as client:
            server = (await client.call_tool("process")).data
        process.send_signal(signal.SIGTERM)
        assert process.wait(_SECONDS) == 0
    assert _has_ended(server)


def test_a_server_that_exits_at_once_is_reported():
    """A call gets an envelope with ``UPSTREAM_UNAVAILABLE`` if the server cannot list its tools."""
    with connected("-c", "raise SystemExit(3)") as wire:
        reported = call(wire, "add", {"a": 1, "b": 2})["result"]
    assert reported["isError"]
    assert reported["_meta"]["mcp_lenient"]["error_code"] == "UPSTREAM_UNAVAILABLE"
