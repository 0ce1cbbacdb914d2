"""Measure a refusal: its time compared with FastMCP's own, and how long it blocks the event loop."""

from __future__ import annotations

import asyncio
import gc
import json
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from inspect import Parameter, Signature
from statistics import median
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Literal

from fastmcp import Client, FastMCP
from fastmcp.exceptions import ValidationError
from fastmcp.tools import Tool
from pydantic import BaseModel, ConfigDict
from rich.table import Table

from benchmarks import servers
from benchmarks.servers import RecordingTool
from tests.shared.stalls import FAMILIES, SCHEMA

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from rich.console import Console

MOST_TIMES = 6
"""The allowed cost of 20 wrong arguments of 20, as a multiple of FastMCP's own refusal."""
MOST_LATE_MS = 20
"""How late a ticker on the event loop may be while one call is refused, in milliseconds."""

_CALLS = 60
_TICK_S = 0.001
_HOSTILE_CALLS = 7


class Address(BaseModel):
    """A nested model that forbids other names."""

    model_config = ConfigDict(extra="forbid")
    street: str
    number: int


Level = Literal["low", "medium", "high", "urgent"]
_SHAPES: Mapping[str, tuple[Any, Any]] = {
    "words for integers": (int, "many"),
    "numbers for lists": (list[str], 7),
    "unknown enum values": (Level, "purple"),
    "nested models, a field wrong": (Address, {"street": "Main", "number": "many"}),
    "nested models, a name wrong": (Address, {"stret": "Main", "number": 1}),
    "lists, three items wrong": (list[int], ["a", "b", "c"]),
    "misspelt enum values": (Level, "hihg"),
    "lists as comma text": (list[str], "a, b, c"),
    "booleans for texts": (str, True),
    "fractions for integers": (int, 1.5),
    "null": (int, None),
    "misspelt names": (int, 1),
}
_MIXED = "mixed"
_SEVERAL_FAULTS = {"nested models, a name wrong": "40 faults", "lists, three items wrong": "60 faults"}
"""Shapes in which each argument has more than one fault, with the faults of 20 such arguments."""


def _function(count: int, annotation_of: Callable[[int], Any]) -> Callable[..., str]:
    """Return a function with this many parameters."""

    def tool(**_arguments: Any) -> str:
        return "ran"

    kinds = [
        Parameter(f"field_{at}", Parameter.KEYWORD_ONLY, annotation=annotation_of(at)) for at in range(count)
    ]
    tool.__signature__ = Signature(kinds)  # type: ignore[attr-defined]
    tool.__annotations__ = {each.name: each.annotation for each in kinds}
    return tool


def _call(shape: str, wrong: int, count: int) -> tuple[Callable[..., str], dict[str, Any]]:
    """Return a function and arguments of which this many are wrong; the others are right integers."""
    shapes = list(_SHAPES.values()) if shape == _MIXED else [_SHAPES[shape]]
    faulty = [shapes[at % len(shapes)] for at in range(wrong)]
    sent_as = "fjeldd_{}" if shape == "misspelt names" else "field_{}"
    arguments = {sent_as.format(at): faulty[at][1] if at < wrong else at for at in range(count)}
    return _function(count, lambda at: faulty[at][0] if at < wrong else int), arguments


def _pair(function: Callable[..., Any]) -> tuple[FastMCP[Any], FastMCP[Any]]:
    """Return a server without and one with the middleware, with the same tool."""
    return _server(function), _lenient(_server(function))


def _server(function: Callable[..., Any]) -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("refusals")
    server.tool(function, name="tool", output_schema=None)
    return server


def _lenient(server: FastMCP[Any]) -> FastMCP[Any]:
    from mcp_lenient import LenientMiddleware, Policy

    server.add_middleware(LenientMiddleware(policy=Policy(unrepairable="refuse")))
    return server


async def _on_server(server: FastMCP[Any], arguments: dict[str, Any]) -> None:
    with suppress(ValidationError):
        await server.call_tool("tool", arguments)


