"""Three small MCP servers without mcp-lenient: the time, some math, and a library to search.

`fastmcp run servers.py:time` serves one of them over stdio. The library ranks documents with BM25S (`pip install bm25s`).
LIBRARY_DB names its file; LIBRARY_DOCUMENTS names the documents of a new one, Markdown or PDF (`pip install pypdf`).
"""

from __future__ import annotations

import os
import re
import sqlite3
import struct
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from statistics import fmean
from textwrap import wrap
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

import bm25s
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.prompts import Message
from fastmcp.utilities.types import Image
from pydantic import Field

DOCUMENTS = Path(os.environ.get("LIBRARY_DOCUMENTS") or Path(__file__).with_name("library.md"))
DIGITS = 4000  # Python itself writes none with more than 4,300
LIMIT = 10**DIGITS
HAN = re.compile("[\u3400-\u9fff]+")
PIECE = 1000  # characters of a page in one document
TABLE = "CREATE TABLE IF NOT EXISTS documents (title TEXT NOT NULL, text TEXT NOT NULL)"
SHARE = 0.5  # of the best score; below it a document is about something else
READS = {"readOnlyHint": True}
time = FastMCP("time", "Tells the time. Time zones have IANA names; without one it is that of Seoul.")
math = FastMCP("math", "Adds, multiplies and averages numbers, and draws them.", list_page_size=2)
library = FastMCP("library", "Search the library before you answer; remove only what the user names.")


@time.tool(annotations=READS)
def get_current_time(timezone: Annotated[str, "An IANA name, such as Asia/Seoul."] = "Asia/Seoul") -> str:
    """Return the current time in a time zone."""
    place = timezone.rpartition("/")[2].casefold()
    near = sorted(name for name in available_timezones() if name.casefold().endswith(f"/{place}"))
    zone = near[0] if len(near) == 1 and "/" not in timezone else timezone  # a city of one zone is that zone
    try:
        return f"{datetime.now(ZoneInfo(zone)):%Y-%m-%d %H:%M:%S} in {zone}"
    except (ZoneInfoNotFoundError, ValueError):
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ToolError(f"There is no time zone {timezone!r}.{hint}") from None


def _written(number: int) -> int:
    if abs(number) >= LIMIT:
        raise ToolError(f"The result has more than {DIGITS:,} digits.")
    return number


Numbers = Annotated[list[float], Field(min_length=1, description="The numbers.")]


@math.tool(annotations=READS)
def add(a: Annotated[int, "One number."], b: Annotated[int, "The other."]) -> int:
    """Add two whole numbers."""
    return _written(a + b)


@math.tool(annotations=READS)
def multiply(a: Annotated[int, "One factor."], b: Annotated[int, "The other."]) -> int:
    """Multiply two whole numbers."""
    return _written(a * b)


@math.tool(annotations=READS)
def mean(numbers: Numbers) -> float:
    """Return the mean of some numbers."""
    return fmean(numbers)


@math.tool(annotations=READS)
def plot(numbers: Numbers) -> list[Any]:
    """Draw a bar for each number, down from zero for one below it."""
    height, most = 32, max(*map(abs, numbers), 1e-9)
    scaled = [0.0, *(number / most for number in numbers)]  # the first is the line where a bar begins
    low, high = min(scaled), max(scaled)
    zero, *ends = [round((value - low) / ((high - low) or 1) * height) for value in scaled]
    bars = [range(min(zero, end), max(zero, end)) for end in ends for _ in range(4)]  # 4 pixels wide
    rows = [bytes(0 if level in bar else 255 for bar in bars) for level in reversed(range(height))]
    return [f"{len(numbers)} bars", Image(data=_png(rows), format="png")]


@math.prompt
def configure_assistant(skills: Annotated[str, "What the assistant can do."]) -> list[Message]:
    """Tell an assistant what it can do."""
    role = f"You are a helpful assistant. You have these skills: {skills}."
    return [Message(f"{role} Always use only one tool at a time.", role="assistant")]


