"""Measure what the middleware adds to a correct call, and the cost of a repair."""

from __future__ import annotations

import asyncio
import gc
import logging
from dataclasses import dataclass
from statistics import median
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Literal

from fastmcp import FastMCP
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from pydantic import BaseModel
from rich.table import Table

from benchmarks import servers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rich.console import Console


class DoNothing(Middleware):
    """The middleware to compare with: it only passes the call on."""

    async def on_call_tool(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """Pass the call on."""
        return await call_next(context)


class Row(BaseModel):
    """One of ten thousand."""

    name: str
    amount: int
    price: float
    active: bool


async def five(
    query: str,
    limit: int,
    *,
    tags: list[str] | None = None,
    kind: Literal["new", "old"] = "new",
    exact: bool = False,
) -> str:
    """Search."""
    return f"{query}{limit}{tags}{kind}{exact}"


def five_sync(
    query: str,
    limit: int,
    *,
    tags: list[str] | None = None,
    kind: Literal["new", "old"] = "new",
    exact: bool = False,
) -> str:
    """Search, in a worker thread."""
    return f"{query}{limit}{tags}{kind}{exact}"


async def text(content: str) -> int:
    """Take a long text."""
    return len(content)


async def rows(entries: list[Row]) -> int:
    """Take many objects."""
    return len(entries)


@dataclass(frozen=True, slots=True)
class Accepted:
    """A call that every server here accepts, and how much the middleware may add to it."""

    title: str
    tool: str
    arguments: Mapping[str, Any]
    calls: int
    target: float


_FIVE = {"query": "tea", "limit": 5, "tags": ["a", "b"], "kind": "old", "exact": True}
_ROWS = [{"name": f"row {at:06}", "amount": at, "price": at + 0.5, "active": True} for at in range(10_000)]

ACCEPTED = (
    Accepted("five parameters, async", "five", _FIVE, 4000, 1.05),
    Accepted("five parameters, sync", "five_sync", _FIVE, 1500, 1.05),
    Accepted("1 MiB, one long text", "text", {"content": "x" * 2**20}, 1500, 1.05),
    Accepted("10,000 rows of a model", "rows", {"entries": _ROWS}, 101, 2.1),
)


def _object(required: Sequence[str] = (), **properties: Any) -> Mapping[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


_NULLABLE_TAGS = {
    "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}],
    "default": None,
}

BAD: tuple[tuple[str, Mapping[str, Any], Mapping[str, Any]], ...] = (
    (
        "JSON text for a list",
        _object(["content"], content={"type": "string"}, tags=_NULLABLE_TAGS),
        {"content": "x", "tags": '["a", "b"]'},
    ),
    (
        "texts for an integer and a boolean",
        _object(["query"], query={"type": "string"}, limit={"type": "integer"}, exact={"type": "boolean"}),
        {"query": "x", "limit": "5", "exact": "true"},
    ),
    (
        "camelCase for snake_case",
        _object(["query"], query={"type": "string"}, max_results={"type": "integer"}),
        {"query": "x", "maxResults": 5},
    ),
    (
        "null for an optional",
        _object(["query"], query={"type": "string"}, country={"type": "string"}),
        {"query": "x", "country": None},
    ),
    (
        "a single text for a list",
        _object(["content"], content={"type": "string"}, tags=_NULLABLE_TAGS),
        {"content": "x", "tags": "single_tag"},
    ),
    (
        "refused: a number for a list",
        _object(["content"], content={"type": "string"}, tags=_NULLABLE_TAGS),
        {"content": "x", "tags": 123},
    ),
)
"""Typical bad calls: a title, the schema, the arguments."""


def figures() -> list[tuple[str, str, str]]:
    """Return the cost of accepted calls with five parameters, as a multiple of a do-nothing middleware's."""
    logging.getLogger("fastmcp").setLevel(logging.CRITICAL)
    return asyncio.run(_accepted_figures())


async def _accepted_figures() -> list[tuple[str, str, str]]:
    contenders = _contenders()
    # Garbage collection of a large heap would count against whichever call it interrupts.
    gc.collect()
    gc.freeze()
    found = []
    for call in ACCEPTED[:2]:
        plain, again, lenient = await servers.medians(contenders, call.tool, call.arguments, call.calls)
        measured = f"{lenient / plain:.3f} (noise {again / plain:.3f})"
        found.append(
            (f"accepted call against a do-nothing middleware: {call.title}", measured, "1.05 or less")
        )
    return found


def _contenders() -> list[FastMCP[Any]]:
    from mcp_lenient import LenientMiddleware

    return [_server(DoNothing()), _server(DoNothing()), _server(LenientMiddleware())]


def main(console: Console) -> None:
    """Print the cost of an accepted call and of a repair."""
    logging.getLogger("fastmcp").setLevel(logging.CRITICAL)
    console.print(asyncio.run(_accepted_table()))
    console.print(_repair_table())


def _server(middleware: Middleware) -> FastMCP[Any]:
    server = FastMCP("overhead")
    for tool in (five, five_sync, text, rows):
        server.tool(tool)
    server.add_middleware(middleware)
    return server


async def _accepted_table() -> Table:
    contenders = _contenders()
    table = Table(title="An accepted call, server.call_tool in process, medians of interleaved calls")
    for name in (
        "call",
        "do-nothing us",
        "lenient us",
        "ratio",
        "without gc",
        "target",
        "do-nothing to itself",
    ):
        table.add_column(name, justify="left" if name == "call" else "right")
    for call in ACCEPTED:
        plain, again, lenient = await servers.medians(contenders, call.tool, call.arguments, call.calls)
        ratios = (f"{lenient / plain:.3f}", f"{await _without_collection(contenders, call):.3f}")
        noise = f"{again / plain:.3f}"
        table.add_row(call.title, f"{plain:.1f}", f"{lenient:.1f}", *ratios, f"<= {call.target}", noise)
    return table


async def _without_collection(contenders: Sequence[FastMCP[Any]], call: Accepted) -> float:
    """Return the ratio without garbage collection, whose cost depends on the size of the heap."""
    gc.collect()
    gc.disable()
    plain, _, lenient = await servers.medians(contenders, call.tool, call.arguments, call.calls)
    gc.enable()
    return lenient / plain


def _repair_table() -> Table:
    from mcp_lenient import normalize

    table = Table("bad call", "us", "target", "repairs or violations", title="normalize(schema, arguments)")
    for title, schema, arguments in BAD:
        result = normalize(schema, arguments)
        reported = [repair.rule for repair in result.repairs] or [
            violation.code for violation in result.violations
        ]
        target = "" if result.violations else "<= 20"
        table.add_row(title, f"{microseconds(normalize, schema, arguments):.1f}", target, ", ".join(reported))
    return table


def microseconds(function: Callable[..., object], *arguments: Any) -> float:
    """Return the median of a hundred batches of a hundred calls, long enough to outlast most disturbances."""
    gc.collect()
    batches = []
    for _ in range(100):
        started = perf_counter_ns()
        for _ in range(100):
            function(*arguments)
        batches.append((perf_counter_ns() - started) / 100_000)
    return median(batches)
