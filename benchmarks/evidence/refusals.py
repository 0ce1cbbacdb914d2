"""Measure a refusal: its time compared with FastMCP's own, and how long it blocks the event loop."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from inspect import Parameter, Signature
from statistics import median
from time import perf_counter_ns
from typing import Any, Literal

from fastmcp import FastMCP
from fastmcp.exceptions import ValidationError
from pydantic import BaseModel, ConfigDict

from benchmarks import servers
from benchmarks.servers import RecordingTool
from tests.shared.stalls import FAMILIES, SCHEMA

MOST_TIMES = 6
"""The allowed cost of 20 wrong arguments of 20, as a multiple of FastMCP's own refusal."""
MOST_LATE_MS = 20
"""How late a ticker on the event loop may be while one call is refused, in milliseconds."""
_CALLS = 60
_TICK_S = 0.001
_HOSTILE_CALLS = 7
_HOSTILE_SIZE = 2**16
"""Characters of the arguments whose size a stranger chooses."""


class Address(BaseModel):
    """A nested model that forbids other names."""

    model_config = ConfigDict(extra="forbid")
    street: str
    number: int


_LEVEL = Literal["low", "medium", "high", "urgent"]
_SHAPES: Mapping[str, tuple[Any, Any]] = {
    "words for integers": (int, "many"),
    "numbers for lists": (list[str], 7),
    "unknown enum values": (_LEVEL, "purple"),
    "nested models, a field wrong": (Address, {"street": "Main", "number": "many"}),
    "nested models, a name wrong (40 faults)": (Address, {"stret": "Main", "number": 1}),
    "lists, three items wrong (60 faults)": (list[int], ["a", "b", "c"]),
    "misspelt enum values": (_LEVEL, "hihg"),
    "lists as comma text": (list[str], "a, b, c"),
    "booleans for texts": (str, True),
    "fractions for integers": (int, 1.5),
    "null": (int, None),
    "misspelt names": (int, 1),
}
_UNKNOWN = "2,000 unknown names"
_STALLS = {_UNKNOWN: lambda: {f"unknown_{at}": at for at in range(2_000)}} | {
    f"64 KiB: {family}": partial(build, _HOSTILE_SIZE) for family, build in FAMILIES.items()
}


def figures() -> list[tuple[str, str, str]]:
    """Return the cost of 20 wrong arguments of 20, and how late a ticker is while hostile calls are refused."""
    servers.quiet()
    costs, late = asyncio.run(_measured())
    of_20 = {shape: times for shape, times in costs.items() if "faults" not in shape}
    worst = max(of_20, key=of_20.__getitem__)
    more = ", ".join(f"{times:.1f} ({shape})" for shape, times in costs.items() if shape not in of_20)
    middle = f"{median(of_20.values()):.1f} (median of {len(of_20)} shapes)"
    unknown = late.pop(_UNKNOWN)
    slowest = max(late, key=lambda call: median(late[call]))
    asked = f"at most {MOST_LATE_MS} ms"
    return [
        (
            "20 wrong of 20, times FastMCP's own refusal",
            f"{middle}; {of_20[worst]:.1f} ({worst}); {more}",
            f"at most {MOST_TIMES}",
        ),
        (f"{_UNKNOWN}: a ticker is late by", f"{median(unknown):.1f} ms (worst: {max(unknown):.1f})", asked),
        (f"{len(late)} kinds: a ticker is late by", f"{median(late[slowest]):.1f} ms ({slowest})", asked),
    ]


async def _measured() -> tuple[dict[str, float], dict[str, list[float]]]:
    costs = {shape: await _cost(shape) for shape in _SHAPES}
    server = _server(RecordingTool.noting("tool", SCHEMA, []), lenient=True)
    return costs, {title: await _late(server, arguments) for title, arguments in _STALLS.items()}


async def _cost(shape: str) -> float:
    """Return the time of a refusal of twenty wrong arguments, as a multiple of FastMCP's own."""
    annotation, wrong = _SHAPES[shape]
    name = "fjeldd_{}" if shape == "misspelt names" else "field_{}"
    arguments = {name.format(at): wrong for at in range(20)}

    def tool(**_arguments: Any) -> str:
        return "ran"

    kinds = [Parameter(f"field_{at}", Parameter.KEYWORD_ONLY, annotation=annotation) for at in range(20)]
    tool.__signature__ = Signature(kinds)  # type: ignore[attr-defined]
    tool.__annotations__ = {each.name: each.annotation for each in kinds}
    times: list[list[int]] = [[], []]
    contenders = [_server(tool, lenient=lenient) for lenient in (False, True)]
    for _ in range(_CALLS):
        for taken, server in zip(times, contenders, strict=True):
            started = perf_counter_ns()
            await _call(server, arguments)
            taken.append(perf_counter_ns() - started)
    own, ours = (median(each[_CALLS // 10 :]) for each in times)
    return ours / own


def _server(tool: Any, *, lenient: bool) -> FastMCP[Any]:
    from mcp_lenient import LenientMiddleware, Policy

    middleware = [LenientMiddleware(policy=Policy(unrepairable="refuse"))] if lenient else []
    server: FastMCP[Any] = FastMCP("refusals", middleware=middleware)
    servers.add(server, tool)
    return server


async def _call(server: FastMCP[Any], arguments: dict[str, Any]) -> None:
    with suppress(ValidationError):
        await server.call_tool("tool", dict(arguments))


async def _late(server: FastMCP[Any], arguments: Callable[[], dict[str, Any]]) -> list[float]:
    """Return how many milliseconds a ticker is late during each call, after one that fills the caches."""
    await _call(server, arguments())
    # A garbage collection of FastMCP's modules takes 60 to 100 ms, and would interrupt any call.
    gc.collect()
    gc.freeze()
    return [await _lateness(_call(server, arguments())) for _ in range(_HOSTILE_CALLS)]


async def _lateness(work: Awaitable[object]) -> float:
    late: list[int] = []
    ready = asyncio.Event()

    async def tick() -> None:
        while True:
            started = perf_counter_ns()
            await asyncio.sleep(_TICK_S)
            late.append(perf_counter_ns() - started - int(_TICK_S * 1e9))
            ready.set()

    ticker = asyncio.create_task(tick())
    await ready.wait()
    late.clear()
    await work
    await asyncio.sleep(2 * _TICK_S)
    ticker.cancel()
    return max(late) / 1e6
