"""A context store: a small MCP server that keeps notes with tags in an SQLite file.

python examples/context_store.py            a transcript of a few conversations
python examples/context_store.py --serve    the server over stdio, with the file of the data folder
python examples/context_store.py notes.db   the server over stdio, with this file

CONTEXT_STORE_DB may name the file instead. When a file is served, LENIENT=0 leaves the middleware out, and STRICT=1
has FastMCP validate in strict mode: two switches with which the demo shows the difference.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from fastmcp import FastMCP
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

from mcp_lenient import LenientMiddleware, tags, tool_error

Tags = Annotated[Any, tags(), Field(description="Labels: an array of strings, or null.")]
"""For an author who writes ``tags: Any``: what a call sends is checked by ``tags()``, not by the type."""

TABLES = """
CREATE TABLE IF NOT EXISTS context (id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL);
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
    """Contexts in one SQLite file; most methods are tools of the server, each one transaction."""

    file: Path

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.file)) as connection, connection:
            connection.execute("PRAGMA foreign_keys = ON")
            yield connection

    def create(self) -> None:
        """Make the tables, where they are not there yet."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self._transaction() as connection:
            connection.executescript(TABLES)

    def store_context(self, content: str, tags: list[str] | None = None) -> StoredContext:
        """Store a text that is worth remembering, under any number of tags."""
        with self._transaction() as connection:
            row = connection.execute("INSERT INTO context (content) VALUES (?) RETURNING id", (content,))
            context_id: int = row.fetchone()[0]
            _set_tags(connection, context_id, tags or [])
            return _read(connection, context_id)

    def update_context(self, context_id: int, content: str | None = None, tags: Tags = None) -> StoredContext:
        """Replace the text or the tags of a stored context; what is left out stays as it is."""
        with self._transaction() as connection:
            _read(connection, context_id)
            if content is not None:
                connection.execute("UPDATE context SET content = ? WHERE id = ?", (content, context_id))
            if tags is not None:
                _set_tags(connection, context_id, tags)
            return _read(connection, context_id)

    def search_context(
        self, query: str, tags: list[str] | None = None, limit: Annotated[int, Field(ge=1, le=100)] = 10
    ) -> list[StoredContext]:
        """Find contexts by a text they hold and by tags, all of which they must carry; the newest first."""
        wanted = {"query": query, "tags": json.dumps(sorted(set(tags or []))), "limit": limit}
        with self._transaction() as connection:
            rows = connection.execute(SEARCH, wanted).fetchall()
            return [_read(connection, context_id) for (context_id,) in rows]

    def delete_context(self, context_ids: list[int], *, confirm: bool) -> list[int]:
        """Delete contexts for good and return the ids that were deleted. Nothing happens unless confirm is true."""
        if not confirm:
            message = "Nothing was deleted, since confirm is false. Ask the user, then send true."
            raise tool_error("NOT_CONFIRMED", message, "confirm", received_value=False)
        delete = "DELETE FROM context WHERE id = ?"
        with self._transaction() as connection:
            return [one for one in sorted(set(context_ids)) if connection.execute(delete, (one,)).rowcount]


def _set_tags(connection: sqlite3.Connection, context_id: int, tags: Iterable[str]) -> None:
    connection.execute("DELETE FROM tag WHERE context_id = ?", (context_id,))
    connection.executemany("INSERT INTO tag VALUES (?, ?)", [(context_id, tag) for tag in set(tags)])


def _read(connection: sqlite3.Connection, context_id: int) -> StoredContext:
    row = connection.execute("SELECT content FROM context WHERE id = ?", (context_id,)).fetchone()
    if row is None:
        message = f"There is no context {context_id}. Call search_context to see what there is."
        raise tool_error("UNKNOWN_CONTEXT", message, "context_id", received_value=context_id)
    tags = connection.execute("SELECT name FROM tag WHERE context_id = ? ORDER BY name", (context_id,))
    return StoredContext(context_id=context_id, content=row[0], tags=[name for (name,) in tags])


def build_server(store: ContextStore, *, lenient: bool = True, strict: bool = False) -> FastMCP:
    """Make an MCP server for a store.

    Args:
        store: Where the contexts are kept; its file is made when the server starts.
        lenient: Whether nearly right calls are repaired.
        strict: Whether FastMCP validates arguments in Pydantic's strict mode.
    """

    @asynccontextmanager
    async def lifespan(_: FastMCP) -> AsyncIterator[None]:
        store.create()
        yield

    mcp = FastMCP("context-store", strict_input_validation=strict, lifespan=lifespan)
    if lenient:
        mcp.add_middleware(LenientMiddleware(warm=True))

    mcp.tool(store.store_context)
    mcp.tool(store.update_context)
    mcp.tool(annotations=ToolAnnotations(read_only_hint=True))(store.search_context)
    mcp.tool(annotations=ToolAnnotations(destructive_hint=True))(store.delete_context)
    return mcp


def build(folder: Path, lenient: bool) -> FastMCP:  # noqa: FBT001
    """Make a server for the store in a folder."""
    return build_server(ContextStore(folder / "context_store.db"), lenient=lenient)


def transcript() -> int:
    """Play a few conversations in the terminal."""
    from shared.transcript import Call, Scene, run_example

    scenes = (
        Scene("Remember that the release is on Friday, for work",
            Call("store_context", {"content": "The release is on Friday", "tags": '["work", "release"]'},
                 "json_text_to_array", gives={"context_id": 1, "tags": ["release", "work"]}),
            answer="I will remember it."),
        Scene("Note my trip to Lisbon, too, under travel",
            Call("store_context", {"content": "A trip to Lisbon", "tags": 123}, refused="INVALID_TAGS_TYPE"),
            Call("store_context", {"content": "A trip to Lisbon", "tags": "travel"}, "scalar_to_array", gives={"tags": ["travel"]}),
            answer="Noted."),
        Scene("What do I have for work?",
            Call("search_context", {"query": "", "tag": "work", "limit": None}, "rename_plural scalar_to_array null_to_absent",
                 gives=[{"context_id": 1}]),
            answer="The release is on Friday."),
        Scene("The trip is off: tag it so",
            Call("update_context", {"contextId": 7, "tags": "off"}, refused="UNKNOWN_CONTEXT"),
            Call("update_context", {"contextId": 2, "tags": ["travel", 1]}, refused="INVALID_TAGS_TYPE"),
            Call("update_context", {"contextId": 2, "tags": "['travel', 'off']"}, "rename_case tags", gives={"tags": ["off", "travel"]}),
            answer="The trip is tagged as off."),
        Scene("Then delete it",
            Call("delete_context", {"context_ids": "2", "confirm": True}, refused="INVALID_CONTEXT_IDS_TYPE"),
            Call("delete_context", {"context_ids": "[2]", "confirm": False}, refused="NOT_CONFIRMED"),
            Call("delete_context", {"context_ids": "[2]", "confirm": True}, "json_text_to_array", gives=[2]),
            answer="It is gone."),
    )  # fmt: skip
    return run_example("Context store", build, scenes, system="You keep the user's notes.")


def main(arguments: list[str]) -> int:
    """Serve a file that is named, or play the transcript."""
    named = arguments[0] if arguments else os.environ.get("CONTEXT_STORE_DB", "")
    if not named or named.startswith("-"):
        return transcript()
    lenient, strict = os.environ.get("LENIENT") != "0", os.environ.get("STRICT") == "1"
    build_server(ContextStore(Path(named)), lenient=lenient, strict=strict).run(show_banner=False)
    return 0


mcp = build(Path(os.environ.get("EXAMPLES_DATA") or Path(__file__).parent / "data"), lenient=True)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
