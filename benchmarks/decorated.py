"""Measure what ``@lenient`` adds to a correct call, and to the creation of many tools."""

from __future__ import annotations

import asyncio
import gc
import logging
from dataclasses import dataclass
from datetime import date
from time import perf_counter_ns
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastmcp import FastMCP
from fastmcp.tools import Tool
from rich.table import Table

from benchmarks import servers
from benchmarks.overhead import five, five_sync, text
from mcp_lenient import aliases, clamp, lenient, strip, tags

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rich.console import Console


async def one(limit: int) -> int:
    """Take one number."""
    return limit


async def typed(since: date, labels: set[str], kind: Literal["new", "old"] = "new") -> str:
    """Take types that JSON writes differently."""
    return f"{since}{labels}{kind}"


async def store(content: str, tags: list[str] | None = None, task: str = "keep", limit: int = 10) -> str:  # noqa: ARG001
    """Store a text."""
    return content


async def annotated(
    content: Annotated[str, strip()], tags: Annotated[list[str] | None, tags()] = None, limit: int = 10
) -> str:
    """Store a text, with normalizers in the annotations, as the undecorated function has."""
    return f"{content}{tags}{limit}"


@dataclass(frozen=True, slots=True)
class Signature:
    """A function, its declarations, and a correct call."""

    title: str
    function: Callable[..., Any]
    arguments: Mapping[str, Any]
    declared: Mapping[str, Any]
    calls: int = 4000


_FIVE = {"query": "tea", "limit": 5, "tags": ["a", "b"], "kind": "old", "exact": True}
_STORE = {"content": "a note", "tags": ["a", "b"], "task": "keep", "limit": 7}

SIGNATURES = (
    Signature("one parameter", one, {"limit": 5}, {}),
    Signature("five parameters, async", five, _FIVE, {}),
    Signature("five parameters, sync", five_sync, _FIVE, {}, 1500),
    Signature("a date, a set, a literal", typed, {"since": "2024-01-31", "labels": ["a"]}, {}),
    Signature("1 MiB, one long text", text, {"content": "x" * 2**20}, {}, 1000),
    Signature("aliases on one of four", store, _STORE, {"task": aliases("query", "q")}),
    Signature("a normalizer on one of four", store, _STORE, {"tags": tags()}),
    Signature(
        "normalizers on three of four",
        store,
        _STORE,
        {"tags": tags(), "task": strip(), "limit": clamp(1, 100)},
    ),
    Signature("normalizers in the annotations", annotated, {"content": "a", "tags": ["b"]}, {}),
)

_TARGET = 5.0
_MANY = (1_000, 10_000)


def main(console: Console) -> None:
    """Print the cost of a decorated call, and whether registration is linear."""
    logging.getLogger("fastmcp").setLevel(logging.CRITICAL)
    console.print(asyncio.run(_calls()))
    console.print(_registrations())


def _server(function: Callable[..., Any]) -> FastMCP[Any]:
    server = FastMCP("decorated")
    server.add_tool(Tool.from_function(function, name="tool"))
    return server


async def _calls() -> Table:
    table = Table(title="A right call, server.call_tool in process, medians of interleaved calls")
    for name in ("call", "plain us", "decorated us", "added us", "target", "noise us"):
        table.add_column(name, justify="left" if name == "call" else "right")
    for each in SIGNATURES:
        plain, again, decorated = await _medians(each)
        figures = (f"{plain:.1f}", f"{decorated:.1f}", f"{decorated - plain:+.1f}")
        table.add_row(each.title, *figures, f"<= {_TARGET}", f"{again - plain:+.1f}")
    return table


async def _medians(signature: Signature) -> list[float]:
    """Return microseconds for each server; they take turns, and each goes first equally often."""
    functions = (signature.function, signature.function, lenient(**signature.declared)(signature.function))
    contenders = [_server(function) for function in functions]
    gc.collect()
    return await servers.medians(contenders, "tool", signature.arguments, signature.calls)


def _registrations() -> Table:
    table = Table(title="Making tools of functions")
    table.caption = "Adding one to a server, FastMCP looks through all that are there, marked or not."
    columns = ("", *(f"{many:,} tools, s" for many in _MANY), "ratio", "target", "us a tool")
    for name in columns:
        table.add_column(name, justify="right" if name else "left")
    linear = _MANY[1] / _MANY[0]
    for row, marks in (("plain", False), ("decorated", True)):
        few, many = (_made(number, marks=marks) for number in _MANY)
        each = f"{few / _MANY[0] * 1e6:.0f}, {many / _MANY[1] * 1e6:.0f}"
        table.add_row(row, f"{few:.2f}", f"{many:.2f}", f"{many / few:.1f}", f"{linear:.0f}", each)
    return table


def _made(number: int, *, marks: bool) -> float:
    """Return the seconds to define this many functions and their tools, which are all kept."""
    gc.collect()
    started = perf_counter_ns()
    functions = (_new_store() for _ in range(number))
    tools = [Tool.from_function(_DECLARE(function) if marks else function) for function in functions]
    seconds = (perf_counter_ns() - started) / 1e9
    assert len(tools) == number
    return seconds


_DECLARE = lenient(tags=tags(), task=aliases("query", "q"))


def _new_store() -> Callable[..., Any]:
    async def store(content: str, task: str, tags: list[str] | None = None, limit: int = 10) -> str:
        return f"{content}{task}{tags}{limit}"

    return store
