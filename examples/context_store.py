"""A context store: a small MCP server that keeps notes with tags in an SQLite file.

Run it over stdio::

    python examples/context_store.py notes.db

The file may also be named by CONTEXT_STORE_DB; without either it is ``context_store.db`` in the current
folder. LENIENT=0 leaves the middleware out, and STRICT=1 has FastMCP validate in strict mode: two switches
with which the demo shows the difference.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

from mcp_lenient import LenientMiddleware

TABLES = """
CREATE TABLE IF NOT EXISTS context (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    content TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS tag (
    context_id INTEGER NOT NULL REFERENCES context (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    PRIMARY KEY (context_id, name)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS tag_name ON tag (name);
"""

SEARCH = """
SELECT id FROM context
WHERE instr(lower(content), lower(:query))
  AND (SELECT count(*) FROM tag WHERE context_id = id AND name IN (SELECT value FROM json_each(:tags)))
      = json_array_length(:tags)
ORDER BY id DESC LIMIT :limit
"""


class StoredContext(BaseModel):
    """A stored text with its tags, in alphabetical order."""

    context_id: int
    content: str
    tags: list[str]


@dataclass(frozen=True)
class ContextStore:
    """Contexts in one SQLite file; each method is one transaction on a connection of its own."""

    file: Path

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.file)) as connection, connection:
            connection.execute("PRAGMA foreign_keys = ON")
            yield connection

    def create(self) -> None:
        """Make the tables, where they are not there yet."""
        with self._transaction() as connection:
            connection.executescript(TABLES)

    def add(self, content: str, tags: Iterable[str]) -> StoredContext:
        """Store a new text."""
        with self._transaction() as connection:
            row = connection.execute("INSERT INTO context (content) VALUES (?) RETURNING id", (content,))
            context_id: int = row.fetchone()[0]
            _set_tags(connection, context_id, tags)
            return _read(connection, context_id)

    def change(self, context_id: int, content: str | None, tags: Iterable[str] | None) -> StoredContext:
        """Replace the text, the tags or both; None keeps what is there.

        Raises:
            KeyError: When there is no such context.
        """
        with self._transaction() as connection:
            if content is not None:
                connection.execute("UPDATE context SET content = ? WHERE id = ?", (content, context_id))
            stored = _read(connection, context_id)
            if tags is None:
                return stored
            _set_tags(connection, context_id, tags)
            return _read(connection, context_id)

    def search(self, query: str, tags: Iterable[str], limit: int) -> list[StoredContext]:
        """The newest contexts that hold this text, in any case, and carry all of these tags."""
        wanted = {"query": query, "tags": json.dumps(sorted(set(tags))), "limit": limit}
        with self._transaction() as connection:
            rows = connection.execute(SEARCH, wanted).fetchall()
            return [_read(connection, context_id) for (context_id,) in rows]

    def remove(self, context_ids: Iterable[int]) -> list[int]:
        """Delete these contexts, and say which of them were there."""
        with self._transaction() as connection:
            ids = sorted(set(context_ids))
            return [
                one for one in ids if connection.execute("DELETE FROM context WHERE id = ?", (one,)).rowcount
            ]


def _set_tags(connection: sqlite3.Connection, context_id: int, tags: Iterable[str]) -> None:
    connection.execute("DELETE FROM tag WHERE context_id = ?", (context_id,))
    connection.executemany("INSERT INTO tag VALUES (?, ?)", [(context_id, tag) for tag in set(tags)])


def _read(connection: sqlite3.Connection, context_id: int) -> StoredContext:
    row = connection.execute("SELECT content FROM context WHERE id = ?", (context_id,)).fetchone()
    if row is None:
        raise KeyError(context_id)
    tags = connection.execute("SELECT name FROM tag WHERE context_id = ? ORDER BY name", (context_id,))
    return StoredContext(context_id=context_id, content=row[0], tags=[name for (name,) in tags])


def build_server(store: ContextStore, *, lenient: bool = True, strict: bool = False) -> FastMCP:
    """An MCP server for this store.

    Args:
        store: Where the contexts are kept.
        lenient: Whether nearly right calls are repaired.
        strict: Whether FastMCP validates arguments in Pydantic's strict mode.
    """
    store.create()
    mcp = FastMCP("context-store", strict_input_validation=strict)
    if lenient:
        mcp.add_middleware(LenientMiddleware())

    @mcp.tool
    def store_context(content: str, tags: list[str] | None = None) -> StoredContext:
        """Store a text that is worth remembering, under any number of tags."""
        return store.add(content, tags or [])

    @mcp.tool
    def update_context(
        context_id: int, content: str | None = None, tags: list[str] | None = None
    ) -> StoredContext:
        """Replace the text or the tags of a stored context; what is left out stays as it is."""
        try:
            return store.change(context_id, content, tags)
        except KeyError:
            msg = f"There is no context {context_id}."
            raise ToolError(msg) from None

    @mcp.tool(annotations=ToolAnnotations(read_only_hint=True))
    def search_context(
        query: str, tags: list[str] | None = None, limit: Annotated[int, Field(ge=1, le=100)] = 10
    ) -> list[StoredContext]:
        """Find contexts by a text they hold and by tags, all of which they must carry; the newest first."""
        return store.search(query, tags or [], limit)

    @mcp.tool(annotations=ToolAnnotations(destructive_hint=True))
    def delete_context(context_ids: list[int], *, confirm: bool) -> list[int]:
        """Delete contexts for good and return the ids that were deleted. Nothing happens unless confirm is true."""
        if not confirm:
            msg = "Nothing was deleted, since confirm is false."
            raise ToolError(msg)
        return store.remove(context_ids)

    return mcp


def main(arguments: list[str]) -> None:
    """Serve the store over stdio."""
    named = arguments[0] if arguments else os.environ.get("CONTEXT_STORE_DB", "context_store.db")
    lenient = os.environ.get("LENIENT") != "0"
    strict = os.environ.get("STRICT") == "1"
    build_server(ContextStore(Path(named)), lenient=lenient, strict=strict).run(show_banner=False)


if __name__ == "__main__":
    main(sys.argv[1:])