async def _ratio(callers: list[Callable[[], Awaitable[object]]]) -> tuple[float, float]:
    """Return the median microseconds of both, measured in turns."""
    times: list[list[int]] = [[] for _ in callers]
    for _ in range(_CALLS):
        for at, call in enumerate(callers):
            started = perf_counter_ns()
            await call()
            times[at].append(perf_counter_ns() - started)
    own, ours = (median(each[_CALLS // 10 :]) / 1000 for each in times)
    return own, ours


async def _costs(console: Console) -> None:
    table = Table(
        title=f"A refusal against FastMCP's own, medians (target: 20 of 20 at most {MOST_TIMES} times)"
    )
    for name in (
        "wrong of all",
        "what is wrong",
        "FastMCP us",
        "ours us",
        "times",
        "by client: FastMCP us",
        "ours us",
        "times",
    ):
        table.add_column(name, justify="left" if name == "what is wrong" else "right")
    for wrong, count in ((1, 1), (1, 20), (5, 20), (20, 20)):
        for shape in (*_SHAPES, _MIXED):
            if wrong == 20 or shape == _MIXED or (wrong == 1 and shape == "words for integers"):
                table.add_row(f"{wrong} of {count}", shape, *await _cost(shape, wrong, count))
    console.print(table)


async def _cost(shape: str, wrong: int, count: int) -> list[str]:
    function, arguments = _call(shape, wrong, count)
    alone, lenient = _pair(function)
    direct = await _ratio(
        [lambda: _on_server(alone, dict(arguments)), lambda: _on_server(lenient, dict(arguments))]
    )
    async with Client(alone) as one, Client(lenient) as other:
        by_client = await _ratio(
            [
                lambda: one.call_tool("tool", arguments, raise_on_error=False),
                lambda: other.call_tool("tool", arguments, raise_on_error=False),
            ]
        )
    return [
        cell
        for own, ours in (direct, by_client)
        for cell in (f"{own:.0f}", f"{ours:.0f}", f"{ours / own:.1f}")
    ]


@dataclass(frozen=True, slots=True)
class Load:
    """One hostile call: a tool, and arguments that it refuses."""

    title: str
    tool: Callable[..., Any] | Tool
    arguments: Callable[[], dict[str, Any]]


def _wide(count: int) -> Callable[..., str]:
    return _function(count, lambda _at: int)


def _some(
    values: list[str] | None = None,
    numbers: list[int] | None = None,
    note: str = "",
    count: int = 0,
    address: Address | None = None,
    addresses: list[Address] | None = None,
) -> str:
    """A tool with parameters of several kinds."""
    return f"{values}{numbers}{note}{count}{address}{addresses}"


def _snake(count: int) -> dict[str, Any]:
    names = (f"some_long_name_{at}_of_it" for at in range(count))
    return {name: {"type": "integer"} for name in names}


def _closed(properties: dict[str, Any], **more: Any) -> Tool:
    schema = {"type": "object", "properties": properties, "additionalProperties": False, **more}
    return RecordingTool.noting("tool", schema, [])


def _nested(levels: int, core: Any) -> Any:
    for _ in range(levels):
        core = [core]
    return core


_TEXTS = {"type": "array", "items": {"type": "string"}}
_ROWS = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "t": {"type": "string"}},
        "required": ["n"],
        "additionalProperties": False,
    },
}
_LOADS = (
    Load("2,000 unknown names", _some, lambda: {f"unknown_{at}": at for at in range(2_000)}),
    Load(
        "2,000 unknown names, by schema",
        _closed({"x": _TEXTS}),
        lambda: {f"unknown_{at}": at for at in range(2_000)},
    ),
    Load("900 unknown names", _some, lambda: {f"unknown_{at}": at for at in range(900)}),
    Load(
        "900 unknown names beside 200 declared", _wide(200), lambda: {f"fjeld_{at}": at for at in range(900)}
    ),
    Load("2,000 wrong items", _some, lambda: {"numbers": ["many"] * 2_000}),
    Load("2,000 different wrong items", _some, lambda: {"numbers": [f"many {at}" for at in range(2_000)]}),
    Load("900 different wrong items", _some, lambda: {"numbers": [f"many {at}" for at in range(900)]}),
    Load(
        "900 different wrong items, by schema",
        _closed({"x": {"type": "array", "items": {"type": "integer"}}}),
        lambda: {"x": [f"many {at}" for at in range(900)]},
    ),
    Load(
        "300 wrong models in a list",
        _some,
        lambda: {"addresses": [{"street": at, "nmber": "x"} for at in range(300)]},
    ),
    Load(
        "900 wrong rows, by schema",
        _closed({"x": _ROWS}),
        lambda: {"x": [{"m": "a", "t": at} for at in range(900)]},
    ),
    Load("200 wrong parameters", _wide(200), lambda: {f"field_{at}": "many" for at in range(200)}),
    Load("1,000 wrong parameters", _wide(1_000), lambda: {f"field_{at}": "many" for at in range(1_000)}),
    Load(
        "1,000 camelCase names, closed, values wrong",
        _closed(_snake(1_000)),
        lambda: {f"someLongName{at}OfIt": "many" for at in range(1_000)},
    ),
    Load("1,000 missing names", _wide(1_000), dict),
    Load(
        "300 kB of JSON text for a number",
        _some,
        lambda: {"count": json.dumps([{"a": at, "b": "x" * 20} for at in range(7_500)])},
    ),
    Load(
        "300 kB of JSON text for a model",
        _some,
        lambda: {"address": json.dumps([{"a": at, "b": "x" * 20} for at in range(7_500)])},
    ),
    Load(
        "300 kB of wrong items as JSON text",
        _some,
        lambda: {"numbers": json.dumps(["many thousand"] * 18_000)},
    ),
    Load("300 kB of text for a list of numbers", _some, lambda: {"numbers": "word, " * 50_000}),
    Load("60 nested lists", _some, lambda: {"values": _nested(60, 1)}),
    Load("10,000 nested lists", _some, lambda: {"values": _nested(10_000, 1)}),
    Load("a list of 300 lists of 100 numbers", _some, lambda: {"values": [list(range(100))] * 300}),
    Load(
        "an object of 20 lists of 90 objects",
        _some,
        lambda: {"address": {f"a{at}": [{"b": at}] * 90 for at in range(20)}},
    ),
)

