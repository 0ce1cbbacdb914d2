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
_BASE: Final = "fastmcp"
_IMPORTS: Final = {
    _BASE: ("", "import fastmcp"),
    "mcp_lenient (alone)": ("", "import mcp_lenient"),
    "normalize, first call (alone)": ("", _ENGINE),
    "FastMCP, Middleware": ("import fastmcp", _SERVER),
    "LenientMiddleware": (_SERVER, _OURS),
    "lenient, tags": (f"{_SERVER}; {_OURS}", "from mcp_lenient import lenient, tags"),
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

_CALLS: Final = {
    "accepted": {"text": "a note", "tags": ["a"]},
    "repaired": {"text": "a note", "tags": '["a"]'},
    "refused": {"text": "a note", "tags": 7},
}
_FIRST_CALLS: Final = """
import asyncio, json, sys, time
from fastmcp import FastMCP
from fastmcp.server.middleware import Middleware
beginning = time.process_time()
if {lenient}:
    from mcp_lenient import LenientMiddleware

def store(text: str, tags: list[str] | None = None) -> str:
    return text

async def main():
    server, taken = FastMCP("notes"), []
    server.tool(store)
    started = time.process_time()
    if {lenient}:
        server.add_middleware(LenientMiddleware())
    taken.append(time.process_time() - started)
    for arguments in json.loads(sys.argv[1]):
        for _ in range(2):
            started = time.process_time()
            try:
                await server.call_tool("store", arguments)
            except Exception:
                assert not {lenient}
            taken.append(time.process_time() - started)
            if len(taken) == 2:
                taken.insert(0, time.process_time() - beginning)
    print(json.dumps([each * 1000 for each in taken]))

asyncio.run(main())
"""


def main(console: Console) -> None:
    """Print medians of new processes that take turns, in processor time, which other work disturbs least."""
    with TemporaryDirectory() as compiled:
        # Compile the package, as an installer does. In an editable install, and where Python may not write, each
        # process would otherwise compile the package again, but not FastMCP.
        environment = {
            name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
        } | {"PYTHONPYCACHEPREFIX": compiled}
        _print_imports(console, environment)
        _print_first_calls(console, environment)


def _print_imports(console: Console, environment: dict[str, str]) -> None:
    programs = {
        name: (_TIMED.format(before=before, imports=imports),) for name, (before, imports) in _IMPORTS.items()
    }
    heads = ("then imported", "modules", "ms", "of it full GC", "own", "target")
    table = Table(*heads, title=f"Import time, medians of {ROUNDS} rounds")
    measured = _in_turns(programs, environment)
    base = median(taken for taken, _, _ in measured[_BASE])
    targets = {"LenientMiddleware": TARGET_MS, "normalize, first call (alone)": base / 3}
    for name, rounds in measured.items():
        own = median(taken - collecting for taken, collecting, _ in rounds)
        taken, collecting, modules = (median(each) for each in zip(*rounds, strict=True))
        target = f"<= {targets[name]:.0f}" if name in targets else ""
        table.add_row(name, f"{modules:.0f}", f"{taken:.0f}", f"{collecting:.0f}", f"{own:.0f}", target)
    console.print(table)
    console.print(
        "A full garbage collection goes through all that FastMCP has allocated. The next one is due a few thousand "
        "objects after FastMCP's import, whoever allocates them: with FastMCP alone, its first call does.",
    )


def _print_first_calls(console: Console, environment: dict[str, str]) -> None:
    sent = json.dumps(list(_CALLS.values()))
    programs = {name: (_FIRST_CALLS.format(lenient=lenient), sent) for name, lenient in _WITH.items()}
    measured = _in_turns(programs, environment).values()
    alone, lenient = ([median(each) for each in zip(*rounds, strict=True)] for rounds in measured)
    table = Table("in a new process", *_WITH, "added", title=f"First calls, ms, medians of {ROUNDS} rounds")
    calls = (f"{nth} {kind} call" for kind in _CALLS for nth in ("first", "second"))
    steps = ("imported FastMCP to first answer", "LenientMiddleware()", *calls)
    for step, without, with_it in zip(steps, alone, lenient, strict=True):
        table.add_row(step, f"{without:.2f}", f"{with_it:.2f}", f"{with_it - without:+.2f}")
    console.print(table)


_WITH: Final = {"FastMCP alone": False, "with mcp-lenient": True}


def _in_turns(programs: dict[str, tuple[str, ...]], environment: dict[str, str]) -> dict[str, list[Any]]:
    """Return the output of each program in each round; a round before the first compiles the modules."""
    printed: dict[str, list[Any]] = {name: [] for name in programs}
    for _ in range(ROUNDS + 1):
        for name, (program, *arguments) in programs.items():
            command = [sys.executable, "-c", program, *arguments]
            done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)  # noqa: S603
            printed[name].append(json.loads(done.stdout))
    return {name: rounds[1:] for name, rounds in printed.items()}
