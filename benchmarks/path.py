"""Count the files and functions of the package that a warm call passes through."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastmcp import FastMCP
from fastmcp.exceptions import ValidationError
from rich.table import Table

import mcp_lenient
from benchmarks import servers

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FrameType

    from rich.console import Console

_PACKAGE = Path(mcp_lenient.__file__).parent
_MOST = {"right": 8, "repaired": 15, "refused": 15}
_CALLS: Mapping[str, Mapping[str, Any]] = {
    "right": {"content": "x", "tags": ["a"]},
    "repaired": {"content": "x", "tags": '["a"]'},
    "refused": {"content": "x", "tags": 5},
}
_WARM = 3


async def store(content: str, tags: list[str] | None = None) -> str:
    """Store a text."""
    return f"{content}{tags}"


def figures() -> list[tuple[str, str, str]]:
    """Return the number of files and functions for each kind of call, with the maximum number of files."""
    servers.quiet()
    found = asyncio.run(_passed())
    return [
        (
            f"a {kind} call passes through",
            f"{len(files)} files, {functions} functions",
            f"{_MOST[kind]} files",
        )
        for kind, (files, functions) in found.items()
    ]


def main(console: Console) -> None:
    """Print the files that a correct, a repaired and a refused call pass through."""
    servers.quiet()
    table = Table("call", "files", "at most", "functions", "which", title="What a warm call passes through")
    for kind, (files, functions) in asyncio.run(_passed()).items():
        table.add_row(kind, str(len(files)), str(_MOST[kind]), str(functions), "\n".join(sorted(files)))
    console.print(table)


async def _passed() -> dict[str, tuple[set[str], int]]:
    from mcp_lenient import LenientMiddleware  # (FastMCP alone is measured without it)

    server: FastMCP[Any] = FastMCP("path", middleware=[LenientMiddleware()])
    server.tool(store)
    return {kind: await _traced(server, arguments) for kind, arguments in _CALLS.items()}


async def _traced(server: FastMCP[Any], arguments: Mapping[str, Any]) -> tuple[set[str], int]:
    """Return the files of the package, relative to it, and the number of their functions that ran."""
    for _ in range(_WARM):
        await _call(server, arguments)
    functions: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(_PACKAGE):
            functions.add((str(path.relative_to(_PACKAGE)), frame.f_code.co_qualname))

    sys.setprofile(note)
    try:
        await _call(server, arguments)
    finally:
        sys.setprofile(None)
    return {file for file, _ in functions}, len(functions)


async def _call(server: FastMCP[Any], arguments: Mapping[str, Any]) -> None:
    with suppress(ValidationError):
        await server.call_tool("store", dict(arguments))
