"""Many mixed calls at once over streamable HTTP: is any answer lost, doubled or mixed up, and does memory stay?"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import socket
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastmcp import Client, FastMCP
from rich.table import Table

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from mcp.types import CallToolResult
    from rich.console import Console

CALLS = 10_000
_CLIENTS = 8
_AT_ONCE = 64
_SAMPLES = 10
_PATIENCE_S = 60


@dataclass(slots=True)
class Load:
    """What was found: ``wrong`` tells of answers that are not the one to their call, ten at most."""

    calls: int
    seconds: float = 0.0
    answered: int = 0
    wrong: list[str] = field(default_factory=list)
    runs_expected: int = 0
    ran_once: int = 0
    ran_more_often: int = 0
    memory_kib: list[int] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        """Whether each call has got its own answer, and each tool that was to run ran once."""
        return (
            self.answered == self.calls
            and not self.wrong
            and self.ran_once == self.runs_expected
            and not self.ran_more_often
        )

    @property
    def growth_per_call(self) -> float:
        """Bytes by which the server grew for each call of the second half."""
        half = len(self.memory_kib) // 2
        return (self.memory_kib[-1] - self.memory_kib[half]) * 1024 / (self.calls / 2)


def measure(calls: int, *, bare: bool = False) -> Load:
    """Send this many calls, 64 at a time by eight clients of both eras, to a server in a process of its own.

    Args:
        calls: How many.
        bare: Whether the server has no middleware; what needs repair is then left out.
    """
    with _server(calls, bare=bare) as (url, pid):
        return asyncio.run(_load(url, pid, calls, bare=bare))


# --- the calls ----------------------------------------------------------------------------------------


def _sent(number: int, *, bare: bool) -> tuple[str, dict[str, Any]]:
    """One of six kinds of call, which carries its number in every part of it that varies."""
    word = f"w{number}"
    kinds: tuple[tuple[str, dict[str, Any]], ...] = (
        ("note", {"number": number, "tags": [word]}),
        ("note", {"number": str(number), "tags": json.dumps([word])}),
        ("note", {"number": number, "tags": [word], "toolCallId": word}),
        ("note", {"Number": number, "tags": word}),
        ("note", {"number": number, "tags": number}),
        (f"nope{number}", {"number": number}),
    )
    return kinds[0 if bare else number % len(kinds)]


def _fault(number: int, answer: CallToolResult, *, bare: bool) -> str | None:
    """What is wrong with the answer to a call, if anything is."""
    expected: object = {"number": number, "tags": [f"w{number}"]}
    got: object = answer.structured_content
    told = (answer.meta or {}).get("mcp_lenient", {})
    if not bare and number % 6 == 4:
        expected, got = number, told.get("details", {}).get("received_value")
    elif not bare and number % 6 == 5:
        expected, got = f"nope{number}", told.get("details", {}).get("tool")
    elif answer.is_error:
        return f"call {number} was refused: {told}"
    return None if got == expected else f"call {number} was answered {got}"


async def _load(url: str, pid: int, calls: int, *, bare: bool) -> Load:
    found = Load(calls, runs_expected=sum(bare or number % 6 < 4 for number in range(calls)))
    numbers = iter(range(calls))
    every = max(1, calls // _SAMPLES)

    async def work(client: Client[Any]) -> None:
        for number in numbers:
            tool, arguments = _sent(number, bare=bare)
            answer = await client.call_tool_mcp(tool, arguments)
            fault = _fault(number, answer, bare=bare)
            if fault is not None and len(found.wrong) < 10:
                found.wrong.append(fault)
            found.answered += 1
            if found.answered % every == 0:
                found.memory_kib.append(_resident_kib(pid))

    async with AsyncExitStack() as stack:
        modes = ("auto", "legacy")
        clients = [
            await stack.enter_async_context(Client(url, mode=modes[at % 2])) for at in range(_CLIENTS)
        ]
        started = time.perf_counter()
        await asyncio.gather(*(work(clients[at % _CLIENTS]) for at in range(_AT_ONCE)))
        found.seconds = time.perf_counter() - started
        tally = (await clients[0].call_tool_mcp("tally", {})).structured_content or {}
    found.ran_once, found.ran_more_often = tally["once"], tally["more"]
    return found


def _resident_kib(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.split("VmRSS:")[1].split()[0])


# --- the server ---------------------------------------------------------------------------------------


@contextmanager
def _server(calls: int, *, bare: bool) -> Iterator[tuple[str, int]]:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, calls, bare), daemon=True)
    process.start()
    try:
        assert here.poll(_PATIENCE_S), "the server did not start"
        yield f"http://127.0.0.1:{here.recv()}/mcp", process.pid or 0
    finally:
        process.kill()
        process.join()


def _serve(ready: Connection, calls: int, bare: bool) -> None:  # noqa: FBT001 - multiprocessing passes it on
    import uvicorn  # noqa: PLC0415 (imported in the process of the server)

    app = _lenient_server(calls, bare=bare).http_app()
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        ready.send(listener.getsockname()[1])
        config = uvicorn.Config(app, log_level="error", ws="none")
        uvicorn.Server(config).run(sockets=[listener])


def _lenient_server(calls: int, *, bare: bool) -> FastMCP:
    from benchmarks.servers import quiet  # noqa: PLC0415 (as above)
    from mcp_lenient import LenientMiddleware  # noqa: PLC0415

    quiet()
    server: FastMCP = FastMCP("load")
    runs = bytearray(calls)

    @server.tool
    async def note(number: int, tags: list[str]) -> dict[str, Any]:
        await asyncio.sleep(0)
        runs[number] = min(255, runs[number] + 1)
        return {"number": number, "tags": tags}

    @server.tool
    def tally() -> dict[str, int]:
        return {"once": runs.count(1), "more": sum(count > 1 for count in runs)}

    if not bare:
        server.add_middleware(LenientMiddleware())
    return server


def main(console: Console, *, calls: int = CALLS) -> None:
    """Print what becomes of the calls, with the middleware and, of right ones only, without it."""
    table = Table(title=f"{calls:,} calls over streamable HTTP, {_AT_ONCE} at a time by {_CLIENTS} clients")
    for name in ("", "with mcp-lenient", "FastMCP alone, right calls only"):
        table.add_column(name, justify="right" if name else "left")
    columns = [_cells(measure(calls, bare=bare)) for bare in (False, True)]
    for label in columns[0]:
        table.add_row(label, *(column[label] for column in columns))
    console.print(table)


def _cells(found: Load) -> dict[str, str]:
    memory = found.memory_kib
    return {
        "answered": f"{found.answered:,}",
        "answered wrongly": f"{len(found.wrong)}" if not found.wrong else f"[red]{found.wrong}[/red]",
        "to be run": f"{found.runs_expected:,}",
        "run once": f"{found.ran_once:,}",
        "run more often": f"{found.ran_more_often:,}",
        "calls a second": f"{found.calls / found.seconds:,.0f}",
        "memory at a tenth": f"{memory[0] / 1024:.1f} MiB",
        "memory at half": f"{memory[len(memory) // 2] / 1024:.1f} MiB",
        "memory at the end": f"{memory[-1] / 1024:.1f} MiB",
        "growth in the second half": f"{found.growth_per_call:.0f} bytes a call",
    }