_HOSTILE_SIZE = 2**16
"""Characters of the arguments whose size a stranger chooses."""
_STALLS = tuple(
    Load(
        f"64 KiB: {family}",
        RecordingTool.noting("tool", SCHEMA, []),
        partial(build, _HOSTILE_SIZE),
    )
    for family, build in FAMILIES.items()
)


@dataclass(slots=True)
class Lateness:
    """How late a ticker was while one call was refused, in milliseconds.

    ``collecting`` is the longest pause of Python's garbage collector meanwhile: a full collection looks at all
    objects of the process, and may interrupt any call.
    """

    worst: float
    took: float
    collecting: float


async def _lateness_of(work: Callable[[], Awaitable[object]]) -> Lateness:
    late: list[int] = []
    pauses: list[int] = [0]
    ready = asyncio.Event()

    async def tick() -> None:
        while True:
            started = perf_counter_ns()
            await asyncio.sleep(_TICK_S)
            late.append(perf_counter_ns() - started - int(_TICK_S * 1e9))
            ready.set()

    begun = 0

    def collecting(phase: str, _: object) -> None:
        nonlocal begun
        if phase == "start":
            begun = perf_counter_ns()
        else:
            pauses.append(perf_counter_ns() - begun)

    ticker = asyncio.create_task(tick())
    await ready.wait()
    late.clear()
    gc.callbacks.append(collecting)
    started = perf_counter_ns()
    await work()
    took = perf_counter_ns() - started
    gc.callbacks.remove(collecting)
    await asyncio.sleep(2 * _TICK_S)
    ticker.cancel()
    return Lateness(max(late) / 1e6, took / 1e6, max(pauses) / 1e6)