def _png(rows: list[bytes]) -> bytes:
    """Write rows of gray pixels as a PNG image."""
    head = struct.pack(">2I5B", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows))
    png = b"\x89PNG\r\n\x1a\n"
    for chunk in (b"IHDR" + head, b"IDAT" + data, b"IEND"):
        png += struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return png


@contextmanager
def _documents() -> Iterator[sqlite3.Connection]:
    """Open the library's file, a new one with its documents."""
    with closing(sqlite3.connect(os.environ.get("LIBRARY_DB", ":memory:"))) as database, database:
        database.execute(TABLE)
        if not database.execute("SELECT 1 FROM documents").fetchone():
            first = _pages(DOCUMENTS) if DOCUMENTS.suffix == ".pdf" else _sections(DOCUMENTS)
            database.executemany("INSERT INTO documents VALUES (?, ?)", first)
        yield database


def _sections(markdown: Path) -> list[list[str]]:
    """Return title and text of each section below a first heading."""
    parts = re.split(r"^# ", markdown.read_text("utf-8"), flags=re.MULTILINE)[1:]
    return [part.strip().split("\n", 1) for part in parts]


def _pages(pdf: Path) -> list[list[str]]:
    """Return title and text of each piece of a page."""
    try:
        from pypdf import PdfReader
    except ImportError:
        raise ToolError(f"To read {pdf.name}, the library needs pypdf: pip install pypdf") from None
    pages = (wrap(page.extract_text(), PIECE) for page in PdfReader(pdf).pages)
    return [[f"{pdf.name}, page {at}", piece] for at, page in enumerate(pages, 1) for piece in page]


@library.tool(annotations=READS)
def retrieve(
    query: Annotated[str, "What to look for, in a few words."],
    limit: Annotated[int, Field(ge=1, le=20, description="The most documents to return.")] = 3,
) -> list[dict[str, str]]:
    """Find the documents that answer a question best, the best first; none where nothing is about it."""
    with _documents() as database:
        documents = database.execute("SELECT title, text FROM documents").fetchall()
    index, (wanted,) = bm25s.BM25(), _terms([query])
    index.index(_terms([f"{title} {title} {text}" for title, text in documents]), show_progress=False)
    scores = index.get_scores(wanted) if wanted else []
    best = sorted(
        (at for at, score in enumerate(scores) if score > SHARE * max(scores)), key=lambda at: -scores[at]
    )
    return [dict(zip(("title", "text"), documents[at], strict=True)) for at in best[:limit]]


def _terms(texts: list[str]) -> list[list[str]]:
    """Return the words of texts, without common ones; of Chinese text each two neighbors."""
    spaced = [
        HAN.sub(lambda run: f" {' '.join(map(''.join, zip(run[0], run[0][1:], strict=False)))} ", text)
        for text in texts
    ]
    terms = bm25s.tokenize(spaced, stopwords="en", return_ids=False, show_progress=False)
    return [[*words] for words in terms]


@library.tool
def keep(title: Annotated[str, "Its title."], text: Annotated[str, "Its text."]) -> str:
    """Keep a document; its title is that of no other."""
    with _documents() as database:
        if database.execute("SELECT 1 FROM documents WHERE title = ?", (title,)).fetchone():
            raise ToolError(f"There is a document {title!r} already. Take another title, or remove it first.")
        database.execute("INSERT INTO documents VALUES (?, ?)", (title, text))
    return f"{title} is kept."


@library.tool(annotations={"destructiveHint": True})
def remove(titles: Annotated[list[str], "The titles of the documents."]) -> int:
    """Remove documents for good; returns how many there were."""
    with _documents() as database:
        rows = [(title,) for title in titles]
        return database.executemany("DELETE FROM documents WHERE title = ?", rows).rowcount
