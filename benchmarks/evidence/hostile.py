"""Check that malicious arguments and schemas are refused quickly and without an exception."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

from fastmcp import FastMCP
from pydantic import BaseModel, Field
from rich.markup import escape
from rich.table import Table

from benchmarks import servers
from benchmarks.evidence import isolated
from benchmarks.servers import RecordingTool
from tests.shared.hostile import ARGUMENTS, Hostile

if TYPE_CHECKING:
    from rich.console import Console

TARGET_MS = 50
PATIENCE_S = 30
"""Seconds after which the process of a case is ended."""


class Node(BaseModel):
    """A recursive model, for a function tool."""

    value: int
    children: list[Node] = []


async def function(
    x: list[str] | None = None,
    node: Node | None = None,
    number: int = 0,
    code: Annotated[str, Field(pattern="^(a+)+$")] = "a",
) -> str:
    """A function tool for the same arguments."""
    return f"{x}{node}{number}{code}"


def main(console: Console) -> None:
    """Print the effect of each on ``normalize``, on a custom tool and on a function tool."""
    table = Table(title=f"Hostile arguments (target: refused in under {TARGET_MS} ms, no exception)")
    for name in ("case", *(name for probe in PROBES for name in (probe, "ms"))):
        table.add_column(name, justify="right" if name == "ms" else "left")
    for at, case in enumerate(ARGUMENTS):
        found, ended = isolated.results(_probed, at, PATIENCE_S)
        found = [*found, (ended, 0.0), *[("not reached", 0.0)] * len(PROBES)][: len(PROBES)]
        table.add_row(case.title, *(cell for each in found for cell in _cells(case, *each)))
    console.print(table)


def _cells(case: Hostile, outcome: str, milliseconds: float) -> tuple[str, str]:
    good = outcome.startswith("refused") or outcome == _SKIPPED or (case.may_run and outcome == "ran")
    shown, time = escape(outcome), f"{milliseconds:.1f}" if milliseconds else ""
    slow = milliseconds > TARGET_MS
    return (shown if good else f"[red]{shown}[/red]", f"[red]{time}[/red]" if slow else time)


def _probed(at: int) -> Iterator[tuple[str, float]]:
    servers.quiet()
    return (probe(ARGUMENTS[at]) for probe in PROBES.values())


def _normalize(case: Hostile) -> tuple[str, float]:
    from mcp_lenient import normalize

    async def call(arguments: dict[str, Any]) -> str:
        violations = normalize(case.schema, arguments).violations
        return f"refused: {violations[0].code}" if violations else "ran"

    return asyncio.run(_timed(call, {}, [case.arguments() for _ in range(3)]))


def _custom_tool(case: Hostile) -> tuple[str, float]:
    tool = RecordingTool.noting("tool", case.schema, [])
    return asyncio.run(_called(tool, [case.arguments() for _ in range(3)]))


def _function_tool(case: Hostile) -> tuple[str, float]:
    if not case.parameter:
        return _SKIPPED, 0.0
    return asyncio.run(_called(function, [{case.parameter: case.arguments()["x"]} for _ in range(3)]))


async def _called(tool: Any, calls: list[dict[str, Any]]) -> tuple[str, float]:
    from mcp_lenient import LenientMiddleware, Policy

    server = FastMCP("hostile", middleware=[LenientMiddleware(policy=Policy(unrepairable="refuse"))])
    servers.add(server, tool)

    async def call(arguments: dict[str, Any]) -> str:
        result = await server.call_tool("tool", arguments)
        noted = (result.meta or {}).get("mcp_lenient", {})
        return f"refused: {noted.get('error_code')}" if result.is_error else "ran"

    return await _timed(call, {"never declared": True}, calls)


async def _timed(call: Any, first: dict[str, Any], calls: list[dict[str, Any]]) -> tuple[str, float]:
    """Return the outcome of the calls and their median in milliseconds; an earlier call compiles the plan."""
    await call(first)
    times, outcome = [], ""
    for arguments in calls:
        started = perf_counter()
        outcome = await call(arguments)
        times.append(perf_counter() - started)
    return outcome, median(times) * 1000


_SKIPPED = "-"
PROBES: Mapping[str, Callable[[Hostile], tuple[str, float]]] = {
    "normalize": _normalize,
    "custom tool": _custom_tool,
    "function tool": _function_tool,
}
