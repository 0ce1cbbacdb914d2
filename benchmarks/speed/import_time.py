"""Measure the time to start: the engine alone, the middleware with FastMCP, and the first call of each kind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from rich.table import Table

if TYPE_CHECKING:
    from rich.console import Console

ROUNDS = 9
TARGET_MS = 60

_SERVER: Final = "from fastmcp import FastMCP; from fastmcp.server.middleware import Middleware"
_OURS: Final = "from mcp_lenient import LenientMiddleware"
_ENGINE: Final = (
    "from mcp_lenient import normalize; "
    "normalize({'type': 'object', 'properties': {'n': {'type': 'integer'}}}, {'n': '1'})"
)
_IMPORTS: Final = {
    "fastmcp": ("", "import fastmcp"),
    "mcp_lenient (alone)": ("", "import mcp_lenient"),
    "normalize, first call (alone)": ("", _ENGINE),
    "FastMCP, Middleware": ("import fastmcp", _SERVER),
    "LenientMiddleware": (_SERVER, _OURS),
    "lenient, tags": (
        f"{_SERVER}; {_OURS}",
        "from mcp_lenient import lenient; from mcp_lenient.normalizers import tags",
    ),
}
"""What is timed, and what its process has imported before. ``import fastmcp`` alone does not load ``FastMCP`` and its
dependencies, but every server loads them."""
_TIMED: Final = """
import gc, json, sys, time
{before}
collecting = 0.0
def collected(phase, info):
    global collecting
    if info["generation"] == 2:
        collecting += time.process_time() * (1 if phase == "stop" else -1)
gc.callbacks.append(collected)
modules = len(sys.modules)
started = time.process_time()
{imports}
taken = time.process_time() - started
print(json.dumps([taken * 1000, collecting * 1000, len(sys.modules) - modules]))
"""
_FIRST_CALLS: Final = """
import asyncio, json, time
from fastmcp import FastMCP
from fastmcp.server.middleware import Middleware
times = [time.process_time()]
if {lenient}:
    from mcp_lenient import LenientMiddleware

def store(text: str, tags: list[str] | None = None) -> str:
    return text

async def main():
    server = FastMCP("notes")
    server.tool(store)
    times.append(time.process_time())
    if {lenient}:
        server.add_middleware(LenientMiddleware())
    times.append(time.process_time())
    for tags in (["a"], ["a"], '["a"]', '["a"]', 7, 7):
        try:
            await server.call_tool("store", {{"text": "a note", "tags": tags}})
        except Exception:
            assert not {lenient}
        times.append(time.process_time())
    steps = [after - before for before, after in zip(times[1:], times[2:])]
    print(json.dumps([each * 1000 for each in (times[3] - times[0], *steps)]))

asyncio.run(main())
"""
_STEPS: Final = (
    "imported FastMCP to first answer",
    "LenientMiddleware()",
    *(f"{nth} {kind} call" for kind in ("accepted", "repaired", "refused") for nth in ("first", "second")),
)


def main(console: Console) -> None:
    """Print medians of new processes that take turns, in processor time, which other work disturbs least."""
    imports = {name: _TIMED.format(before=before, imports=each) for name, (before, each) in _IMPORTS.items()}
    with TemporaryDirectory() as compiled:
        # Compile the package, as an installer does. In an editable install, and where Python may not write, each
        # process would otherwise compile the package again, but not FastMCP.
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": compiled}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        console.print(_imports_table(_in_turns(imports, environment)))
        console.print(
            "A full garbage collection goes through all that FastMCP has allocated. The next one is due a few thousand "
            "objects after FastMCP's import, whoever allocates them: with FastMCP alone, its first call does.",
        )
        calls = {name: _FIRST_CALLS.format(lenient=name.startswith("with")) for name in _WITH}
        console.print(_calls_table(_in_turns(calls, environment)))


_WITH: Final = ("FastMCP alone", "with mcp-lenient")


def _imports_table(measured: dict[str, list[Any]]) -> Table:
    heads = ("then imported", "modules", "ms", "of it full GC", "own", "target")
    table = Table(*heads, title=f"Import time, medians of {ROUNDS} rounds")
    base = median(taken for taken, _, _ in measured["fastmcp"])
    targets = {"LenientMiddleware": TARGET_MS, "normalize, first call (alone)": base / 3}
    for name, rounds in measured.items():
        own = median(taken - collecting for taken, collecting, _ in rounds)
        taken, collecting, modules = (median(each) for each in zip(*rounds, strict=True))
        target = f"<= {targets[name]:.0f}" if name in targets else ""
        table.add_row(name, f"{modules:.0f}", f"{taken:.0f}", f"{collecting:.0f}", f"{own:.0f}", target)
    return table


def _calls_table(measured: dict[str, list[Any]]) -> Table:
    alone, lenient = ([median(each) for each in zip(*rounds, strict=True)] for rounds in measured.values())
    table = Table("in a new process", *_WITH, "added", title=f"First calls, ms, medians of {ROUNDS} rounds")
    for step, without, with_it in zip(_STEPS, alone, lenient, strict=True):
        table.add_row(step, f"{without:.2f}", f"{with_it:.2f}", f"{with_it - without:+.2f}")
    return table


def _in_turns(programs: dict[str, str], environment: dict[str, str]) -> dict[str, list[Any]]:
    """Return the output of each program in each round; a round before the first compiles the modules."""
    printed: dict[str, list[Any]] = {name: [] for name in programs}
    for _ in range(ROUNDS + 1):
        for name, program in programs.items():
            command = [sys.executable, "-c", program]
            done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)  # noqa: S603
            printed[name].append(json.loads(done.stdout))
    return {name: rounds[1:] for name, rounds in printed.items()}
