"""Measure how time grows with the size of the arguments: ten times the size should take ten times as long."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Awaitable, Callable
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
    from rich.console import Console

SIZES = (4096, 40_960, 409_600, 4_096_000)
"""Approximate size of the arguments in bytes."""
TARGET = 11
"""The allowed growth in time for ten times the arguments."""

Call = Callable[[dict[str, Any]], Awaitable[str]]
"""One way to handle arguments; returns the outcome."""


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


def _rows(size: int, amount: type) -> list[dict[str, Any]]:
    return [{"name": f"a row with the number {at:06}", "amount": amount(at)} for at in range(size // 60)]


def _texts(size: int) -> list[str]:
    return [f"tag-{at:012}" for at in range(size // 20)]


_NUMBERS = "repaired: list of numbers for texts"
_OBJECTS = "repaired: objects with texts for integers"
_TEXT_OF_TEXTS = "repaired: JSON text of a list of texts"
_TEXT_OF_OBJECTS = "repaired: JSON text of objects"
GROWING: dict[str, tuple[Any, Callable[[int], Any]]] = {
    "accepted: one text": (one, lambda size: "x" * size),
    "accepted: list of texts": (texts, _texts),
    "accepted: list of objects": (rows, lambda size: _rows(size, int)),
    _TEXT_OF_TEXTS: (texts, lambda size: json.dumps(_texts(size))),
    _TEXT_OF_OBJECTS: (rows, lambda size: json.dumps(_rows(size, int))),
    _OBJECTS: (rows, lambda size: _rows(size, str)),
    _NUMBERS: (texts, lambda size: list(range(1_000_000, 1_000_000 + size // 8))),
    "refused: a boolean among the texts": (texts, lambda size: [*_texts(size), True]),
    "refused: JSON text, cut off": (texts, lambda size: json.dumps(_texts(size))[:-5]),
}
"""Calls by their title: the tool, and the value of its only parameter for a size in bytes."""
_MINIMUM: dict[str, tuple[str, Callable[[Any], object]]] = {
    _TEXT_OF_TEXTS: ("reading the text alone", pydantic_core.from_json),
    _TEXT_OF_OBJECTS: ("reading the text alone", pydantic_core.from_json),
    _OBJECTS: (
        "copying the objects alone",
        lambda sent: [{**row, "amount": int(row["amount"])} for row in sent],
    ),
    _NUMBERS: ("writing the numbers alone", lambda sent: list(map(str, sent))),
}
"""The minimum that a repair needs, with nothing around it."""


def main(console: Console) -> None:
    """Print the times for each size and the growth from one to the next."""
    servers.quiet()
    console.print(asyncio.run(_table()))


async def _table() -> Table:
    from mcp_lenient import LenientMiddleware

    alone, lenient = (FastMCP[Any]("growth", strict_input_validation=True) for _ in range(2))
    for server in (alone, lenient):
        for tool in (rows, texts, one):
            server.tool(tool)
    lenient.add_middleware(LenientMiddleware())
    title = f"Growth, strict server, ms, best of several without garbage collection (target: at most {TARGET} times)"
    sizes = (f"{size // 1024} KiB" for size in SIZES)
    table = Table("call", "by", *sizes, "ten times as large takes", "outcome", title=title)
    # All arguments are made before the first call, so that they are close together in memory.
    sent = {name: [value(size) for size in SIZES] for name, (_, value) in GROWING.items()}
    for title, (function, _) in GROWING.items():
        tool = await lenient.get_tool(function.__name__)
        (parameter,) = tool.parameters["properties"]
        calls = [{parameter: value} for value in sent[title]]
        ways: dict[str, Call] = {}
        if title in _MINIMUM:
            name, work = _MINIMUM[title]
            ways[name] = partial(_minimum, work, parameter)
        if title.startswith("accepted"):
            ways["FastMCP alone"] = partial(_called, alone, tool.name)
        ways["middleware"] = partial(_called, lenient, tool.name)
        ways["normalize"] = partial(_normalized, tool)
        for by, call in ways.items():
            table.add_row(title, by, *await _cells(call, calls))
    return table


async def _minimum(work: Callable[[Any], object], parameter: str, arguments: dict[str, Any]) -> str:
    work(arguments[parameter])
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


async def _cells(call: Call, calls: list[dict[str, Any]]) -> list[str]:
    found = [await _best(call, arguments) for arguments in calls]
    times = [milliseconds for milliseconds, _ in found]
    growth = [after / before for before, after in pairwise(times)]
    shown = ", ".join(f"{each:.1f}" if each <= TARGET else f"[red]{each:.1f}[/red]" for each in growth)
    return [*(f"{milliseconds:.3f}" for milliseconds in times), shown, found[-1][1]]


async def _best(call: Call, arguments: dict[str, Any]) -> tuple[float, str]:
    """Return the time of the fastest call in milliseconds, and its outcome."""
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
