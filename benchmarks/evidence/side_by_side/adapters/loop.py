"""The loop of every adapter: answer one request per line, and time calls.

This file runs in each contender's environment, so it only needs the standard library.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import platform
import resource
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import perf_counter_ns
from typing import Any

from benchmarks.signatures import UnsupportedError

Call = Callable[[Any], Any]
"""Takes the arguments, and returns what reaches the tool; a coroutine function for servers."""
Build = Callable[[Sequence[Mapping[str, Any]], Mapping[str, Any]], list[Call]]
"""Takes schemas, and a request with ``destructive`` and ``declared``; returns one call for each schema."""

BATCH_NS = 2_000_000


class RefusedError(Exception):
    """The tool did not run; ``codes`` are the violation codes, if any."""

    def __init__(self, codes: Sequence[str] | None = None) -> None:
        super().__init__()
        self.codes = codes


def serve(
    build: Build,
    plain: Callable[[Any], Any],
    packages: Sequence[str],
    *,
    declares: bool = False,
    objects: bool = False,
) -> None:
    """Answer requests until they end.

    Args:
        build: Prepares tools.
        plain: Converts what reached a tool to JSON values.
        packages: Distributions whose versions are reported.
        declares: Whether it knows aliases and keys to drop.
        objects: Whether it only takes arguments that are an object.
    """

    def checked(schemas: Sequence[Mapping[str, Any]], request: Mapping[str, Any]) -> list[Call]:
        if request.get("declared") and not declares:
            raise UnsupportedError("aliases and keys to drop")
        if objects and not isinstance(request["arguments"], dict):
            raise UnsupportedError("arguments that are no object, within one process")
        return build(schemas, request)

    answers, sys.stdout = sys.stdout, sys.stderr  # a contender's own output is not an answer
    asyncio.run(_serve(checked, plain, packages, answers))


async def _serve(build: Build, plain: Callable[[Any], Any], packages: Sequence[str], answers: Any) -> None:
    built: dict[str, list[Call]] = {}
    for line in sys.stdin:
        request = json.loads(line)
        what = request.get("op", "call")
        try:
            if what == "call":
                (call,) = build([request["schema"]], request)
                answer = await _outcome(call, plain, request["arguments"])
            elif what == "time":
                answer = await _timed(_calls(build, request, built), plain, request)
            else:
                answer = _described(packages)
        except UnsupportedError as reason:
            answer = {"outcome": "unsupported", "reason": str(reason)}
        answers.write(_line({"id": request["id"], **answer}))
        answers.flush()


def _calls(build: Build, request: Mapping[str, Any], built: dict[str, list[Call]]) -> list[Call]:
    """Return one call for each schema; those built last are kept, since the next round needs the same."""
    key = json.dumps(request["schemas"])
    if key not in built:
        built.clear()
        built[key] = build(request["schemas"], request)
    return built[key]


def _line(answer: dict[str, Any]) -> str:
    try:
        return json.dumps(answer) + "\n"
    except (TypeError, ValueError):  # it ran with a value that JSON cannot express
        return json.dumps({**answer, "arguments": None}) + "\n"


def _described(packages: Sequence[str]) -> dict[str, Any]:
    versions = {name: version(name) for name in packages}
    return {"python": platform.python_version(), "versions": versions, "peak_mib": _peak_kib() / 1024}


def _peak_kib() -> int:
    """Return the peak memory of this program; on Linux ``ru_maxrss`` includes that of the parent at its start."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(
            int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")
        )
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


async def _outcome(call: Call, plain: Callable[[Any], Any], arguments: Any) -> dict[str, Any]:
    try:
        return {"outcome": "ran", "arguments": plain(await _made(call, arguments))}
    except RefusedError as refusal:
        return {"outcome": "refused", **({} if refusal.codes is None else {"codes": sorted(refusal.codes)})}
    except Exception as error:  # noqa: BLE001 - told apart from a refusal, and counted on its own
        return {"outcome": "crashed", "reason": f"{type(error).__name__}: {error}"[:200]}


async def _made(call: Call, arguments: Any) -> Any:
    result = call(arguments)
    return await result if inspect.isawaitable(result) else result


async def _timed(
    calls: Sequence[Call], plain: Callable[[Any], Any], request: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the median time of one call, over batches of about two milliseconds; each call uses the next tool."""
    arguments = request["arguments"]
    outcome = await _outcome(calls[0], plain, arguments)
    if outcome["outcome"] == "crashed":
        return outcome
    batches: list[float] = []
    deadline = perf_counter_ns() + int(request["seconds"] * 1e9)
    size = 1
    measure = _async_batch if inspect.iscoroutinefunction(calls[0]) else _sync_batch
    for call in calls[1:]:
        await _outcome(call, plain, arguments)  # the first call of a tool may compile it
    while not batches or perf_counter_ns() < deadline:
        took = await measure(calls, arguments, size)
        batches.append(took / size)
        size = max(1, int(BATCH_NS / (took / size)))
    return {**outcome, "nanoseconds": median(batches[1:] or batches)}


async def _sync_batch(calls: Sequence[Call], arguments: Any, size: int) -> int:
    turns = [calls[at % len(calls)] for at in range(size)]
    started = perf_counter_ns()
    for call in turns:
        try:  # noqa: SIM105 - a context manager would cost more than some of the calls
            call(arguments)
        except RefusedError:
            pass
    return perf_counter_ns() - started


async def _async_batch(calls: Sequence[Call], arguments: Any, size: int) -> int:
    turns = [calls[at % len(calls)] for at in range(size)]
    started = perf_counter_ns()
    for call in turns:
        try:  # noqa: SIM105 - as above
            await call(arguments)
        except RefusedError:
            pass
    return perf_counter_ns() - started
