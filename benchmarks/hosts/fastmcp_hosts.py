"""Send the calls to FastMCP servers with FastMCP's client, in one process or over stdio."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastmcp import Client, FastMCP
from fastmcp.client.transports import StdioTransport

from benchmarks.hosts.calls import CALLS, store
from benchmarks.hosts.log import events_of, read_events
from benchmarks.hosts.sdk_2 import answer
from mcp_lenient import LenientMiddleware, configure_logging

_LOG = "HOSTS_LOG"


def server() -> FastMCP:
    """Return a server whose tools are functions."""
    mcp = FastMCP("notes", middleware=[LenientMiddleware()])
    mcp.tool(store, output_schema=None)
    return mcp


async def in_memory() -> Mapping[str, Any]:
    """Return the answer and the events of each call, in one process."""
    reported: dict[str, Any] = {}
    async with Client(server()) as client:
        for name, call in CALLS.items():
            with events_of() as events:
                reported[name] = {"answer": await answer(client, call), "events": events}
    return reported


async def over_stdio() -> Mapping[str, Any]:
    """Return the answer and the events of each call to a server in a separate process."""
    reported: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "events.jsonl"
        transport = StdioTransport(
            sys.executable, ["-m", "benchmarks.hosts.fastmcp_hosts"], env={**os.environ, _LOG: str(log)}
        )
        async with Client(transport) as client:
            for name, call in CALLS.items():
                seen = len(read_events(log))
                reported[name] = {"answer": await answer(client, call), "events": read_events(log)[seen:]}
    return reported


def answers(kind: str) -> Mapping[str, Any]:
    """Return the answer and the events of each call."""
    return asyncio.run(in_memory() if kind == "memory" else over_stdio())


if __name__ == "__main__":
    if _LOG in os.environ:
        configure_logging(file=os.environ[_LOG], accepted=1.0)
        server().run(show_banner=False)
    else:
        print(json.dumps(answers(sys.argv[1])))
