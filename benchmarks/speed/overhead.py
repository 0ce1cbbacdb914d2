"""Measure what the middleware adds to a correct call, and the cost of a repair."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Mapping
from functools import partial
from statistics import median
from typing import Any, Literal

from fastmcp import FastMCP
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from pydantic import BaseModel
from rich.table import Table

from benchmarks.printing import wide_console
from benchmarks.speed.timing import batches, in_turns
from mcp_lenient import LenientMiddleware, normalize


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


async def text(content: str) -> int:
    """Take a long text."""
    return len(content)


async def rows(entries: list[Row]) -> int:
    """Take many objects."""
    return len(entries)


RIGHT = {"query": "tea", "limit": 5, "tags": ["a", "b"], "kind": "old", "exact": True}
_ROWS = [{"name": f"row {at:06}", "amount": at, "price": at + 0.5, "active": True} for at in range(10_000)]
_ACCEPTED: tuple[tuple[str, str, Mapping[str, Any], int, float], ...] = (
    ("five parameters, async", "five", RIGHT, 4000, 1.05),
    ("five parameters, sync", "five_sync", RIGHT, 1500, 1.05),
    ("1 MiB, one long text", "text", {"content": "x" * 2**20}, 1500, 1.05),
    ("10,000 rows of a model", "rows", {"entries": _ROWS}, 101, 2.1),
)
"""Calls that every server here accepts: title, tool, arguments, how many, and how much the middleware may add."""


def closed(required: str, **properties: Any) -> Mapping[str, Any]:
    """Return a closed object schema with one required property, by default a text."""
    return {
        "type": "object",
        "properties": {required: _TEXT, **properties},
        "required": [required],
        "additionalProperties": False,
    }


_TEXT, _INTEGER, _BOOLEAN = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
_TAGS = {"anyOf": [{"type": "array", "items": _TEXT}, {"type": "null"}], "default": None}
_NOTE = closed("content", tags=_TAGS)
_SCALARS = closed("query", limit=_INTEGER, exact=_BOOLEAN)
_NAMED, _OPTIONAL = closed("query", max_results=_INTEGER), closed("query", country=_TEXT)
BAD: tuple[tuple[str, Mapping[str, Any], Mapping[str, Any]], ...] = (
    ("JSON text for a list", _NOTE, {"content": "x", "tags": '["a", "b"]'}),
    ("texts for an integer and a boolean", _SCALARS, {"query": "x", "limit": "5", "exact": "true"}),
    ("camelCase for snake_case", _NAMED, {"query": "x", "maxResults": 5}),
    ("null for an optional", _OPTIONAL, {"query": "x", "country": None}),
    ("a single text for a list", _NOTE, {"content": "x", "tags": "single_tag"}),
    ("refused: a number for a list", _NOTE, {"content": "x", "tags": 123}),
)
"""Typical bad calls: a title, the schema, the arguments."""


def main() -> None:
    """Print the cost of an accepted call and of a repair."""
    console = wide_console()
    logging.getLogger("fastmcp").setLevel(logging.CRITICAL)
    console.print(asyncio.run(_accepted_table()))
    console.print(_repair_table())


def _server_with(middleware: Middleware) -> FastMCP[Any]:
    server = FastMCP("overhead", middleware=[middleware])
    for tool in (five, five_sync, text, rows):
        server.tool(tool)
    return server


async def _accepted_table() -> Table:
    servers = [_server_with(each) for each in (DoNothing(), DoNothing(), LenientMiddleware())]
    heads = ("call", "do-nothing us", "lenient us", "ratio", "without gc", "target", "do-nothing to itself")
    table = Table(*heads, title="An accepted call, server.call_tool in process, medians of interleaved calls")
    for title, tool, arguments, rounds, target in _ACCEPTED:
        calls = [partial(server.call_tool, tool, dict(arguments)) for server in servers]
        await in_turns(calls, rounds // 10)
        plain, again, lenient = await in_turns(calls, rounds)
        # The cost of a collection depends on the size of the heap.
        gc.collect()
        gc.disable()
        quiet, _, quiet_lenient = await in_turns(calls, rounds)
        gc.enable()
        times = (f"{plain:.1f}", f"{lenient:.1f}", f"{lenient / plain:.3f}", f"{quiet_lenient / quiet:.3f}")
        table.add_row(title, *times, f"<= {target}", f"{again / plain:.3f}")
    return table


def _repair_table() -> Table:
    table = Table("bad call", "us", "target", "repairs or violations", title="normalize(schema, arguments)")
    for title, schema, arguments in BAD:
        result = normalize(schema, arguments)
        reported = [each.rule for each in result.repairs] or [each.code for each in result.violations]
        target = "" if result.violations else "<= 20"
        table.add_row(
            title, f"{median(batches(normalize, schema, arguments)):.1f}", target, ", ".join(reported)
        )
    return table
