"""Try the recorded attacks: calls that must be refused, texts that must not be run, names that must not stall."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from fastmcp import Client, FastMCP
from rich.table import Table

from benchmarks import data, servers
from mcp_lenient import LenientMiddleware, dispatch, normalize

if TYPE_CHECKING:
    from rich.console import Console

_FILE = "attacks_3.jsonl"
_MOST_SECONDS = 0.1
_STALLED = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "limit": {"type": "integer"}},
    "additionalProperties": False,
}
Row = dict[str, Any]


def main(console: Console) -> None:
    """Print the attacks of each class, and those that break a guarantee."""
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
    path = data.cases_folder() / _FILE
    if not path.is_file():
        msg = f"no {_FILE} in {path.parent}"
        raise data.MissingCasesError(msg)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
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
