"""What importing mcp_lenient adds to importing FastMCP, which every user of it imports anyway."""

from __future__ import annotations

import subprocess
import sys
from statistics import median
from typing import TYPE_CHECKING

from rich.table import Table

if TYPE_CHECKING:
    from rich.console import Console

ROUNDS = 15
TARGET_MS = 60

_TIMED = """
import time
started = time.process_time()
{imports}
print((time.process_time() - started) * 1000)
"""
_STATEMENTS = {
    "fastmcp": "import fastmcp; from fastmcp import FastMCP",
    "fastmcp, again": "import fastmcp; from fastmcp import FastMCP",
    "fastmcp, mcp_lenient": "import fastmcp; from fastmcp import FastMCP; import mcp_lenient",
}


def main(console: Console) -> None:
    """Print the medians of processes of their own that take turns: processor time, which other work disturbs least."""
    taken: dict[str, list[float]] = {name: [] for name in _STATEMENTS}
    for _ in range(ROUNDS):
        for name, imports in _STATEMENTS.items():
            taken[name].append(_milliseconds(imports))
    base = median(taken["fastmcp"])
    table = Table(
        "imported", "ms", "over fastmcp ms", "target", title=f"Import time, medians of {ROUNDS} rounds"
    )
    for name, times in taken.items():
        target = f"<= {TARGET_MS}" if "lenient" in name else ""
        table.add_row(name, f"{median(times):.0f}", f"{median(times) - base:+.0f}", target)
    console.print(table)


def _milliseconds(imports: str) -> float:
    program = [sys.executable, "-c", _TIMED.format(imports=imports)]
    printed = subprocess.run(program, check=True, capture_output=True, text=True).stdout  # noqa: S603
    return float(printed)
