"""Send many mixed calls at once over HTTP: is an answer lost, doubled or mixed up, and does memory grow?"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastmcp import Client, FastMCP
from rich.table import Table

from benchmarks.servers import Caller, quiet

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from rich.console import Console

CALLS = 10_000
_CLIENTS = 8
_AT_ONCE = 64
_SAMPLES = 10
_KINDS = 7
_PATIENCE_S = 60


@dataclass(slots=True)
class Load:
    """The results; ``wrong`` describes at most ten answers that belong to another call."""

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
        """Return whether each call got its own answer, and each tool ran exactly as often as expected."""
        runs = (self.ran_once, self.ran_more_often)
        return self.answered == self.calls and not self.wrong and runs == (self.runs_expected, 0)

    @property
    def growth_per_call(self) -> float:
        """Return the growth of the server's memory per call in the second half, in bytes."""
        half = len(self.memory_kib) // 2
        return (self.memory_kib[-1] - self.memory_kib[half]) * 1024 / (self.calls / 2)


def main(console: Console, *, calls: int = CALLS) -> None:
    """Print the outcomes of the calls with the middleware, and of correct calls without it."""
    for bare, name in ((False, "with mcp-lenient"), (True, "FastMCP alone, right calls only")):
        title = f"{calls:,} calls over streamable HTTP, {_AT_ONCE} at a time by {_CLIENTS} clients: {name}"
        table = Table("", "", title=title, show_header=False)
        found = measure(calls, bare=bare)
        memory = [f"{kib / 1024:.1f} MiB" for kib in found.memory_kib]
        table.add_row("answered", f"{found.answered:,}")
        table.add_row("answered wrongly", f"[red]{found.wrong}[/red]" if found.wrong else "0")
        table.add_row("to be run", f"{found.runs_expected:,}")
        table.add_row("run once", f"{found.ran_once:,}")
        table.add_row("run more often", f"{found.ran_more_often:,}")
        table.add_row("calls a second", f"{found.calls / found.seconds:,.0f}")
        table.add_row(
            "memory at a tenth, half, the end", f"{memory[0]}, {memory[len(memory) // 2]}, {memory[-1]}"
        )
        table.add_row("growth in the second half", f"{found.growth_per_call:.0f} bytes a call")
        console.print(table)


def measure(calls: int, *, bare: bool = False) -> Load:
    """Send this many calls, 64 at a time by eight clients of both eras, to a server in a separate process.

    Args:
        calls: The number of calls.
        bare: Whether the server has no middleware; calls that need repair are then left out.
    """
    with _server(calls, bare=bare) as (url, pid):
        return asyncio.run(_load(url, pid, calls, bare=bare))


def _sent(number: int, kind: int) -> tuple[str, Any]:
    """Return a call of one of seven kinds, with its number in every part that varies."""
    word = f"w{number}"
    return (
        ("note", {"number": number, "tags": [word]}),
        ("note", {"number": str(number), "tags": json.dumps([word])}),
        ("note", {"number": number, "tags": [word], "toolCallId": word}),
        ("note", {"Number": number, "tags": word}),
        ("note", {"number": number, "tags": number}),
        (f"nope{number}", {"number": number}),
        ("note", json.dumps({"number": number, "tags": [word]})),
    )[kind]


def _fault(number: int, kind: int, result: Any) -> str | None:
    """Return what is wrong with the answer to a call, if anything."""
    details: Mapping[str, Any] = (result.meta or {}).get("mcp_lenient", {}).get("details", {})
    expected: object = {"number": number, "tags": [f"w{number}"]}
    got: object = result.structured_content
    if kind == 4:
        expected, got = number, details.get("received_value")
    elif kind == 5:
        expected, got = f"nope{number}", details.get("tool")
    return None if got == expected else f"call {number} was answered {result}"


async def _load(url: str, pid: int, calls: int, *, bare: bool) -> Load:
    kinds = [0 if bare else number % _KINDS for number in range(calls)]
    found = Load(calls, runs_expected=sum(kind not in (4, 5) for kind in kinds))
    numbers = iter(range(calls))
    every = max(1, calls // _SAMPLES)

    async def work(caller: Caller) -> None:
        for number in numbers:
            kind = kinds[number]
            fault = _fault(number, kind, await caller.send(*_sent(number, kind)))
            if fault is not None and len(found.wrong) < 10:
                found.wrong.append(fault)
            found.answered += 1
            if found.answered % every == 0:
                found.memory_kib.append(_resident_kib(pid))

    async with AsyncExitStack() as stack:
        clients = [Client(url, mode=mode) for mode in ("legacy", "auto") * (_CLIENTS // 2)]
        callers = [Caller(await stack.enter_async_context(client), []) for client in clients]
        started = time.perf_counter()
        await asyncio.gather(*(work(callers[at % _CLIENTS]) for at in range(_AT_ONCE)))
        found.seconds = time.perf_counter() - started
        tally = (await callers[0].send("tally", {})).structured_content
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
    import uvicorn

    from mcp_lenient import LenientMiddleware

    quiet()
    server = FastMCP[Any]("load", middleware=[] if bare else [LenientMiddleware()])
    runs = bytearray(calls)

    @server.tool
    async def note(number: int, tags: list[str]) -> dict[str, Any]:
        await asyncio.sleep(0)
        runs[number] = min(255, runs[number] + 1)
        return {"number": number, "tags": tags}

    @server.tool
    def tally() -> dict[str, int]:
        return {"once": runs.count(1), "more": sum(count > 1 for count in runs)}

    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        ready.send(listener.getsockname()[1])
        config = uvicorn.Config(server.http_app(), log_level="error", timeout_keep_alive=_PATIENCE_S)
        uvicorn.Server(config).run(sockets=[listener])
