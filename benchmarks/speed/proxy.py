"""Compare the CPU time of a call over HTTP: through FastMCP's proxy, through this one, and without a proxy."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any, Final

from fastmcp import Client
from rich.table import Table

from benchmarks.ports import free_port, wait_for
from benchmarks.printing import wide_console
from benchmarks.speed.timing import in_turns

_CALLS: Final = 300
_SERVER: Final = """
import sys
from fastmcp import FastMCP
mcp = FastMCP("upstream")
@mcp.tool
def search(query: str, tags: list[str], limit: int = 10, exact: bool = False) -> str:
    return query
mcp.run("http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False, log_level="ERROR")
"""
_BARE: Final = """
import sys
from fastmcp.server import create_proxy
proxy = create_proxy(sys.argv[2])
proxy.run("http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False, log_level="ERROR")
"""
_LENIENT: Final = """
import sys
from mcp_lenient.cli import main
sys.argv[1:] = ["proxy", "--http", f"127.0.0.1:{sys.argv[1]}", sys.argv[2]]
main()
"""
_PROGRAMS: Final = {
    "no proxy: server and client": _SERVER,
    "FastMCP's proxy": _BARE,
    "mcp-lenient proxy": _LENIENT,
}
_RIGHT: Final[Mapping[str, Any]] = {"query": "bees", "tags": ["a", "b"], "limit": 5, "exact": True}
Process = subprocess.Popen[bytes]


def main() -> None:
    """Print the cost of a call through FastMCP's proxy and through this one."""
    logging.getLogger("fastmcp").setLevel(logging.CRITICAL)
    wide_console().print(asyncio.run(_table()))


async def _table() -> Table:
    title = f"Over HTTP, own CPU time of each process and median time of {_CALLS} interleaved right calls"
    table = Table("through", "client", title=title)
    for name in ("CPU ms a call", "call ms"):
        table.add_column(name, justify="right")
    with ExitStack() as stack:
        ports = [free_port() for _ in _PROGRAMS]
        url = f"http://127.0.0.1:{ports[0]}/mcp"
        server, *proxies = [
            stack.enter_context(_running((sys.executable, "-c", program, str(port), url), port))
            for program, port in zip(_PROGRAMS.values(), ports, strict=True)
        ]
        for mode, era in (("legacy", "with a session (2025-11-25)"), ("auto", "2026-07-28")):
            # A proxy is a server and a client.
            _, (least, own) = await _measured(ports[:1], [server, None], mode)
            times, spent = await _measured(ports, proxies, mode)
            for row in zip(_PROGRAMS, times, (least + own, *spent), strict=True):
                table.add_row(row[0], era, f"{row[2]:.1f}", f"{row[1] / 1000:.1f}")
    table.add_row("target", "with a session", "<= 12", "")
    return table


async def _measured(
    ports: Sequence[int], processes: Sequence[Process | None], mode: Any
) -> tuple[list[float], list[float]]:
    """Return microseconds for a call to each port, and milliseconds of each process's CPU time for a round of calls."""
    async with AsyncExitStack() as stack:
        clients = [Client(f"http://127.0.0.1:{port}/mcp", mode=mode) for port in ports]
        calls = [partial(_called, await stack.enter_async_context(client)) for client in clients]
        await in_turns(calls, _CALLS // 10)
        before = list(map(_cpu, processes))
        times = await in_turns(calls, _CALLS)
        spent = [
            (_cpu(process) - start) * 1000 / _CALLS for process, start in zip(processes, before, strict=True)
        ]
    return times, spent


async def _called(client: Client[Any]) -> None:
    result = await client.call_tool_mcp("search", dict(_RIGHT))
    assert not result.is_error, result


def _cpu(process: Process | None) -> float:
    """Return the CPU time of another process, or of this one, in seconds; of others from Linux's ``/proc``."""
    if process is None:
        return process_time()
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def _running(command: Sequence[str], port: int) -> Iterator[Process]:
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:  # noqa: S603 - our own
        try:
            wait_for(port)
            yield process
        finally:
            process.terminate()
