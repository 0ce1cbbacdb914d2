"""Measure the added cost of a repair and a refusal, with the middleware and alone, of many schemas, and of json_repair."""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from statistics import quantiles
from time import process_time, process_time_ns
from typing import Any, Final

from fastmcp import FastMCP
from fastmcp.exceptions import ValidationError
from rich.table import Table

from benchmarks import servers
from benchmarks.environments import ROOT, NotInstalledError
from benchmarks.evidence.recorded.methods import json_repair_python
from benchmarks.printing import wide_console
from benchmarks.speed.overhead import BAD, RIGHT, closed, five
from benchmarks.speed.timing import batches, in_turns
from mcp_lenient import Normalizer, normalize

Figure = tuple[str, str, str]
_CALLS: Final = 2_000
_REPAIRED: Final = {**RIGHT, "tags": '["a", "b"]'}
_REFUSED: Final = {**RIGHT, "limit": "many"}
_SCHEMAS: Final = 1_100
_ROW: Final = closed("name", amount={"type": "number"})
_ROWS: Final = closed("rows", rows={"type": "array", "items": _ROW})
_FIFTY: Final = {"rows": [{"name": f"row {at}", "amount": "12.5"} for at in range(50)]}
_TIMED: Final = """
import json, statistics, sys, time, timeit
{imported}
schema, arguments = json.loads(sys.stdin.read())
seconds = timeit.repeat(lambda: {call}, timer=time.process_time, number=20, repeat=50)
print(statistics.quantiles(seconds, n=4)[0] / 20 * 1e6)
"""
_OURS: Final = _TIMED.format(
    imported="from mcp_lenient import normalize", call="normalize(schema, arguments)"
)
_JSON_REPAIR: Final = _TIMED.format(
    imported="import json_repair", call="json_repair.loads(json.dumps(arguments), schema=schema)"
)


def main() -> None:
    """Print each figure with its target."""
    servers.quiet()
    gc.collect()
    gc.freeze()
    table = Table("what", "measured", "asked", title="Speed, where users meet it")
    for row in (*asyncio.run(_added()), *_normalizer(), _rotation(), _fifty_objects()):
        table.add_row(*row)
    wide_console().print(table)


async def _added() -> list[Figure]:
    """Return what a repair and a refusal add to the same call through FastMCP alone."""
    alone, lenient = servers.pair(five)
    calls = [
        partial(_called, alone, RIGHT),
        partial(_called, lenient, _REPAIRED),
        partial(_called, lenient, _REFUSED),
    ]
    await in_turns(calls, _CALLS // 10)
    bare, repaired, refused = await in_turns(calls, _CALLS, process_time_ns)
    return [
        (
            f"{kind}, one fault: added to a bare call",
            f"+{us - bare:.0f} us ({us / bare:.2f} of {bare:.0f} us)",
            "+1.0 of a bare call's time",
        )
        for kind, us in (("repaired", repaired), ("refused", refused))
    ]


async def _called(server: FastMCP[Any], arguments: Mapping[str, Any]) -> None:
    with suppress(ValidationError):
        await server.call_tool("five", dict(arguments))


def _normalizer() -> Iterator[Figure]:
    """Yield the lower quartile of the CPU time of batches of a hundred calls."""
    (_, schema, repaired), (_, _, refused) = BAD[0], BAD[-1]
    normalizer = Normalizer(schema)
    right = {"content": "x", "tags": ["a", "b"]}
    for kind, arguments, most in (
        ("accepted", right, 1.5),
        ("repaired", repaired, 30),
        ("refused", refused, 100),
    ):
        quartile = quantiles(batches(normalizer, arguments, clock=process_time), n=4)[0]
        yield f"Normalizer: {kind}", f"{quartile:.1f} us", f"{most} us"


def _rotation() -> Figure:
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


def _fifty_objects() -> Figure:
    """Compare texts for numbers in fifty objects with json_repair, each in a process of its own."""
    what, most = "normalize of 50 objects with texts for numbers, against json_repair", "0.6 of its time"
    try:
        theirs = _timed(json_repair_python(), _JSON_REPAIR)
    except NotInstalledError as reason:
        return what, f"json_repair is left out: {reason}", most
    ours = _timed(sys.executable, _OURS)
    return what, f"{ours:,.0f} us, {theirs:,.0f} us: {ours / theirs:.2f}", most


def _timed(python: str, program: str) -> float:
    """Return the lower quartile of the microseconds of CPU time for a call."""
    done = subprocess.run(  # noqa: S603 - our own programs
        [python, "-c", program],
        input=json.dumps([_ROWS, _FIFTY]),
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return float(done.stdout)
