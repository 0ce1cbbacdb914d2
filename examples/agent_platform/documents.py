"""What is searched: files of a folder in a full-text index, and pages of the web where a search engine is given."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from threading import Lock
from typing import NamedTuple
from urllib.parse import quote, urljoin, urlsplit
from urllib.request import Request, urlopen
from weakref import finalize

HERE = Path(__file__).resolve().parent
HAN = re.compile(r"([\u3400-\u9fff])")
KINDS = {".md", ".html"}
START = re.compile(r"#{1,4} ")
TABLE = """
CREATE VIRTUAL TABLE passage USING fts5(
  heading_terms, terms, source UNINDEXED, line UNINDEXED, heading UNINDEXED, text UNINDEXED, tokenize='porter unicode61')
"""
BEST = """
SELECT source, line, heading, text FROM passage WHERE passage MATCH ? ORDER BY bm25(passage, 4, 1) LIMIT ?
"""
COMMON = frozenset(
    "a an and are as be by can do does for from how i in is it my of on or that the this to was what when where "
    "which who why with you your 的 了 是 在 和".split()
)


class Passage(NamedTuple):
    """A part of a file, from one heading to the next."""

    source: str
    line: int
    heading: str
    text: str


class Library:
    """The documents and pages below a folder, indexed when they are first asked for; code is no source.

    Args:
        root: The folder; by default the example's own, with the pages of its shop.
        parts: The parts of the folder that are searched.
        engine: The address of a search engine, up to the query; with one, the pages that it finds are searched, too.
    """

    def __init__(self, root: Path = HERE, parts: tuple[str, ...] = (".",), engine: str = "") -> None:
        self.root, self._parts, self._engine = root.resolve(), parts, engine
        self._lock, self._reached = Lock(), True

    @property
    def name(self) -> str:
        """What was searched, and whether the engine could be reached, for a person."""
        folder, engine = f"{self.root.name}/", urlsplit(self._engine).netloc
        if not engine:
            return folder
        return f"{folder} and {engine}" if self._reached else f"{folder} ({engine} could not be reached)"

    @cached_property
    def _index(self) -> sqlite3.Connection:
        index = sqlite3.connect(":memory:", check_same_thread=False)
        finalize(self, index.close)  # Python 3.13 warns of a connection that nothing closed
        index.execute(TABLE)
        for path in self.files():
            source = path.relative_to(self.root).as_posix()
            text = path.read_text("utf-8", "replace")
            passages = split(source, page_text(text)[0] if path.suffix == ".html" else text)
            rows = ((spaced(one.heading), spaced(one.text), *one) for one in passages)
            index.executemany("INSERT INTO passage VALUES (?, ?, ?, ?, ?, ?)", rows)
        return index

    def search(self, query: str, limit: int) -> list[Passage]:
        """Find the passages that fit a query, the best first; none where nothing holds most of its words."""
        with self._lock:
            wanted = " OR ".join(f'"{spaced(term)}"' for term in terms(query)) or '""'
            found = [Passage(*row) for row in self._index.execute(BEST, (wanted, 4 * limit))]
        if self._engine:
            pages = web_passages(self._engine, query)
            self._reached = pages is not None
            found += pages or []
        return [passage for passage in found if fits(passage, query)][:limit]

    def files(self) -> list[Path]:
        """List the files that are indexed."""
        found = (path for part in self._parts for path in visible_files(self.root / part))
        return [path for path in found if path.suffix in KINDS]

    def close(self) -> None:
        """Drop the index."""
        with self._lock:
            if index := vars(self).pop("_index", None):
                index.close()


def visible_files(top: Path) -> list[Path]:
    """List a file, or the files of a folder that are not hidden; hidden folders, which may be large, are not entered."""
    found = [top] if top.is_file() else []
    for folder, inside, names in os.walk(top):
        inside[:] = [name for name in inside if name[:1] != "."]
        found += [Path(folder, name) for name in names if name[:1] != "."]
    return sorted(path for path in found if path.is_file())


def split(source: str, text: str) -> Iterator[Passage]:
    """Split a file where a heading starts; in a code fence nothing starts."""
    line, heading, kept, fenced = 1, source, list[str](), False
    for number, content in enumerate([*text.splitlines(), ""], 1):
        fenced ^= content.startswith("```")
        if START.match(content) and not fenced:
            yield Passage(source, line, heading, "\n".join(kept).strip())
            line, heading, kept = number, content.strip("#: "), []
        else:
            kept.append(content)
    yield Passage(source, line, heading, "\n".join(kept).strip())


def spaced(text: str) -> str:
    """Put spaces around each Han character."""
    return HAN.sub(r" \1 ", text)


def terms(query: str) -> list[str]:
    """Return what a query looks for: its words, and each pair of neighbors in Han text; no single letter or digit."""
    found = []
    for word in re.findall(r"[\u3400-\u9fff]+|[^\W_\u3400-\u9fff]+", query.casefold()):
        found += (
            [word[at : at + 2] for at in range(len(word) - 1)]
            if HAN.match(word[1:])
            else [word] * (len(word) > 1 or bool(HAN.match(word)))
        )
    return [term for term in dict.fromkeys(found) if term not in COMMON]


def words(query: str) -> list[str]:
    """Return what a query looks for as people write it: its words, Han text whole."""
    found = re.findall(r"[\u3400-\u9fff]+|[^\W_\u3400-\u9fff]+", query)
    return [word for word in dict.fromkeys(found) if terms(word)]


def best_sentences(text: str, query: str, limit: int = 2) -> list[str]:
    """Return the sentences of a text with the most terms of a query, in the text's order."""
    parts = re.split(r"(?<=[.!?。])\s+|\n{2,}|\n(?=[-*|#])", text)
    sentences = [" ".join(part.split())[:300] for part in parts]
    scores = [sum(term in sentence.casefold() for term in terms(query)) for sentence in sentences]
    best = sorted(range(len(sentences)), key=lambda at: -scores[at])[:limit]
    return [sentences[at] for at in sorted(best) if scores[at]]


