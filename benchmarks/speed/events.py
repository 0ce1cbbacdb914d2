"""Measure the cost of an event: built from a real call's context and written, filtered out, and of accepted calls."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from functools import partial
from pathlib import Path
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

import structlog
from fastmcp import Client, Context, FastMCP
from rich.table import Table

from benchmarks import servers
from benchmarks.speed.overhead import RIGHT, DoNothing, server_with

if TYPE_CHECKING:
    from rich.console import Console

_BATCHES = 60
_CALLS = 100
_ACCEPTED_CALLS = 4_000
_NOT_CONFIGURED, _FILE, _STRUCTLOG = (
    "stderr, not configured",
    "file, configure_logging(file=)",
    "filtered out by structlog",
)
_WAYS: Mapping[str, Mapping[str, Any]] = {
    _NOT_CONFIGURED: {},
    "stderr, configure_logging()": {},
    _FILE: {},
    "filtered out by configure_logging": {"level": "error"},
    _STRUCTLOG: {},
}
"""Where events go, with the options of ``configure_logging``."""


def main(console: Console) -> None:
    """Print what events cost within a call, over a connection of each protocol era."""
    logging.getLogger("fastmcp").setLevel(logging.CRITICAL)
    console.print(asyncio.run(_events_table()))
    console.print(asyncio.run(_accepted_table()))


async def _events_table() -> Table:
    heads = ("event", "where it goes", "handshake us", "2026-07-28 us", "target")
    table = Table(*heads, title="An event, built and written: the quickest of 60 batches of 100")
    eras = [await _measured(mode) for mode in ("legacy", "auto")]
    for (event, way), figure in eras[0].items():
        target = "<= 2" if "filtered" in way else "<= 25"
        table.add_row(event, way, f"{figure:.1f}", f"{eras[1][event, way]:.1f}", target)
    return table


async def _measured(mode: Any) -> dict[tuple[str, str], float]:
    server, figures = FastMCP("context-store"), dict[tuple[str, str], float]()

    @server.tool
    async def measure(context: Context) -> None:
        figures.update(_figures(context))

    async with Client(server, mode=mode) as client:
        await client.call_tool("measure", {})
    return figures


def _figures(context: Context) -> Iterator[tuple[tuple[str, str], float]]:
    from mcp_lenient.adapters.fastmcp.caller import caller_fields
    from mcp_lenient.telemetry.log import CallTelemetry, RecordedCall

    for way in _WAYS:
        for event, found in _events().items():
            with (
                Path(os.devnull).open("w", encoding="utf-8") as nowhere,
                redirect_stderr(nowhere),
                _set_up(way),
            ):
                caller = partial(caller_fields, context)
                call = RecordedCall("store_context", perf_counter_ns(), caller)
                record = partial(CallTelemetry().record, f"call_{event}", call, **found)
                yield (event, way), _microseconds(record)


def _events() -> Mapping[str, Mapping[str, Any]]:
    from mcp_lenient import Repair, Violation

    repairs = (Repair("json_text_to_array", "/tags", "string", "array"),)
    violations = (Violation("/tags", "tags", "type", "'tags' must be an array.", received_type="integer"),)
    kept_in = ({"type": "object", "properties": {}}, {"content": "a note", "tags": ["a", "b"]})
    return {
        "repaired": {"repairs": repairs, "kept_in": kept_in},
        "rejected": {"repairs": repairs, "violations": violations},
    }


@contextmanager
def _set_up(way: str) -> Iterator[None]:
    from mcp_lenient.telemetry.setup import configure_logging, reset_logging

    with tempfile.TemporaryDirectory() as folder:
        if way == _STRUCTLOG:
            structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
        elif way != _NOT_CONFIGURED:
            configure_logging(**_WAYS[way], file=Path(folder, "events.jsonl") if way == _FILE else None)
        yield
        structlog.reset_defaults()
        reset_logging()


def _microseconds(record: Callable[[], object]) -> float:
    gc.collect()
    batches = []
    for _ in range(_BATCHES):
        started = perf_counter_ns()
        for _ in range(_CALLS):
            record()
        batches.append((perf_counter_ns() - started) / _CALLS / 1000)
    return min(batches)


async def _accepted_table() -> Table:
    """Compare an accepted call with a do-nothing middleware's, without and with an SDK that collects metrics."""
    from opentelemetry import metrics
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader

    from mcp_lenient import LenientMiddleware

    contenders = [server_with(DoNothing()), server_with(LenientMiddleware())]
    table = Table("an accepted call", "do-nothing us", "lenient us", title="five parameters, async")
    for title in ("without an SDK", "with an SDK's metrics"):
        plain, lenient = await servers.medians(contenders, "five", RIGHT, _ACCEPTED_CALLS)
        table.add_row(title, f"{plain:.1f}", f"{lenient:.1f}")
        if title == "without an SDK":
            metrics.set_meter_provider(MeterProvider([InMemoryMetricReader()]))
    return table
