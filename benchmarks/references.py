"""Measure the first correct and the first wrong call on schemas whose references multiply, with compilation."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from time import perf_counter
from typing import TYPE_CHECKING, Any

from fastmcp import FastMCP
from rich.table import Table

from benchmarks import servers
from benchmarks.servers import RecordingTool

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from rich.console import Console

TARGET_MS = 100
PATIENCE_S = 10
"""Seconds after which the process of a call is ended."""
LEVELS = 40

Schema = Mapping[str, Any]
_INTEGER = {"type": "integer"}
_NUMBERS = {"n": _INTEGER}


@dataclass(frozen=True, slots=True)
class Multiplying:
    """A schema, arguments that it accepts, and arguments that it does not accept."""

    title: str
    schema: Schema
    right: Mapping[str, Any]
    wrong: Mapping[str, Any]


def _doubled(title: str, twice: Callable[[Schema], Schema], right: Any, wrong: Any) -> Multiplying:
    """Return a chain of definitions, each of which refers to the next twice."""
    definitions: dict[str, Any] = {f"d{at}": twice({"$ref": f"#/$defs/d{at + 1}"}) for at in range(LEVELS)}
    definitions[f"d{LEVELS}"] = _INTEGER
    return _tool(title, {"$ref": "#/$defs/d0"}, right, wrong, definitions)


def _tool(
    title: str, parameter: Schema, right: Any, wrong: Any, definitions: Schema | None = None
) -> Multiplying:
    schema = {"type": "object", "properties": {"x": parameter, **_NUMBERS}, "$defs": definitions or {}}
    return Multiplying(title, schema, {"x": right, "n": 5}, {"x": wrong, "n": "5"})


def _dynamic(keyword: str, levels: int) -> Schema:
    """Return the doubled chain, written with ``$dynamicRef``."""
    definitions: dict[str, Any] = {
        f"d{at}": {"$dynamicAnchor": f"a{at}", keyword: [{"$dynamicRef": f"#a{at + 1}"}] * 2}
        for at in range(levels)
    }
    return {**definitions, f"d{levels}": {"$dynamicAnchor": f"a{levels}", **_INTEGER}}


def _lists(core: Any, levels: int = LEVELS) -> Any:
    return reduce(lambda inner, _: [inner], range(levels), core)


def _objects(core: Any, levels: int = LEVELS, key: str = "a") -> Any:
    return reduce(lambda inner, _: {key: inner}, range(levels), core)


def _recursive(title: str, definition: Schema, right: Any, wrong: Any) -> Multiplying:
    return _tool(title, {"$ref": "#/$defs/r"}, right, wrong, {"r": definition})


def _two(value: Any) -> list[Any]:
    return [value, dict(value)]


_R = {"$ref": "#/$defs/r"}


def _branches(count: int, below: Callable[[], Schema]) -> list[Schema]:
    return [{"type": "object", "properties": {"a": below(), f"k{at}": _INTEGER}} for at in range(count)]


def _nested(levels: int) -> Schema:
    return reduce(
        lambda inner, _: {"type": "object", "properties": {"a": inner}},
        range(levels),
        dict[str, Any](_INTEGER),
    )


CASES = (
    _doubled("allOf", lambda ref: {"allOf": _two(ref)}, 1, "no"),
    _doubled("allOf, nothing fits", lambda ref: {"allOf": _two(ref)}, 1, {"a": 1}),
    _doubled("anyOf", lambda ref: {"anyOf": _two(ref)}, 1, "no"),
    _doubled("oneOf", lambda ref: {"oneOf": _two(ref)}, 1, "no"),
    _doubled("anyOf in allOf", lambda ref: {"allOf": [{"anyOf": _two(ref)}, ref]}, 1, "no"),
    _doubled("not", lambda ref: {"not": {"anyOf": _two(ref)}}, 1, "no"),
    _doubled("if, then", lambda ref: {"if": ref, "then": ref}, 1, "no"),
    _doubled("if, then, else", lambda ref: {"if": ref, "then": ref, "else": ref}, 1, "no"),
    _doubled("items", lambda ref: {"items": {"allOf": _two(ref)}}, _lists(1), _lists("no")),
    _doubled("prefixItems, items", lambda ref: {"prefixItems": [ref], "items": ref}, _lists(1), _lists("no")),
    _doubled("contains", lambda ref: {"contains": ref, "items": ref}, _lists(1), _lists("no")),
    _doubled("properties", lambda ref: {"properties": {"a": ref, "b": ref}}, _objects(1), _objects("no")),
    _doubled(
        "properties in anyOf",
        lambda ref: {"anyOf": [{"properties": {"a": each}} for each in _two(ref)]},
        _objects(1),
        _objects("no"),
    ),
    _doubled(
        "properties, patterns",
        lambda ref: {"properties": {"a": ref}, "patternProperties": {"a": ref, "^a": ref}},
        _objects(1),
        _objects("no"),
    ),
    _doubled(
        "dependentSchemas", lambda ref: {"dependentSchemas": {"a": ref, "b": ref}}, {"a": 1}, {"a": 1, "b": 1}
    ),
    _doubled(
        "propertyNames",
        lambda ref: {"propertyNames": ref, "additionalProperties": ref},
        {},
        {"a": 1, "b": {}},
    ),
    _doubled(
        "unevaluated",
        lambda ref: {"allOf": _two(ref), "unevaluatedProperties": False},
        1,
        {"a": 1},
    ),
    _doubled("dependencies", lambda ref: {"dependencies": {"a": ref, "b": ref}}, {"a": 1}, {"a": 1, "b": 1}),
    _doubled("nullable", lambda ref: {"allOf": _two(ref), "nullable": True}, None, "no"),
    _tool("$dynamicRef, allOf", {"$ref": "#/$defs/d0"}, 1, "no", _dynamic("allOf", LEVELS)),
    _tool("$dynamicRef, anyOf", {"$ref": "#/$defs/d0"}, 1, "no", _dynamic("anyOf", LEVELS)),
    _recursive(
        "recursive anyOf",
        {"anyOf": [_INTEGER, *({"items": _R, "type": "array"},) * 2]},
        _lists(1),
        _lists("no"),
    ),
    _recursive(
        "recursive oneOf", {"oneOf": [_INTEGER, *({"items": _R, "type": "array"},) * 2]}, 1, _lists("no")
    ),
    _recursive(
        "recursive branches", {"anyOf": [_INTEGER, *_branches(20, lambda: _R)]}, _objects(1), _objects("no")
    ),
    _recursive("recursive allOf", {"allOf": _branches(2, lambda: _R)}, _objects({}), _objects("no")),
    _recursive(
        "recursive, wide value",
        {"anyOf": [_INTEGER, *({"items": _R, "type": "array"},) * 2]},
        [_lists(1, 10)] * 100,
        [_lists("no", 10)] * 100,
    ),
    _recursive("itself in allOf", {"allOf": [_R, _INTEGER]}, 1, "no"),
    _recursive("itself in anyOf", {"anyOf": [_R, _R, _INTEGER]}, 1, "no"),
    _tool(
        "a chain of 2,000",
        {"$ref": "#/$defs/d0"},
        1,
        "no",
        {**{f"d{at}": {"$ref": f"#/$defs/d{at + 1}"} for at in range(2000)}, "d2000": _INTEGER},
    ),
    _tool("200 branches, one property", {"allOf": _branches(200, lambda: _INTEGER)}, {"a": 1}, {"a": "no"}),
    _tool("200 of anyOf, one property", {"anyOf": _branches(200, lambda: _INTEGER)}, {"a": 1}, {"a": "no"}),
    _tool("2,000 levels", _nested(2_000), _objects({}), _objects("no")),
    _tool("10,000 enum values", {"enum": [f"value {at}" for at in range(10_000)]}, "value 7", "valeu 7"),
    _tool("10,000 enum objects", {"enum": [{"at": at} for at in range(10_000)]}, {"at": 7}, {"at": -7}),
    _tool(
        "uniqueItems",
        {"type": "array", "uniqueItems": True},
        [{"at": [at]} for at in range(5_000)],
        [{"at": [at % 4_999]} for at in range(5_000)],
    ),
    _tool("a costly pattern", {"type": "string", "pattern": "^(?=a)(a+)+$"}, "a", "a" * 5_000 + "!"),
)


def main(console: Console) -> None:
    """Print milliseconds for the first correct and the first wrong call of each."""
    table = Table(title=f"References, {LEVELS} levels; first call, compiled for it (target: {TARGET_MS} ms)")
    table.add_column("schema")
    for probe in _PROBES:
        table.add_column(f"{probe}, ms", justify="right")
    for at, case in enumerate(CASES):
        table.add_row(case.title, *(_cell(each) for each in _isolated(at)))
    console.print(table)


def figures() -> list[tuple[str, str, str]]:
    """Return the slowest first call among the doubled references."""
    doubled = [at for at, case in enumerate(CASES) if len(case.schema["$defs"]) == LEVELS + 1]
    times = [each for at in doubled for each in _isolated(at)]
    slowest = "no answer" if None in times else f"{max(filter(None, times)):.1f} ms"
    return [
        (
            f"doubled references, {LEVELS} deep, {len(doubled)} kinds, right and wrong calls",
            f"slowest {slowest}",
            f"at most {TARGET_MS} ms",
        )
    ]


def _cell(milliseconds: float | None) -> str:
    if milliseconds is None:
        return f"[red]over {PATIENCE_S * 1000:,}[/red]"
    shown = f"{milliseconds:.1f}"
    return shown if milliseconds <= TARGET_MS else f"[red]{shown}[/red]"


def _isolated(at: int) -> list[float | None]:
    """Return the milliseconds of each probe; None for one without an answer, and for those after it.

    Each case runs in a separate process, so that a crash or an endless loop is an outcome too.
    """
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_run, args=(there, at))
    process.start()
    there.close()
    found: list[float | None] = []
    try:
        while len(found) < len(_PROBES) and here.poll(PATIENCE_S):
            found.append(here.recv())
    except EOFError:
        pass
    process.kill()
    process.join()
    return [*found, *[None] * len(_PROBES)][: len(_PROBES)]


def _run(answer: Connection, at: int) -> None:
    servers.quiet()
    warm = _tool("warm", _INTEGER, 1, "no")
    for name, (measure, kind) in _PROBES.items():
        measure({**warm.schema, "title": name}, warm.wrong)
        case = CASES[at]
        # A garbage collection of FastMCP's modules takes 60 to 100 ms, and would interrupt any call.
        gc.collect()
        gc.freeze()
        # Another title, so that nothing compiled for the previous probe is reused.
        answer.send(measure({**case.schema, "title": name}, case.right if kind == "right" else case.wrong))


def _normalize(schema: Schema, arguments: Mapping[str, Any]) -> float:
    from mcp_lenient import normalize

    started = perf_counter()
    normalize(schema, arguments)
    return (perf_counter() - started) * 1000


def _custom_tool(schema: Schema, arguments: Mapping[str, Any]) -> float:
    from mcp_lenient import LenientMiddleware

    server = FastMCP("references", middleware=[LenientMiddleware()])
    server.add_tool(RecordingTool.noting("tool", schema, []))
    return asyncio.run(_called(server, arguments))


async def _called(server: FastMCP[Any], arguments: Mapping[str, Any]) -> float:
    started = perf_counter()
    await server.call_tool("tool", dict(arguments))
    return (perf_counter() - started) * 1000


_PROBES: Mapping[str, tuple[Callable[[Schema, Mapping[str, Any]], float], str]] = {
    "normalize, right": (_normalize, "right"),
    "normalize, wrong": (_normalize, "wrong"),
    "custom tool, right": (_custom_tool, "right"),
    "custom tool, wrong": (_custom_tool, "wrong"),
}
