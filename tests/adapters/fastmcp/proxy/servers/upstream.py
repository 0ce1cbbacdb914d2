"""A server with misbehaving tools.

It uses stdio, or HTTP if UPSTREAM_PORT is set, and appends a line to the file given as its argument.
"""

from __future__ import annotations

import asyncio
import os
import sys
import warnings
from pathlib import Path
from typing import Any

from fastmcp import Context, FastMCP
from fastmcp.server.dependencies import get_http_headers
from pydantic import BaseModel

mcp = FastMCP("upstream", instructions="Be careful.")


@mcp.tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


class Order(BaseModel):
    """An order, which ignores unknown names."""

    ship_to: str = "home"


@mcp.tool
def ship(order: Order) -> str:
    """Ship an order."""
    return order.ship_to


@mcp.tool
def die() -> str:
    """End the process in the middle of the call."""
    os._exit(3)


hanging = []
"""The calls of ``hang`` that have begun."""


@mcp.tool
async def hang(seconds: float = 60) -> str:
    """Answer after a long time."""
    hanging.append(seconds)
    await asyncio.sleep(seconds)
    return "awake"


@mcp.tool
def large(megabytes: int) -> str:
    """Answer with this much text."""
    return "x" * (megabytes * 2**20)


@mcp.tool
def environment(name: str) -> str:
    """Return an environment variable."""
    return os.environ.get(name, "")


@mcp.tool
def header(name: str) -> str:
    """Return a header of the request."""
    return get_http_headers().get(name, "")


@mcp.tool
async def slowly(ctx: Context) -> str:
    """Report progress."""
    for at in range(3):
        await ctx.report_progress(at + 1, 3)
    return "done"


@mcp.tool
async def ask_who(ctx: Context, after: float = 0) -> str:
    """Ask the client's user who it is, after a while."""
    await asyncio.sleep(after)
    answer = await ctx.elicit("Who are you?", response_type=str)
    return str(answer.data)


@mcp.tool
def noise() -> str:
    """Write to standard error."""
    print("upstream-noise", file=sys.stderr, flush=True)  # noqa: T201 - what is tested
    return "noisy"


@mcp.tool
def process() -> int:
    """Return the id of this process."""
    return os.getpid()


@mcp.tool
async def tell(ctx: Context) -> str:
    """Send the client a log message, without the SDK's warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        await ctx.info("upstream-told")
    return "told"


@mcp.resource("note://one")
def note() -> str:
    """Return a note."""
    return "a note"


@mcp.prompt
def ask(topic: str) -> str:
    """Ask about a topic."""
    return f"What is {topic}?"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        with Path(sys.argv[1]).open("a", encoding="utf-8") as file:
            file.write("started\n")
    if port := os.environ.get("UPSTREAM_PORT"):
        kind: Any = os.environ.get("UPSTREAM_TRANSPORT", "http")
        mcp.run(transport=kind, port=int(port), show_banner=False, log_level="ERROR")
    else:
        mcp.run(show_banner=False)