async def _lateness(console: Console) -> None:
    idle = await _lateness_of(lambda: asyncio.sleep(0.2))
    table = Table(
        title=f"How many ms a ticker of 1 ms is late while a call is refused, median and worst of {_HOSTILE_CALLS}"
        f" (target: {MOST_LATE_MS} ms; idle: {idle.worst:.1f} ms)"
    )
    table.add_column("call")
    for name in ("FastMCP median", "worst", "took", "ours median", "worst", "collector", "took"):
        table.add_column(name, justify="right")
    for load in (*_LOADS, *_STALLS):
        alone = await _under(_with(load.tool), load)
        ours = await _under(_lenient(_with(load.tool)), load)
        collector = max(each.collecting for each in ours)
        table.add_row(
            load.title, *_cells(alone)[:2], _took(alone), *_cells(ours), f"{collector:.1f}", _took(ours)
        )
    console.print(table)


def _cells(found: list[Lateness]) -> list[str]:
    figures = (median(each.worst for each in found), max(each.worst for each in found))
    return [f"[red]{each:.1f}[/red]" if each > MOST_LATE_MS else f"{each:.1f}" for each in figures]


def _took(found: list[Lateness]) -> str:
    return f"{median(each.took for each in found):.1f}"


def _with(tool: Callable[..., Any] | Tool) -> FastMCP[Any]:
    if not isinstance(tool, Tool):
        return _server(tool)
    server: FastMCP[Any] = FastMCP("refusals")
    server.add_tool(tool)
    return server


async def _under(server: FastMCP[Any], load: Load) -> list[Lateness]:
    """Return the lateness during several calls; two earlier calls compile the plan and fill the caches."""
    for arguments in ({"never declared": True}, load.arguments()):
        await _on_server(server, arguments)
    # A garbage collection of FastMCP's modules takes 60 to 100 ms, and would interrupt any call.
    gc.collect()
    gc.freeze()
    return [await _lateness_of(partial(_on_server, server, load.arguments())) for _ in range(_HOSTILE_CALLS)]


def figures() -> list[tuple[str, str, str]]:
    """Return the cost of 20 wrong arguments of 20, and how late a ticker is while hostile calls are refused."""
    servers.quiet()
    return asyncio.run(_figures())


async def _figures() -> list[tuple[str, str, str]]:
    times = {shape: float((await _cost(shape, 20, 20))[2]) for shape in (*_SHAPES, _MIXED)}
    of_20 = {shape: each for shape, each in times.items() if shape not in _SEVERAL_FAULTS}
    worst = max(of_20, key=of_20.__getitem__)
    more = ", ".join(f"{times[shape]:.1f} ({faults})" for shape, faults in _SEVERAL_FAULTS.items())
    load = next(load for load in _LOADS if load.title == "2,000 unknown names")
    late = [each.worst for each in await _under(_lenient(_with(load.tool)), load)]
    stalls = {
        stall.title: median(each.worst for each in await _under(_lenient(_with(stall.tool)), stall))
        for stall in _STALLS
    }
    slowest = max(stalls, key=stalls.__getitem__)
    return [
        (
            "20 wrong of 20, times FastMCP's own refusal",
            f"{median(of_20.values()):.1f} (median of {len(of_20)} shapes); {of_20[worst]:.1f} ({worst}); {more}",
            f"at most {MOST_TIMES}",
        ),
        (
            "2,000 unknown names: a ticker is late by",
            f"{median(late):.1f} ms (worst of {len(late)}: {max(late):.1f})",
            f"at most {MOST_LATE_MS} ms",
        ),
        (
            f"{len(stalls)} kinds of 64 KiB: a ticker is late by",
            f"{stalls[slowest]:.1f} ms ({slowest.removeprefix('64 KiB: ')})",
            f"at most {MOST_LATE_MS} ms",
        ),
    ]


def main(console: Console) -> None:
    """Print both tables."""
    servers.quiet()
    asyncio.run(_costs(console))
    asyncio.run(_lateness(console))