def fits(passage: Passage, query: str) -> bool:
    """Return whether a passage holds at least two of three words that a query looks for, in any form of them."""
    wanted = [stem(term) for term in terms(query)]
    text = f"{passage.heading} {passage.text}".casefold()
    return bool(wanted) and 3 * sum(term in text for term in wanted) >= 2 * len(wanted)


def stem(term: str) -> str:
    """Return the part of a word that its forms share: "visualize" and "visualization"."""
    return term if HAN.match(term) else term[: max(4, len(term) - 3)]


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts, self.links, self._hidden = list[str](), list[str](), 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in {"script", "style"}
        if re.fullmatch("h[1-4]", tag):
            self.parts.append("\n\n# ")
        elif tag in {"p", "li", "div", "tr", "option", "br"}:
            self.parts.append("\n\n")
        self.links += [href for name, href in attrs if tag == "a" and name == "href" and href]

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in {"script", "style"}
        if re.fullmatch("h[1-4]|title", tag):
            self.parts.append("\n\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(re.sub(r"\s+", " ", data))


def page_text(html: str) -> tuple[str, list[str]]:
    """Return the text of a page, with # before its headings, and its links."""
    page = _Page()
    page.feed(html)
    return "".join(page.parts).strip(), page.links


def web_passages(engine: str, query: str) -> list[Passage] | None:
    """Read the first pages that a search engine finds for a query; None where the engine does not answer."""
    address = engine + quote(query)
    if (results := _fetched(address)) is None:
        return None
    links = (urljoin(address, link) for link in page_text(results)[1])
    pages = [link for link in dict.fromkeys(links) if urlsplit(link).scheme in {"http", "https"}][:5]
    read = ((page, _fetched(page) or "") for page in pages)
    return [part for page, text in read for part in split(page, page_text(text)[0]) if part.text]


def _fetched(address: str) -> str | None:
    request = Request(address, headers={"User-Agent": "agent-platform"})  # noqa: S310 - only http(s) comes here
    try:
        with urlopen(request, timeout=10) as answer:  # noqa: S310 - as above
            return str(answer.read(1 << 20).decode("utf-8", "replace"))
    except (OSError, ValueError):
        return None
