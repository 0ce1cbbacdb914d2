"""Measure the added cost of a repair and a refusal, with the middleware and alone, and of many schemas."""

from __future__ import annotations

import asyncio
import gc
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
from benchmarks.speed.overhead import BAD, RIGHT, five

if TYPE_CHECKING:
    from rich.console import Console

Figure = tuple[str, str, str]
_CALLS = 2_000
_REPAIRED = {**RIGHT, "tags": '["a", "b"]'}
_REFUSED = {**RIGHT, "limit": "many"}
_SCHEMAS = 1_100


def main(console: Console) -> None:
    """Print each figure with its target."""
    servers.quiet()
    gc.collect()
    gc.freeze()
    table = Table("what", "measured", "asked", title="Speed, where users meet it")
    for row in (*asyncio.run(_added()), *_normalizer(), _rotation()):
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
        for kind, asked in (("repaired", "+1.0"), ("refused", "+1.0"))
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
        ("repaired", repaired, 30),
        ("refused", refused, 100),
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


async def _called(server: FastMCP[Any], name: str, arguments: Mapping[str, Any]) -> None:
    with suppress(ValidationError):
        await server.call_tool(name, dict(arguments))
