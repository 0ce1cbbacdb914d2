"""Measure what users notice: the added cost of a repair and a refusal, a compiled schema, many schemas, memory."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Mapping
from contextlib import suppress
from random import Random
from statistics import median, quantiles
from time import process_time_ns
from typing import TYPE_CHECKING, Any

from fastmcp import FastMCP
from fastmcp.exceptions import ValidationError
from rich.table import Table

from benchmarks import servers
from benchmarks.signatures import recording_function
from benchmarks.speed.overhead import BAD, RIGHT, five

if TYPE_CHECKING:
    from rich.console import Console

Figure = tuple[str, str, str]
_CALLS = 2_000
_REPAIRED = {**RIGHT, "tags": '["a", "b"]'}
_REFUSED = {**RIGHT, "limit": "many"}
_SCHEMAS = 1_100
_PARAMETERS = 100
_TOOLS = 20
_FIRST = """
import asyncio, sys
from time import process_time_ns
from fastmcp import Client, FastMCP
from mcp_lenient import LenientMiddleware, configure_logging
configure_logging(file=sys.argv[2])
from benchmarks.speed.overhead import five

server = FastMCP("first", middleware=[LenientMiddleware(warm=sys.argv[1] == "warm")])
server.tool(five)

async def main():
    async with Client(server) as client:
        for _ in range(20):
            await client.call_tool("five", {right})
        times = []
        for _ in range(6):
            started = process_time_ns()
            await client.call_tool("five", {wrong}, raise_on_error=False)
            times.append(process_time_ns() - started)
    print(times[0] - sorted(times[1:])[2])

asyncio.run(main())
"""


def main(console: Console) -> None:
    """Print each figure with its target."""
    servers.quiet()
    gc.collect()
    gc.freeze()
    table = Table("what", "measured", "asked", title="Speed, where users meet it")
    for row in (*asyncio.run(_added()), *_normalizer(), _rotation(), _memory(), *_first_calls()):
        table.add_row(*row)
    console.print(table)


async def _added() -> list[Figure]:
    """Return what a repair and a refusal add to the same call through FastMCP alone.

    The order differs in each round, since each call leaves the processor's caches warm for the next.
    """
    from mcp_lenient import LenientMiddleware

    alone, lenient = FastMCP[Any]("alone"), FastMCP[Any]("lenient", middleware=[LenientMiddleware()])
    for server in (alone, lenient):
        server.tool(five)
    kinds = {
        "bare": (alone, RIGHT),
        "repaired": (lenient, _REPAIRED),
        "FastMCP's refusal": (alone, _REFUSED),
        "refused": (lenient, _REFUSED),
    }
    times: dict[str, list[int]] = {kind: [] for kind in kinds}
    rounds = Random(0)  # noqa: S311 (an order that can be repeated)
    for _ in range(_CALLS):
        for kind, (server, arguments) in rounds.sample(list(kinds.items()), len(kinds)):
            started = process_time_ns()
            await _called(server, "five", arguments)
            times[kind].append(process_time_ns() - started)
    us = {kind: median(each[_CALLS // 10 :]) / 1000 for kind, each in times.items()}
    return [
        (
            f"{kind}, one fault: added to a bare call",
            f"+{us[kind] - us['bare']:.0f} us ({us[kind] / us['bare']:.2f} of {us['bare']:.0f} us)",
            f"{asked} of a bare call's time",
        )
        for kind, asked in (("repaired", "+0.66"), ("refused", "+1.32"))
    ]


def _normalizer() -> list[Figure]:
    """Return the lower quartile of the CPU time of fifty batches of a hundred calls."""
    from mcp_lenient import Normalizer

    (_, schema, repaired), (_, _, refused) = BAD[0], BAD[-1]
    normalizer = Normalizer(schema)
    right = {"content": "x", "tags": ["a", "b"]}
    found = []
    for kind, arguments, most in (
        ("accepted", right, 1.5),
        ("repaired", repaired, 12),
        ("refused", refused, 80),
    ):
        batches = []
        for _ in range(50):
            started = process_time_ns()
            for _ in range(100):
                normalizer(arguments)
            batches.append((process_time_ns() - started) / 100_000)
        found.append((f"Normalizer: {kind}", f"{quantiles(batches, n=4)[0]:.1f} us", f"{most} us"))
    return found


def _rotation() -> Figure:
    from mcp_lenient import normalize

    _, schema, arguments = BAD[0]
    schemas = [{**schema, "title": f"Schema {at}"} for at in range(_SCHEMAS)]

    def round_of(chosen: list[dict[str, Any]]) -> float:
        for each in chosen:
            normalize(each, arguments)
        started = process_time_ns()
        for each in chosen:
            normalize(each, arguments)
        return float(process_time_ns() - started)

    ratio = round_of(schemas) / round_of([schemas[0]] * _SCHEMAS)
    return f"normalize over {_SCHEMAS:,} schemas in rotation", f"{ratio:.1f} times one schema", "no cliff"


def _memory() -> Figure:
    from mcp_lenient import LenientMiddleware

    bare = asyncio.run(_kibibytes())
    added = asyncio.run(_kibibytes(LenientMiddleware())) - bare
    title = f"memory added per tool of {_PARAMETERS} parameters"
    return title, f"{added:.0f} KiB (bare {bare:.0f})", "150 KiB"


async def _kibibytes(*middleware: Any) -> float:
    """Return the memory of a tool after one correct and one wrong call."""
    await _used(1, *middleware)  # load everything that is loaded on first use
    gc.collect()
    tracemalloc.start()
    server = await _used(_TOOLS, *middleware)
    gc.collect()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del server
    return size / 1024 / _TOOLS


async def _used(tools: int, *middleware: Any) -> FastMCP[Any]:
    server = FastMCP[Any]("wide", middleware=middleware)
    names = [f"parameter_{at}" for at in range(_PARAMETERS)]
    properties = {name: {"type": "integer"} for name in names}
    schema = {"properties": properties, "required": names, "additionalProperties": False}
    for at in range(tools):
        server.tool(recording_function(schema, lambda _: None), name=f"tool_{at}")
        await _called(server, f"tool_{at}", dict.fromkeys(names, at))
        await _called(server, f"tool_{at}", {**dict.fromkeys(names, at), names[0]: [7]})
    return server


async def _called(server: FastMCP[Any], name: str, arguments: Mapping[str, Any]) -> None:
    with suppress(ValidationError):
        await server.call_tool(name, dict(arguments))


def _first_calls() -> list[Figure]:
    """Return how much longer the first wrong call takes than later ones, as the median of seven processes."""
    program = _FIRST.replace("{right}", repr(RIGHT)).replace("{wrong}", repr(_REFUSED))

    def beyond(kind: str) -> float:
        command = [sys.executable, "-c", program, kind, os.devnull]
        done = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(7)]  # noqa: S603
        return median(int(each.stdout) for each in done) / 1e6

    return [
        ("first refused call of a process, beyond the next ones", f"{beyond('cold'):.1f} ms", "-"),
        ("the same with LenientMiddleware(warm=True)", f"{beyond('warm'):.2f} ms", "1 ms"),
    ]
