"""Try the recorded attacks: calls that must be refused, texts that must not be run, names that must not stall."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from typing import Any

from fastmcp import Client, FastMCP
from rich.table import Table

from benchmarks import data, servers
from benchmarks.printing import wide_console
from mcp_lenient import LenientMiddleware, dispatch, normalize

_MOST_SECONDS = 0.1
_STALLED = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "limit": {"type": "integer"}},
    "additionalProperties": False,
}
Row = dict[str, Any]


def main() -> None:
    """Print the attacks of each class, and those that break a guarantee."""
    console = wide_console()
    servers.quiet()
    try:
        rows, broken = asyncio.run(_tried())
    except data.MissingCasesError as missing:
        console.print(f"attacks skipped: {missing}")
        return
    table = Table("class", "rows", "broken", "which", title="Recorded attacks")
    for kind, count in Counter(row["class"] for row in rows).most_common():
        which = [row["id"] for row in broken if row["class"] == kind]
        table.add_row(kind, str(count), str(len(which)), ", ".join(which))
    table.add_row("all", str(len(rows)), str(len(broken)), "")
    console.print(table)


async def _tried() -> tuple[list[Row], list[Row]]:
    """Return all attacks, and those that break a guarantee."""
    rows = data.rows(data.cases_folder(), "attacks_3")
    return rows, [row for row in rows if await _breaks(row)]


async def _breaks(row: Row) -> bool:
    if "text" in row:
        return await is_run(row["text"])
    if "stall" in row:
        begin = time.process_time()
        normalize(_STALLED, {"a" + ".b" * row["stall"]: 1})
        return time.process_time() - begin > _MOST_SECONDS
    return not normalize(row["schema"], row["arguments"]).violations


async def is_run(text: str, publish: str | None = None) -> bool:
    """Return whether ``dispatch`` runs a deletion that a text may only seem to ask for."""
    deleted: list[str] = []
    server: FastMCP[Any] = FastMCP("files", middleware=[LenientMiddleware(publish=publish)])

    @server.tool
    def delete_file(path: str) -> str:
        deleted.append(path)
        return path

    async with Client(server) as client:
        await dispatch(client, text)
    return bool(deleted)
