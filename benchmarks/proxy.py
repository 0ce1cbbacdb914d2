"""What the proxy adds to FastMCP's own: time for a call and for its start, over stdio from end to end."""

from __future__ import annotations

import asyncio
import logging
import sys
from contextlib import AsyncExitStack
from statistics import median
from time import perf_counter, perf_counter_ns
from typing import TYPE_CHECKING, Any

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

CALLS = 600
STARTS = 5

_SERVER = """
from fastmcp import FastMCP
mcp = FastMCP("upstream")
@mcp.tool
def search(query: str, tags: list[str], limit: int = 10, exact: bool = False) -> str:
    return query
mcp.run(show_banner=False, log_level="ERROR")
"""
_BARE = """
import sys
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy
create_proxy(StdioTransport(sys.argv[1], sys.argv[2:])).run(show_banner=False, log_level="ERROR")
"""
_LENIENT = "from mcp_lenient.cli import main; main()"

UPSTREAM = (sys.executable, "-c", _SERVER)
CONTENDERS = {
    "FastMCP's proxy": (sys.executable, "-c", _BARE, *UPSTREAM),
    "FastMCP's proxy again": (sys.executable, "-c", _BARE, *UPSTREAM),
    "mcp-lenient proxy": (sys.executable, "-c", _LENIENT, "proxy", "--", *UPSTREAM),
}
RIGHT: Mapping[str, Any] = {"query": "bees", "tags": ["a", "b"], "limit": 5, "exact": True}
NEARLY: Mapping[str, Any] = {"query": "bees", "tags": '["a", "b"]', "limit": "5", "exact": "true"}


def main(console: Console) -> None:
    """Print what a call and a start cost through FastMCP's own proxy and through this one."""
    logging.getLogger("fastmcp").setLevel(logging.CRITICAL)
    console.print(asyncio.run(_table()))


async def _table() -> Table:
    times = await _calls(list(CONTENDERS.values()), RIGHT)
    starts = await _starts(list(CONTENDERS.values()))
    (nearly,) = await _calls([CONTENDERS["mcp-lenient proxy"]], NEARLY)
    table = Table(
        title=f"Over stdio, medians of {CALLS} interleaved calls and {STARTS} starts to the list of tools"
    )
    for name in ("through", "right call us", "ratio", "start s", "more s"):
        table.add_column(name, justify="left" if name == "through" else "right")
    for name, call, start in zip(CONTENDERS, times, starts, strict=True):
        added = (f"{call / times[0]:.3f}", f"{start:.2f}", f"{start - starts[0]:+.2f}")
        table.add_row(name, f"{call:.0f}", *added)
    table.add_row("mcp-lenient, a repaired call", f"{nearly:.0f}", f"{nearly / times[0]:.3f}", "", "")
    table.add_row("target", "", "<= 1.030", "", "<= +0.30")
    return table


def _transport(command: Sequence[str]) -> StdioTransport:
    return StdioTransport(command[0], list(command[1:]), keep_alive=False)


async def _calls(contenders: Sequence[Sequence[str]], arguments: Mapping[str, Any]) -> list[float]:
    """Microseconds for a call through each; they take turns, and each goes first as often as any other."""
    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(Client(_transport(command), mode="legacy"))
            for command in contenders
        ]
        times: list[list[int]] = [[] for _ in clients]
        order = list(range(len(clients)))
        for _ in range(CALLS + CALLS // 10):
            for at in order:
                started = perf_counter_ns()
                result = await clients[at].call_tool_mcp("search", dict(arguments))
                times[at].append(perf_counter_ns() - started)
                assert not result.is_error, result
            order.append(order.pop(0))
    return [median(each[CALLS // 10 :]) / 1000 for each in times]


async def _starts(contenders: Sequence[Sequence[str]]) -> list[float]:
    """Seconds from the start of each to its first list of tools, in turns."""
    times: list[list[float]] = [[] for _ in contenders]
    for _ in range(STARTS):
        for each, command in zip(times, contenders, strict=True):
            started = perf_counter()
            async with Client(_transport(command), mode="legacy") as client:
                assert await client.list_tools()
                each.append(perf_counter() - started)
    return [median(each) for each in times]
