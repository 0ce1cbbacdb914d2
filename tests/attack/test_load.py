"""Send many mixed calls at once over HTTP to a server in another process: nothing is lost, doubled, swapped or kept."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from processes import free_port, running

from benchmarks.servers import Caller

CALLS = int(os.environ.get("MCP_LENIENT_CALLS") or 5_000)
SERVER = Path(__file__).parents[1] / "shared/servers/counting.py"
CLIENTS, AT_ONCE, SAMPLES = 8, 64, 10
REFUSED, UNKNOWN, KINDS = 4, 5, 7


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


def _is_own(number: int, kind: int, result: Any) -> bool:
    """Return whether the answer belongs to the call."""
    details = (result.meta or {}).get("mcp_lenient", {}).get("details", {})
    if kind == REFUSED:
        return bool(details.get("received_value") == number)
    if kind == UNKNOWN:
        return bool(details.get("tool") == f"nope{number}")
    return bool(result.structured_content == {"number": number, "tags": [f"w{number}"]})


def _resident_kib(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.split("VmRSS:")[1].split()[0])


async def _load(url: str, pid: int, calls: int) -> tuple[list[str], list[int], dict[str, int]]:
    """Return the answers that belong to another call, the server's memory in KiB, and how often the tool ran."""
    wrong, memory, numbers = list[str](), list[int](), iter(range(calls))

    async def work(caller: Caller) -> None:
        for number in numbers:
            kind = number % KINDS
            result = await caller.send(*_sent(number, kind))
            if not _is_own(number, kind, result):
                wrong.append(f"call {number} was answered {result}")
            if number % (calls // SAMPLES) == 0:
                memory.append(_resident_kib(pid))

    async with AsyncExitStack() as stack:
        clients = [Client(url, mode=mode) for mode in ("legacy", "auto") * (CLIENTS // 2)]
        callers = [Caller(await stack.enter_async_context(client), []) for client in clients]
        await asyncio.gather(*(work(callers[at % CLIENTS]) for at in range(AT_ONCE)))
        return wrong, memory, (await callers[0].send("tally", {})).structured_content


@pytest.mark.slow
@pytest.mark.parametrize("calls", [200, CALLS])
def test_no_answer_is_lost_duplicated_or_swapped(calls):
    """Each call gets its own answer, its tool runs once, and the server grows little per call."""
    port = free_port()
    with running([sys.executable, str(SERVER), str(port), str(calls)], port) as server:
        wrong, memory, ran = asyncio.run(_load(f"http://127.0.0.1:{port}/mcp", server.pid, calls))
    assert wrong[:10] == []
    assert ran == {"once": sum(at % KINDS not in (REFUSED, UNKNOWN) for at in range(calls)), "more": 0}
    growth = (memory[-1] - memory[len(memory) // 2]) * 1024 / (calls / 2)
    assert calls < CALLS or growth < 2_000
