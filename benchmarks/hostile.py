"""Check that malicious arguments and schemas are refused quickly and without an exception."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

from fastmcp import FastMCP
from pydantic import BaseModel, Field
from rich.markup import escape
from rich.table import Table

from benchmarks import servers
from benchmarks.servers import RecordingTool

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from rich.console import Console

TARGET_MS = 50
PATIENCE_S = 30
"""Seconds after which the process of a case is ended."""

Schema = Mapping[str, Any]
_LEVELS = 10_000


@dataclass(frozen=True, slots=True)
class Hostile:
    """A schema and arguments that it does not accept.

    ``parameter`` is the parameter of :func:`function` that also gets the value of ``x``. ``may_run`` means that there is
    one harmless reading, so that a repair is as right as a refusal.
    """

    title: str
    schema: Schema
    arguments: Callable[[], dict[str, Any]]
    parameter: str = ""
    may_run: bool = False


def _object(**properties: Any) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
        "$defs": _DEFS,
    }


_NODE = {"$ref": "#/$defs/node"}
_TREE = {"$ref": "#/$defs/tree"}
_DEFS: Schema = {
    "node": {
        "type": "object",
        "properties": {"value": {"type": "integer"}, "children": {"type": "array", "items": _NODE}},
        "required": ["value"],
        "additionalProperties": False,
    },
    "tree": {
        "anyOf": [{"type": "integer"}, {"type": "array", "items": _TREE}, {"type": "array", "items": _TREE}]
    },
}
_TEXTS = {"type": "array", "items": {"type": "string"}}
_NUMBERS = {"type": "array", "items": {"type": "integer"}}
_TABLE = {"type": "array", "items": _TEXTS}


def _nested_lists(levels: int, core: Any = None) -> Any:
    return reduce(lambda inner, _: [inner], range(levels), core)


def _nested_objects(levels: int, core: Any = None) -> Any:
    return reduce(lambda inner, _: {"a": inner}, range(levels), core)


def _nodes(levels: int, value: Any) -> Any:
    return reduce(lambda inner, _: {"value": 1, "children": [inner]}, range(levels), {"value": value})


CASES = (
    Hostile("'[' * 200,000 for a list", _object(x=_TEXTS), lambda: {"x": "[" * 200_000}, "x"),
    Hostile("'[' * 200,000 for a list of lists", _object(x=_TABLE), lambda: {"x": "[" * 200_000}),
    Hostile("'{\"a\":' * 100,000 for an object", _object(x=_NODE), lambda: {"x": '{"a":' * 100_000}, "node"),
    Hostile("10,000 nested lists", _object(x=_TEXTS), lambda: {"x": _nested_lists(_LEVELS)}, "x"),
    Hostile("10,000 nested objects", _object(x=_NODE), lambda: {"x": _nested_objects(_LEVELS)}, "node"),
    Hostile(
        "10,000 nested lists for a text", _object(x={"type": "string"}), lambda: {"x": _nested_lists(_LEVELS)}
    ),
    Hostile(
        "10,000 nested lists as text", _object(x=_TEXTS), lambda: {"x": "[" * _LEVELS + "]" * _LEVELS}, "x"
    ),
    Hostile(
        "10,000 nested objects as text",
        _object(x=_NODE),
        lambda: {"x": '{"a":' * _LEVELS + "1" + "}" * _LEVELS},
        "node",
    ),
    Hostile(
        "10,000 nested objects as the arguments", _object(x=_TEXTS), lambda: {"y": _nested_objects(_LEVELS)}
    ),
    Hostile("900 kB of '[\"'", _object(x=_TEXTS), lambda: {"x": '["' * 450_000}, "x"),
    Hostile('900 kB of "[\'"', _object(x=_TEXTS), lambda: {"x": "['" * 450_000}, "x"),
    Hostile("900 kB of '\\\\'", _object(x=_TEXTS), lambda: {"x": '["' + "\\" * 900_000}, "x"),
    Hostile(
        "250,000 times encoded text",
        _object(x=_TEXTS),
        lambda: {"x": json.dumps(json.dumps('"' * 250_000))},
        "x",
    ),
    Hostile(
        "5 MB of digits for an integer",
        _object(x={"type": "integer"}),
        lambda: {"x": "9" * 5_000_000},
        "number",
    ),
    Hostile("5 MB of digits for a number", _object(x={"type": "number"}), lambda: {"x": "9" * 5_000_000}),
    Hostile("5 MB of digits for a list", _object(x=_TABLE), lambda: {"x": "9" * 5_000_000}),
    Hostile("5 MB of spaces for a boolean", _object(x={"type": "boolean"}), lambda: {"x": " " * 5_000_000}),
    Hostile(
        "an integer of 4,000 digits for a text", _object(x={"type": "string"}), lambda: {"x": [10**4000]}
    ),
    Hostile("recursive $ref, 60 levels, wrong leaf", _object(x=_NODE), lambda: {"x": _nodes(30, [])}, "node"),
    Hostile(
        "recursive $ref, 10,000 levels", _object(x=_NODE), lambda: {"x": _nodes(_LEVELS // 2, [])}, "node"
    ),
    Hostile(
        "recursive $ref, 60 levels as text",
        _object(x=_NODE),
        lambda: {"x": json.dumps(_nodes(30, []))},
        "node",
    ),
    Hostile("recursive anyOf, 30 levels", _object(x=_TREE), lambda: {"x": _nested_lists(30, "no")}),
    Hostile(
        "recursive anyOf, 60 levels as text", _object(x=_TREE), lambda: {"x": "[" * 60 + '"no"' + "]" * 60}
    ),
    Hostile(
        "a hostile pattern",
        _object(x={"type": "string", "pattern": "^(a+)+$"}),
        lambda: {"x": "a" * 50_000 + "!"},
        "code",
    ),
    Hostile(
        "a hostile pattern with a look-ahead",
        _object(x={"type": "string", "pattern": "^(?=(a+)+$)a*$"}),
        lambda: {"x": "a" * 5_000 + "!"},
    ),
    Hostile(
        "uniqueItems, 100,000 objects, two alike",
        _object(x={"type": "array", "items": {"type": "object"}, "uniqueItems": True}),
        lambda: {"x": [{"at": at} for at in range(99_999)] + [{"at": 0}]},
    ),
    Hostile(
        "uniqueItems, 100,000 texts for integers, two alike",
        _object(x={"type": "array", "items": {"type": "integer"}, "uniqueItems": True}),
        lambda: {"x": [*map(str, range(99_999)), "0"]},
    ),
    Hostile("100,000 wrong items", _object(x=_TEXTS), lambda: {"x": [None] * 100_000}, "x"),
    Hostile("100,000 unknown names", _object(x=_TEXTS), lambda: {f"x{at}": 1 for at in range(100_000)}),
    Hostile(
        "1,000 names close to 1,000 declared ones",
        _object(**{f"name_of_{at}": {"type": "string"} for at in range(1000)}),
        lambda: {f"nmae_of_{at}": "a" for at in range(1000)},
        may_run=True,
    ),
    Hostile("500 kB of commas for numbers", _object(x=_NUMBERS), lambda: {"x": "1," * 250_000}),
    Hostile("lone surrogates", _object(x=_TEXTS), lambda: {"x": '["\ud800', "\udfff": "\ud800"}, "x"),
)


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
    for at, case in enumerate(CASES):
        table.add_row(case.title, *(cell for found in _isolated(at) for cell in _cells(case, *found)))
    console.print(table)


def _cells(case: Hostile, outcome: str, milliseconds: float) -> tuple[str, str]:
    good = outcome.startswith("refused") or outcome == _SKIPPED or (case.may_run and outcome == "ran")
    shown, time = escape(outcome), f"{milliseconds:.1f}" if milliseconds else ""
    slow = milliseconds > TARGET_MS
    return (shown if good else f"[red]{shown}[/red]", f"[red]{time}[/red]" if slow else time)


def _isolated(at: int) -> list[tuple[str, float]]:
    """Run one case in a separate process, so that a crash or an endless loop is an outcome too."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_run, args=(there, at))
    process.start()
    there.close()
    found: list[tuple[str, float]] = []
    ended = "raised or crashed"
    try:
        while len(found) < len(PROBES) and here.poll(PATIENCE_S):
            found.append(here.recv())
        ended = f"no answer in {PATIENCE_S} s"
    except EOFError:
        pass
    process.kill()
    process.join()
    missing = len(PROBES) - len(found)
    return [*found, (ended, 0.0), *[("not reached", 0.0)] * missing][: len(PROBES)]


