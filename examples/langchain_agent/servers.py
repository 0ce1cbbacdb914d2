"""Three small MCP servers without mcp-lenient: the time, some math, and a library to search.

`fastmcp run servers.py:time` serves one of them over stdio. LIBRARY_DB names the library's file.
"""

from __future__ import annotations

import os
import sqlite3
import struct
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from statistics import fmean
from textwrap import shorten
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.utilities.types import Image
from pydantic import Field

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from shared.documents import PROJECT, Passage, search, split, store, transaction

READS = {"readOnlyHint": True}
time, math, library = FastMCP("time"), FastMCP("math", list_page_size=2), FastMCP("library")


@time.tool(annotations=READS)
def get_current_time(timezone: Annotated[str, "An IANA name, such as Asia/Seoul."] = "Asia/Seoul") -> str:
    """Return the current time in a time zone."""
    try:
        return f"{datetime.now(ZoneInfo(timezone)):%Y-%m-%d %H:%M:%S} in {timezone}"
    except (ZoneInfoNotFoundError, ValueError):
        raise ToolError(f"There is no time zone {timezone!r}.") from None


Numbers = Annotated[list[float], Field(min_length=1, description="The numbers.")]


@math.tool(annotations=READS)
def multiply(a: Annotated[int, "One factor."], b: Annotated[int, "The other."]) -> int:
    """Multiply two whole numbers."""
    return a * b


@math.tool(annotations=READS)
def mean(numbers: Numbers) -> float:
    """Return the mean of some numbers."""
    return fmean(numbers)


@math.tool(annotations=READS)
def plot(numbers: Numbers) -> list[Any]:
    """Draw a bar for each number."""
    height, most = 32, max(*numbers, 1e-9)
    bars = [round(number / most * height) for number in numbers for _ in range(4)]  # 4 pixels wide
    rows = [bytes(0 if bar >= height - y else 255 for bar in bars) for y in range(height)]
    return [f"{len(numbers)} bars", Image(data=_png(rows), format="png")]


def _png(rows: list[bytes]) -> bytes:
    """Write rows of gray pixels as a PNG image."""
    head = struct.pack(">2I5B", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows))
    chunks = (b"IHDR" + head, b"IDAT" + data, b"IEND")
    framed = (struct.pack(">I", len(one) - 4) + one + struct.pack(">I", zlib.crc32(one)) for one in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(framed)


@contextmanager
def _documents() -> Iterator[sqlite3.Connection]:
    """Open the library's file; a new one begins with the pages of the documentation."""
    with transaction(os.environ.get("LIBRARY_DB", ":memory:")) as database:
        if not database.execute("SELECT 1 FROM sqlite_master").fetchone():
            for page in sorted((PROJECT / "docs").glob("*.md")):
                parts = split(page.name, page.read_text("utf-8"))
                store(database, (part._replace(heading=f"{page.stem}: {part.heading}") for part in parts))
        yield database


@library.tool(annotations=READS)
def retrieve(
    query: Annotated[str, "What to look for, in a few words."],
    limit: Annotated[int, Field(ge=1, le=20, description="The most documents to return.")] = 3,
) -> list[dict[str, str]]:
    """Find the documents that answer a question best."""
    with _documents() as database:
        found = search(database, query, limit)
    return [{"title": hit.heading, "text": shorten(hit.text, 160, placeholder=" ...")} for hit in found]


@library.tool
def keep(title: Annotated[str, "Its title."], text: Annotated[str, "Its text."]) -> str:
    """Keep a document."""
    with _documents() as database:
        store(database, [Passage("kept", 1, title, text)])
    return f"{title} is kept."


@library.tool(annotations={"destructiveHint": True})
def remove(titles: Annotated[list[str], "The titles of the documents."]) -> int:
    """Remove documents for good; returns how many there were."""
    with _documents() as database:
        rows = [(title,) for title in titles]
        return database.executemany("DELETE FROM passage WHERE heading = ?", rows).rowcount
