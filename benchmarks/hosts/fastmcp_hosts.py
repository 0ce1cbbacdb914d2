"""Send the calls to FastMCP servers with FastMCP's client, in one process or over stdio."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from fastmcp import Client, FastMCP
from fastmcp.client.transports import StdioTransport

from benchmarks.hosts.calls import store
from benchmarks.hosts.log import reported
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
    async with Client(server()) as client:
        return await reported(partial(answer, client))


async def over_stdio() -> Mapping[str, Any]:
    """Return the answer and the events of each call to a server in a separate process."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "events.jsonl"
        transport = StdioTransport(
            sys.executable, ["-m", "benchmarks.hosts.fastmcp_hosts"], env={**os.environ, _LOG: str(log)}
        )
        async with Client(transport) as client:
            return await reported(partial(answer, client), log)


def answers(kind: str) -> Mapping[str, Any]:
    """Return the answer and the events of each call."""
    return asyncio.run(in_memory() if kind == "memory" else over_stdio())


if __name__ == "__main__":
    if _LOG in os.environ:
        configure_logging(file=os.environ[_LOG], accepted=1.0)
        server().run(show_banner=False)
    else:
        print(json.dumps(answers(sys.argv[1])))
