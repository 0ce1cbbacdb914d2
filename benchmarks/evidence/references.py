"""Measure the first correct and the first wrong call on schemas whose references multiply, with compilation."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterator, Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Any

from fastmcp import FastMCP
from rich.table import Table

from benchmarks import servers
from benchmarks.evidence import isolated
from benchmarks.servers import RecordingTool
from tests.shared.hostile import DOUBLED, LEVELS, SCHEMAS, multiplying

if TYPE_CHECKING:
    from rich.console import Console

TARGET_MS = 100
PATIENCE_S = 10
"""Seconds after which the process of a call is ended."""


def main(console: Console) -> None:
    """Print milliseconds for the first correct and the first wrong call of each."""
    table = Table(title=f"References, {LEVELS} levels; first call, compiled for it (target: {TARGET_MS} ms)")
    table.add_column("schema")
    for probe in _PROBES:
        table.add_column(f"{probe}, ms", justify="right")
    for at, case in enumerate(SCHEMAS):
        table.add_row(case.title, *(_cell(each) for each in _measured(at)))
    console.print(table)


def figures() -> list[tuple[str, str, str]]:
    """Return the slowest first call among the doubled references."""
    times = [each for at in range(len(DOUBLED)) for each in _measured(at)]
    slowest = "no answer" if None in times else f"{max(filter(None, times)):.1f} ms"
    title = f"doubled references, {LEVELS} deep, {len(DOUBLED)} kinds, right and wrong calls"
    return [(title, f"slowest {slowest}", f"at most {TARGET_MS} ms")]


def _cell(milliseconds: float | None) -> str:
    if milliseconds is None:
        return f"[red]over {PATIENCE_S * 1000:,}[/red]"
    shown = f"{milliseconds:.1f}"
    return shown if milliseconds <= TARGET_MS else f"[red]{shown}[/red]"


def _measured(at: int) -> list[float | None]:
    """Return the milliseconds of each probe; None for one without an answer, and for those after it."""
    found, _ = isolated.results(_probed, at, PATIENCE_S)
    return [*found, *[None] * len(_PROBES)][: len(_PROBES)]


def _probed(at: int) -> Iterator[float]:
    servers.quiet()
    warm, case = multiplying("warm", {"type": "integer"}, 1, "no"), SCHEMAS[at]
    for name, call in _PROBES.items():
        asyncio.run(call({**warm.schema, "title": name}, warm.wrong))
        # A garbage collection of FastMCP's modules takes 60 to 100 ms, and would interrupt any call.
        gc.collect()
        gc.freeze()
        # Another title, so that nothing compiled for the previous probe is reused.
        schema = {**case.schema, "title": name}
        yield asyncio.run(call(schema, case.right if name.endswith("right") else case.wrong))


async def _normalize(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> float:
    from mcp_lenient import normalize

    started = perf_counter()
    normalize(schema, arguments)
    return (perf_counter() - started) * 1000


async def _custom_tool(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> float:
    from mcp_lenient import LenientMiddleware

    server = FastMCP("references", middleware=[LenientMiddleware()])
    server.add_tool(RecordingTool.noting("tool", schema, []))
    started = perf_counter()
    await server.call_tool("tool", dict(arguments))
    return (perf_counter() - started) * 1000


_PROBES: Mapping[str, Callable[..., Any]] = {
    "normalize, right": _normalize,
    "normalize, wrong": _normalize,
    "custom tool, right": _custom_tool,
    "custom tool, wrong": _custom_tool,
}
