"""Measure the cost of an event: built from a real call's context and written, filtered out, and of accepted calls."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter_ns
from typing import TYPE_CHECKING

import structlog
from fastmcp import Client, Context, FastMCP
from rich.table import Table

from benchmarks import servers

if TYPE_CHECKING:
    from rich.console import Console

    from mcp_lenient.telemetry.log import RecordedCall

_BATCHES = 60
_CALLS = 100


@dataclass(frozen=True, slots=True)
class _Event:
    title: str
    event: str
    found: dict[str, object]


def main(console: Console) -> None:
    """Print what events cost within a call, over a connection of each protocol era."""
    logging.getLogger("fastmcp").setLevel(logging.CRITICAL)
    console.print(asyncio.run(_events_table()))
    console.print(asyncio.run(_accepted_table()))


async def _events_table() -> Table:
    table = Table(
        "event",
        "where it goes",
        "handshake us",
        "2026-07-28 us",
        "target",
        title="An event, built and written: the quickest of 60 batches of 100",
    )
    eras = [await _measured(mode) for mode in ("legacy", "auto")]
    for (title, way), figure in eras[0].items():
        target = "<= 2" if "filtered" in way else "<= 25"
        table.add_row(title, way, f"{figure:.1f}", f"{eras[1][title, way]:.1f}", target)
    return table


async def _measured(mode: str) -> dict[tuple[str, str], float]:
    server, figures = FastMCP("context-store"), dict[tuple[str, str], float]()

    @server.tool
    async def measure(context: Context) -> None:
        figures.update(_figures(context))

    async with Client(server, mode=mode) as client:  # type: ignore[arg-type]
        await client.call_tool("measure", {})
    return figures


def _figures(context: Context) -> Iterator[tuple[tuple[str, str], float]]:
    from mcp_lenient.adapters.fastmcp.caller import caller_fields
    from mcp_lenient.telemetry.log import CallTelemetry, RecordedCall

    for way, settled in _WAYS.items():
        for event in _events():
            with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stderr(nowhere), settled():
                telemetry, call = (
                    CallTelemetry(),
                    RecordedCall("store_context", perf_counter_ns(), partial(caller_fields, context, None)),
                )
                yield (event.title, way), _microseconds(telemetry.record, event, call)


def _microseconds(record: Callable[..., None], event: _Event, call: RecordedCall) -> float:
    gc.collect()
    batches = []
    for _ in range(_BATCHES):
        started = perf_counter_ns()
        for _ in range(_CALLS):
            record(event.event, call, **event.found)
        batches.append((perf_counter_ns() - started) / _CALLS / 1000)
    return min(batches)


def _events() -> tuple[_Event, ...]:
    from mcp_lenient import Repair, Violation

    repairs = (Repair("json_text_to_array", "/tags", "string", "array"),)
    violations = (Violation("/tags", "tags", "type", "'tags' must be an array.", received_type="integer"),)
    kept_in = ({"type": "object", "properties": {}}, {"content": "a note", "tags": ["a", "b"]})
    return (
        _Event("repaired", "call_repaired", {"repairs": repairs, "kept_in": kept_in}),
        _Event("rejected", "call_rejected", {"repairs": repairs, "violations": violations}),
    )


@contextmanager
def _as_it_comes() -> Iterator[None]:
    yield


@contextmanager
def _to_stderr() -> Iterator[None]:
    from mcp_lenient.telemetry.setup import configure_logging, reset_logging

    configure_logging()
    yield
    reset_logging()


@contextmanager
def _to_file() -> Iterator[None]:
    from mcp_lenient.telemetry.setup import configure_logging, reset_logging

    with tempfile.TemporaryDirectory() as folder:
        configure_logging(file=Path(folder, "events.jsonl"))
        yield
        reset_logging()


@contextmanager
def _filtered_out() -> Iterator[None]:
    from mcp_lenient.telemetry.setup import configure_logging, reset_logging

    configure_logging(level="error")
    yield
    reset_logging()


@contextmanager
def _filtered_by_structlog() -> Iterator[None]:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    yield
    structlog.reset_defaults()


_WAYS = {
    "stderr, not configured": _as_it_comes,
    "stderr, configure_logging()": _to_stderr,
    "file, configure_logging(file=)": _to_file,
    "filtered out by configure_logging": _filtered_out,
    "filtered out by structlog": _filtered_by_structlog,
}


async def _accepted_table() -> Table:
    """Compare an accepted call with a do-nothing middleware's, without and with an SDK that collects metrics."""
    from opentelemetry import metrics
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader

    from benchmarks.overhead import ACCEPTED, DoNothing, _server
    from mcp_lenient import LenientMiddleware

    call = ACCEPTED[0]
    contenders = [_server(DoNothing()), _server(LenientMiddleware())]
    table = Table("an accepted call", "do-nothing us", "lenient us", title=call.title)
    for title in ("without an SDK", "with an SDK's metrics"):
        plain, lenient = await servers.medians(contenders, call.tool, call.arguments, call.calls)
        table.add_row(title, f"{plain:.1f}", f"{lenient:.1f}")
        if title == "without an SDK":
            metrics.set_meter_provider(MeterProvider([InMemoryMetricReader()]))
    return table
