"""A context store: a small MCP server that keeps notes with tags in an SQLite file.

python examples/context_store.py            a transcript of a few conversations
python examples/context_store.py --serve    the server over stdio, with the file of the data folder
python examples/context_store.py notes.db   the server over stdio, with this file; --bare after it as below
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from fastmcp import FastMCP
from pydantic import BaseModel, Field

from mcp_lenient import LenientMiddleware, tags, tool_error

Tags = Annotated[Any, tags(), Field(description="Labels: an array of strings, or null.")]
"""For an author who writes ``tags: Any``: what a call sends is checked by ``tags()``, not by the type."""

TABLE = """
CREATE TABLE IF NOT EXISTS contexts (id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL, tags TEXT NOT NULL)
"""
INSERT = "INSERT INTO contexts (content, tags) VALUES (?, ?) RETURNING *"
UPDATE = "UPDATE contexts SET content = ifnull(?, content), tags = ifnull(?, tags) WHERE id = ? RETURNING *"
SEARCH = """
SELECT * FROM contexts
WHERE instr(lower(content), lower(:query))
  AND NOT EXISTS (SELECT value FROM json_each(:tags) EXCEPT SELECT value FROM json_each(contexts.tags))
ORDER BY id DESC LIMIT :limit
"""
DELETE = "DELETE FROM contexts WHERE id IN (SELECT value FROM json_each(?)) RETURNING *"


class StoredContext(BaseModel):
    """A stored text with its tags, in alphabetical order."""

    context_id: int
    content: str
    tags: list[str]


@dataclass(frozen=True)
class ContextStore:
    """Contexts in one SQLite file; the methods are the tools of the server, each one transaction."""

    file: Path

    def store_context(self, content: str, tags: list[str] | None = None) -> StoredContext:
        """Store a text that is worth remembering, under any number of tags."""
        (stored,) = self._run(INSERT, (content, _json(tags or [])))
        return stored

    def update_context(self, context_id: int, content: str | None = None, tags: Tags = None) -> StoredContext:
        """Replace the text or the tags of a stored context; what is left out stays as it is."""
        updated = self._run(UPDATE, (content, None if tags is None else _json(tags), context_id))
        if not updated:
            message = f"There is no context {context_id}. Call search_context to see what there is."
            raise tool_error("UNKNOWN_CONTEXT", message, "context_id", received_value=context_id)
        return updated[0]

    def search_context(
        self, query: str, tags: list[str] | None = None, limit: Annotated[int, Field(ge=1, le=100)] = 10
    ) -> list[StoredContext]:
        """Find contexts by a text they hold and by tags, all of which they must carry; the newest first."""
        return self._run(SEARCH, {"query": query, "tags": _json(tags or []), "limit": limit})

    def delete_context(self, context_ids: list[int], *, confirm: bool) -> list[int]:
        """Delete contexts for good and return the ids that were deleted. Nothing happens unless confirm is true."""
        if not confirm:
            message = "Nothing was deleted, since confirm is false. Ask the user, then send true."
            raise tool_error("NOT_CONFIRMED", message, "confirm", received_value=False)
        return sorted(one.context_id for one in self._run(DELETE, (json.dumps(context_ids),)))

    def _run(self, statement: str, values: Any) -> list[StoredContext]:
        """Run a statement on the file, which is made where it is not there yet; return the rows."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self.file)) as connection, connection:
            connection.execute(TABLE)
            rows = connection.execute(statement, values).fetchall()
        return [StoredContext(context_id=key, content=text, tags=json.loads(own)) for key, text, own in rows]


def _json(tags: Iterable[str]) -> str:
    return json.dumps(sorted(set(tags)))


def build_server(file: Path, *, lenient: bool = True) -> FastMCP:
    """Make a server for the contexts in a file, which the first call creates; by default it repairs calls."""
    mcp = FastMCP("context-store")
    if lenient:
        mcp.add_middleware(LenientMiddleware(warm=True))
    store = ContextStore(file)
    mcp.tool(store.store_context)
    mcp.tool(store.update_context)
    mcp.tool(annotations={"readOnlyHint": True})(store.search_context)
    mcp.tool(annotations={"destructiveHint": True})(store.delete_context)
    return mcp


def build(folder: Path, *, lenient: bool) -> FastMCP:
    """Make a server for the store in a folder."""
    return build_server(folder / "context_store.db", lenient=lenient)


def transcript() -> int:
    """Play a few conversations in the terminal."""
    from shared.transcript import Call, Scene, run_example

    scenes = (
        Scene("Remember that the release is on Friday, for work",
            Call("store_context", {"content": "The release is on Friday", "tags": '["work", "release"]'},
                 "json_text_to_array", gives='["release", "work"]'),
            answer="I will remember it."),
        Scene("Note my trip to Lisbon, too, under travel",
            Call("store_context", {"content": "A trip to Lisbon", "tags": 123}, "INVALID_TAGS_TYPE"),
            Call("store_context", {"content": "A trip to Lisbon", "tags": "travel"}, "scalar_to_array", gives='"tags": ["travel"]'),
            answer="Noted."),
        Scene("What do I have for work?",
            Call("search_context", {"query": "", "tags": "work", "limit": None}, "scalar_to_array null_to_absent",
                 gives='"context_id": 1'),
            answer="The release is on Friday."),
        Scene("The trip is off: tag it so",
            Call("update_context", {"contextId": 7, "tags": "off"}, "UNKNOWN_CONTEXT"),
            Call("update_context", {"contextId": 2, "tags": ["travel", 1]}, "INVALID_TAGS_TYPE"),
            Call("update_context", {"contextId": 2, "tags": "['travel', 'off']"}, "rename_case tags", gives='["off", "travel"]'),
            answer="The trip is tagged as off."),
        Scene("Then delete it",
            Call("delete_context", {"context_ids": "2", "confirm": True}, "INVALID_CONTEXT_IDS_TYPE"),
            Call("delete_context", {"context_ids": "[2]", "confirm": False}, "NOT_CONFIRMED"),
            Call("delete_context", {"context_ids": "[2]", "confirm": True}, "json_text_to_array", gives="[2]"),
            answer="It is gone."),
    )  # fmt: skip
    return run_example("Context store", build, scenes, system="You keep the user's notes.")


mcp = build(Path(os.environ.get("EXAMPLES_DATA") or Path(__file__).parent / "data"), lenient=True)

if __name__ == "__main__":
    if sys.argv[1:] and not sys.argv[1].startswith("-"):
        build_server(Path(sys.argv[1]), lenient="--bare" not in sys.argv[2:]).run(show_banner=False)
    else:
        sys.exit(transcript())
