"""Compare the proxy with FastMCP's: over stdio the time for a call and for the start, over HTTP the CPU time."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import subprocess
import sys
from contextlib import AsyncExitStack, ExitStack, closing, contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter, perf_counter_ns, process_time, sleep
from typing import TYPE_CHECKING, Any

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import Console

CALLS = 600
CALLS_OVER_HTTP = 300
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

_HTTP_SERVER = _SERVER.replace(
    "mcp.run(", "import sys\nmcp.run('http', host='127.0.0.1', port=int(sys.argv[1]), "
)
_HTTP_BARE = """
import sys
from fastmcp.server import create_proxy
proxy = create_proxy(sys.argv[2])
proxy.run("http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False, log_level="ERROR")
"""
UPSTREAM = (sys.executable, "-c", _SERVER)
CONTENDERS = {
    "FastMCP's proxy": (sys.executable, "-c", _BARE, *UPSTREAM),
    "FastMCP's proxy again": (sys.executable, "-c", _BARE, *UPSTREAM),
    "mcp-lenient proxy": (sys.executable, "-c", _LENIENT, "proxy", "--", *UPSTREAM),
}
RIGHT: Mapping[str, Any] = {"query": "bees", "tags": ["a", "b"], "limit": 5, "exact": True}
NEARLY: Mapping[str, Any] = {"query": "bees", "tags": '["a", "b"]', "limit": "5", "exact": "true"}


def main(console: Console) -> None:
    """Print the cost of a call and of a start through FastMCP's proxy and through this one."""
    logging.getLogger("fastmcp").setLevel(logging.CRITICAL)
    console.print(asyncio.run(_table()))
    console.print(asyncio.run(_over_http()))


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


async def _over_http() -> Table:
    table = Table(
        title=f"Over HTTP, own CPU time of each process and median time of {CALLS_OVER_HTTP} interleaved right calls"
    )
    for name in ("through", "client", "CPU ms a call", "call ms"):
        table.add_column(name, justify="left" if name in ("through", "client") else "right")
    with ExitStack() as stack:
        ports = [_free_port() for _ in range(3)]
        behind = f"http://127.0.0.1:{ports[0]}/mcp"
        commands = {
            "no proxy: server and client": (sys.executable, "-c", _HTTP_SERVER, str(ports[0])),
            "FastMCP's proxy": (sys.executable, "-c", _HTTP_BARE, str(ports[1]), behind),
            "mcp-lenient proxy": (
                sys.executable,
                *("-c", _LENIENT, "proxy", "--http", f"127.0.0.1:{ports[2]}", behind),
            ),
        }
        processes = [
            stack.enter_context(_running(command, port))
            for command, port in zip(commands.values(), ports, strict=True)
        ]
        for mode, era in (("legacy", "with a session (2025-11-25)"), ("auto", "2026-07-28")):
            floor = await _server_and_client(ports[0], processes[0], mode)
            times, spent = await _calls_over_http(ports, processes[1:], mode)
            for name, call, cpu in zip(
                commands, times, (f"{floor:.1f}", *(f"{each:.1f}" for each in spent)), strict=True
            ):
                table.add_row(name, era, cpu, f"{call / 1000:.1f}")
    table.add_row("target", "with a session", "<= 12", "")
    return table


async def _calls_over_http(
    ports: Sequence[int], proxies: Sequence[subprocess.Popen[bytes]], mode: Any
) -> tuple[list[float], list[float]]:
    """Return microseconds for a call to each port, and milliseconds of each proxy's CPU time for it."""
    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(Client(f"http://127.0.0.1:{port}/mcp", mode=mode))
            for port in ports
        ]
        await _in_turns(clients, RIGHT, CALLS_OVER_HTTP // 10)
        before = list(map(_cpu, proxies))
        times = await _in_turns(clients, RIGHT, CALLS_OVER_HTTP)
        spent = [
            (_cpu(proxy) - start) * 1000 / CALLS_OVER_HTTP
            for proxy, start in zip(proxies, before, strict=True)
        ]
    return times, spent


async def _server_and_client(port: int, server: subprocess.Popen[bytes], mode: Any) -> float:
    """Return the CPU time of FastMCP's server and client for a call, in milliseconds: a proxy is both."""
    async with Client(f"http://127.0.0.1:{port}/mcp", mode=mode) as client:
        await _in_turns([client], RIGHT, CALLS_OVER_HTTP // 10)
        before = _cpu(server) + process_time()
        await _in_turns([client], RIGHT, CALLS_OVER_HTTP)
        return (_cpu(server) + process_time() - before) * 1000 / CALLS_OVER_HTTP


def _cpu(process: subprocess.Popen[bytes]) -> float:
    """Return the CPU time of a process in seconds, from Linux's ``/proc``."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _running(command: Sequence[str], port: int) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:  # noqa: S603 - our own
        try:
            for _ in range(300):
                with closing(socket.socket()) as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                sleep(0.1)
            yield process
        finally:
            process.terminate()


def _transport(command: Sequence[str]) -> StdioTransport:
    # A proxy logs each repaired call; that is not for the terminal.
    return StdioTransport(command[0], list(command[1:]), keep_alive=False, log_file=Path(os.devnull))


async def _calls(contenders: Sequence[Sequence[str]], arguments: Mapping[str, Any]) -> list[float]:
    """Return microseconds for a call through each; they take turns, and each goes first equally often."""
    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(Client(_transport(command), mode="legacy"))
            for command in contenders
        ]
        await _in_turns(clients, arguments, CALLS // 10)
        return await _in_turns(clients, arguments, CALLS)


async def _in_turns(clients: Sequence[Client[Any]], arguments: Mapping[str, Any], calls: int) -> list[float]:
    """Return the median microseconds of a call by each client."""
    times: list[list[int]] = [[] for _ in clients]
    order = list(range(len(clients)))
    for _ in range(calls):
        for at in order:
            started = perf_counter_ns()
            result = await clients[at].call_tool_mcp("search", dict(arguments))
            times[at].append(perf_counter_ns() - started)
            assert not result.is_error, result
        order.append(order.pop(0))
    return [median(each) / 1000 for each in times]


async def _starts(contenders: Sequence[Sequence[str]]) -> list[float]:
    """Return the seconds from the start of each to its first list of tools, in turns."""
    times: list[list[float]] = [[] for _ in contenders]
    for _ in range(STARTS):
        for each, command in zip(times, contenders, strict=True):
            started = perf_counter()
            async with Client(_transport(command), mode="legacy") as client:
                assert await client.list_tools()
                each.append(perf_counter() - started)
    return [median(each) for each in times]
