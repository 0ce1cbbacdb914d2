"""Measure how time grows with the size of the arguments: ten times the size should take ten times as long."""

from __future__ import annotations

import asyncio
import gc
import json
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pydantic_core
from fastmcp import FastMCP
from pydantic import BaseModel
from rich.table import Table

from benchmarks import servers

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from fastmcp.server.middleware import Middleware
    from rich.console import Console

SIZES = (4096, 40_960, 409_600, 4_096_000)
"""Approximate size of the arguments in bytes."""

TARGET = 11
"""The allowed growth in time for ten times the arguments."""


class Row(BaseModel):
    """One of many; about 50 bytes as JSON."""

    name: str
    amount: int


async def rows(entries: list[Row]) -> str:
    """Take many objects."""
    return f"{len(entries)} rows"


async def texts(tags: list[str]) -> str:
    """Take many texts."""
    return f"{len(tags)} texts"


async def one(content: str) -> str:
    """Take one text."""
    return f"{len(content)} characters"


@dataclass(frozen=True, slots=True)
class Floor:
    """The minimum that a repair of a shape needs, with nothing around it."""

    title: str
    work: Callable[[dict[str, Any]], object]


@dataclass(frozen=True, slots=True)
class Growing:
    """Calls of one shape: the tool, and its arguments for a size in bytes."""

    title: str
    tool: str
    arguments: Callable[[int], dict[str, Any]]
    floor: Floor | None = None

    @property
    def accepted(self) -> bool:
        """Return whether FastMCP alone runs it too."""
        return self.title.startswith("accepted")


def _rows(size: int, *, amount: type) -> list[dict[str, Any]]:
    return [{"name": f"a row with the number {at:06}", "amount": amount(at)} for at in range(size // 60)]


def _texts(size: int) -> list[str]:
    return [f"tag-{at:012}" for at in range(size // 20)]


def _read(name: str) -> Floor:
    return Floor("reading the text alone", lambda arguments: pydantic_core.from_json(arguments[name]))


GROWING = (
    Growing("accepted: one text", "one", lambda size: {"content": "x" * size}),
    Growing("accepted: list of texts", "texts", lambda size: {"tags": _texts(size)}),
    Growing("accepted: list of objects", "rows", lambda size: {"entries": _rows(size, amount=int)}),
    Growing(
        "repaired: JSON text of a list of texts",
        "texts",
        lambda size: {"tags": json.dumps(_texts(size))},
        _read("tags"),
    ),
    Growing(
        "repaired: JSON text of objects",
        "rows",
        lambda size: {"entries": json.dumps(_rows(size, amount=int))},
        _read("entries"),
    ),
    Growing(
        "repaired: objects with texts for integers",
        "rows",
        lambda size: {"entries": _rows(size, amount=str)},
        Floor(
            "copying the objects alone",
            lambda arguments: [{**each, "amount": int(each["amount"])} for each in arguments["entries"]],
        ),
    ),
    Growing(
        "repaired: list of numbers for texts",
        "texts",
        lambda size: {"tags": list(range(1_000_000, 1_000_000 + size // 8))},
        Floor("writing the numbers alone", lambda arguments: list(map(str, arguments["tags"]))),
    ),
    Growing("refused: a boolean among the texts", "texts", lambda size: {"tags": [*_texts(size), True]}),
    Growing("refused: JSON text, cut off", "texts", lambda size: {"tags": json.dumps(_texts(size))[:-5]}),
)


def main(console: Console) -> None:
    """Print the times for each size and the growth from one to the next."""
    servers.quiet()
    console.print(asyncio.run(_table()))


async def _table() -> Table:
    from mcp_lenient import LenientMiddleware

    ways = {"FastMCP alone": _server(None), "middleware": _server(LenientMiddleware())}
    title = f"Growth, strict server, ms, best of several without garbage collection (target: at most {TARGET} times)"
    table = Table("call", "by", title=title)
    for size in SIZES:
        table.add_column(f"{size // 1024} KiB", justify="right")
    table.add_column("ten times as large takes", justify="right")
    table.add_column("outcome")
    # All arguments are made before the first call, so that they are close together in memory.
    sent = [[growing.arguments(size) for size in SIZES] for growing in GROWING]
    for growing, calls in zip(GROWING, sent, strict=True):
        if growing.floor is not None:
            table.add_row(
                growing.title, growing.floor.title, *await _cells(partial(_alone, growing.floor), calls)
            )
        for by, server in ways.items():
            if server is not ways["FastMCP alone"] or growing.accepted:
                cells = await _cells(partial(_called, server, growing.tool), calls)
                table.add_row(growing.title, by, *cells)
        tool = await ways["middleware"].get_tool(growing.tool)
        table.add_row(growing.title, "normalize", *await _cells(partial(_normalized, tool), calls))
    return table


def _server(middleware: Middleware | None) -> FastMCP[Any]:
    server = FastMCP("growth", strict_input_validation=True)
    for tool in (rows, texts, one):
        server.tool(tool)
    if middleware is not None:
        server.add_middleware(middleware)
    return server


async def _alone(floor: Floor, arguments: dict[str, Any]) -> str:
    floor.work(arguments)
    return ""


async def _called(server: FastMCP[Any], tool: str, arguments: dict[str, Any]) -> str:
    result = await server.call_tool(tool, arguments)
    noted = (result.meta or {}).get("mcp_lenient", {})
    if result.is_error:
        return str(noted.get("error_code"))
    return "repaired" if noted else "accepted"


async def _normalized(tool: Any, arguments: dict[str, Any]) -> str:
    from mcp_lenient import normalize

    result = normalize(tool.parameters, arguments)
    if result.violations:
        return f"refused: {result.violations[0].code}"
    return "repaired" if result.repairs else "accepted"


async def _cells(call: Callable[[dict[str, Any]], Awaitable[str]], calls: list[dict[str, Any]]) -> list[str]:
    found = [await _best(call, arguments) for arguments in calls]
    times = [milliseconds for milliseconds, _ in found]
    return [*(f"{milliseconds:.3f}" for milliseconds in times), ", ".join(_growth(times)), found[-1][1]]


def _growth(times: list[float]) -> Iterator[str]:
    for before, after in pairwise(times):
        times_as_long = after / before
        yield f"{times_as_long:.1f}" if times_as_long <= TARGET else f"[red]{times_as_long:.1f}[/red]"


async def _best(
    call: Callable[[dict[str, Any]], Awaitable[str]], arguments: dict[str, Any]
) -> tuple[float, str]:
    """Return the milliseconds of the fastest of some calls, and its outcome."""
    best, outcome = float("inf"), ""
    deadline = perf_counter() + 1.0
    gc.collect()
    gc.disable()
    for attempt in range(200):
        if attempt >= 5 and perf_counter() > deadline:
            break
        started = perf_counter()
        outcome = await call(arguments)
        best = min(best, perf_counter() - started)
    gc.enable()
    return best * 1000, outcome
