"""A server over HTTP that counts how often the tool runs for each number: ``counting.py PORT CALLS``."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from fastmcp import FastMCP

from mcp_lenient import LenientMiddleware

server: FastMCP[Any] = FastMCP("counting", middleware=[LenientMiddleware()])
runs = bytearray(int(sys.argv[2]))


@server.tool
async def note(number: int, tags: list[str]) -> dict[str, Any]:
    """Return the arguments, after other calls had their turn."""
    await asyncio.sleep(0)
    runs[number] = min(255, runs[number] + 1)
    return {"number": number, "tags": tags}


@server.tool
def tally() -> dict[str, int]:
    """Return how many numbers came once, and how many more often."""
    return {"once": runs.count(1), "more": sum(count > 1 for count in runs)}


# On a busy machine a connection waits for longer than uvicorn's five seconds.
options = {"show_banner": False, "log_level": "ERROR", "uvicorn_config": {"timeout_keep_alive": 60}}
server.run("http", host="127.0.0.1", port=int(sys.argv[1]), **options)