def _run(answer: Connection, at: int) -> None:
    servers.quiet()
    for probe in PROBES.values():
        answer.send(probe(CASES[at]))


def _normalize(case: Hostile) -> tuple[str, float]:
    from mcp_lenient import normalize

    normalize(case.schema, {})
    times = []
    for arguments in _thrice(case):
        started = perf_counter()
        result = normalize(case.schema, arguments)
        times.append(perf_counter() - started)
    outcome = f"refused: {result.violations[0].code}" if result.violations else "ran"
    return outcome, median(times) * 1000


def _custom_tool(case: Hostile) -> tuple[str, float]:
    server = FastMCP("hostile")
    server.add_tool(RecordingTool.noting("tool", case.schema, []))
    return asyncio.run(_called(server, list(_thrice(case))))


def _function_tool(case: Hostile) -> tuple[str, float]:
    if not case.parameter:
        return _SKIPPED, 0.0
    server = FastMCP("hostile")
    server.tool(function, name="tool")
    return asyncio.run(_called(server, [{case.parameter: arguments["x"]} for arguments in _thrice(case)]))


def _thrice(case: Hostile) -> Iterator[dict[str, Any]]:
    return (case.arguments() for _ in range(3))


async def _called(server: FastMCP[Any], calls: list[dict[str, Any]]) -> tuple[str, float]:
    """Return the outcome of the calls and their median in milliseconds; an earlier call compiles the plan."""
    from mcp_lenient import LenientMiddleware, Policy

    server.add_middleware(LenientMiddleware(policy=Policy(unrepairable="refuse")))
    await server.call_tool("tool", {"never declared": True})
    times = []
    for arguments in calls:
        started = perf_counter()
        result = await server.call_tool("tool", arguments)
        times.append(perf_counter() - started)
    noted = (result.meta or {}).get("mcp_lenient", {})
    outcome = f"refused: {noted.get('error_code')}" if result.is_error else "ran"
    return outcome, median(times) * 1000


_SKIPPED = "-"
PROBES: Mapping[str, Callable[[Hostile], tuple[str, float]]] = {
    "normalize": _normalize,
    "custom tool": _custom_tool,
    "function tool": _function_tool,
}
