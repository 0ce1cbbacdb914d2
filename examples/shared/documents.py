"""SQLite files, and a full-text index over documents and code; every Han character is a token of its own."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import NamedTuple

PROJECT = Path(__file__).resolve().parents[2]
PARTS = ("README.md", "docs", "mcp_lenient")
HAN = re.compile(r"([\u3400-\u9fff])")
STARTS = {".md": re.compile(r"#{1,4} "), ".py": re.compile(r"(async )?def |class ")}
BEST = """
SELECT source, line, heading, text FROM passage WHERE passage MATCH ? ORDER BY bm25(passage, 4, 1) LIMIT ?
"""
COMMON = frozenset(
    "a an and are as be by can do does for from how i in is it my of on or that the this to was what when where "
    "which who why with you your 的 了 是 在 和".split()
)


@contextmanager
def transaction(file: str | Path) -> Iterator[sqlite3.Connection]:
    """Open a database, whose file is made where it is not there yet; the block is one transaction."""
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(file)) as database, database:
        yield database


class Passage(NamedTuple):
    """A part of a file, from one heading or definition to the next."""

    source: str
    line: int
    heading: str
    text: str


def store(database: sqlite3.Connection, passages: Iterable[Passage]) -> None:
    """Add passages to an index; a database without one gets one."""
    columns = "heading_terms, terms, source UNINDEXED, line UNINDEXED, heading UNINDEXED, text UNINDEXED"
    table = f"CREATE VIRTUAL TABLE IF NOT EXISTS passage USING fts5({columns}, tokenize='porter unicode61')"
    database.execute(table)
    rows = ((spaced(one.heading), spaced(one.text), *one) for one in passages)
    database.executemany("INSERT INTO passage VALUES (?, ?, ?, ?, ?, ?)", rows)


def search(database: sqlite3.Connection, query: str, limit: int) -> list[Passage]:
    """Find the passages that match a query best, the best first."""
    wanted = " OR ".join(f'"{spaced(term)}"' for term in terms(query)) or '""'
    return [Passage(*row) for row in database.execute(BEST, (wanted, limit))]


class Library:
    """The documents and code below a folder, indexed when they are first asked for."""

    def __init__(self, root: Path = PROJECT, parts: tuple[str, ...] = PARTS) -> None:
        self.root, self._parts = root.resolve(), parts
        self._lock = Lock()

    @cached_property
    def _index(self) -> sqlite3.Connection:
        index = sqlite3.connect(":memory:", check_same_thread=False)
        for path in self.files():
            source = path.relative_to(self.root).as_posix()
            store(index, split(source, path.read_text("utf-8", "replace")))
        return index

    def search(self, query: str, limit: int) -> list[Passage]:
        """Find the passages that match a query best, the best first."""
        with self._lock:
            return search(self._index, query, limit)

    def files(self) -> list[Path]:
        """List the files that are indexed."""
        tops = [self.root / part for part in self._parts]
        found = (path for top in tops for path in [top, *sorted(top.rglob("*"))])
        return [path for path in found if path.suffix in STARTS and path.is_file()]

    def close(self) -> None:
        """Drop the index."""
        with self._lock:
            if index := vars(self).pop("_index", None):
                index.close()


def split(source: str, text: str) -> Iterator[Passage]:
    """Split a file where a heading or definition starts; in a code fence nothing starts."""
    starts, fenced = STARTS[Path(source).suffix], False
    line, heading, kept = 1, source, list[str]()
    for number, content in enumerate([*text.splitlines(), ""], 1):
        fenced ^= content.startswith("```")
        if starts.match(content) and not fenced:
            yield Passage(source, line, heading, "\n".join(kept).strip())
            line, heading, kept = number, content.strip("#: "), []
        else:
            kept.append(content)
    yield Passage(source, line, heading, "\n".join(kept).strip())


def spaced(text: str) -> str:
    """Put spaces around each Han character."""
    return HAN.sub(r" \1 ", text)


def tokens(text: str) -> list[str]:
    """Split a text into words, without those that only join others; each Han character is one.

    >>> tokens("客厅的 ceiling light")
    ['客', '厅', 'ceiling', 'light']
    """
    return [word for word in re.findall(r"\w+", spaced(text.casefold())) if word not in COMMON]


def terms(query: str) -> list[str]:
    """Return what a query looks for: its words, and each pair of neighbors in Han text."""
    found = []
    for word in re.findall(r"[\u3400-\u9fff]+|[^\W_\u3400-\u9fff]+", query.casefold()):
        found += [word[at : at + 2] for at in range(len(word) - 1)] if HAN.match(word[1:]) else [word]
    return [term for term in dict.fromkeys(found) if term not in COMMON]


def best_sentences(text: str, query: str, limit: int = 2) -> list[str]:
    """Return the sentences of a text with the most terms of a query, in the text's order."""
    parts = re.split(r"(?<=[.!?。])\s+|\n{2,}|\n(?=[-*|#])", text)
    sentences = [" ".join(part.split())[:300] for part in parts]
    scores = [sum(term in sentence.casefold() for term in terms(query)) for sentence in sentences]
    best = sorted(range(len(sentences)), key=lambda at: -scores[at])[:limit]
    return [sentences[at] for at in sorted(best) if scores[at]]
