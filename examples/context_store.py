"""A context store: a small MCP server that keeps notes with tags in an SQLite file.

python examples/context_store.py            a chat in the terminal; --model NAME lets a model answer
python examples/context_store.py --page     the same, and a page that shows the notes and the last calls
python examples/context_store.py --serve    the server over stdio, with the file of the data folder
python examples/context_store.py notes.db   the server over stdio, with this file; --bare after it leaves mcp-lenient out

It needs mcp-lenient, and chat.py beside it.
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any
from unicodedata import normalize

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from pydantic import BaseModel, Field

from chat import DATA, Page, Script, Talk, main
from mcp_lenient import LenientMiddleware, Policy, tool_error
from mcp_lenient.normalizers import tags

Tags = Annotated[Any, tags(), Field(description="Labels: an array of strings, or null.")]
"""For an author who writes ``tags: Any``: what a call sends is checked by ``tags()``, not by the type."""

INSTRUCTIONS = "You keep the user's notes. Search before you update or delete; delete with confirm true only if asked to."
TABLE = """
CREATE TABLE IF NOT EXISTS contexts (id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL, tags TEXT NOT NULL)
"""
INSERT = "INSERT INTO contexts (content, tags) VALUES (?, ?) RETURNING *"
UPDATE = "UPDATE contexts SET content = ifnull(?, content), tags = ifnull(?, tags) WHERE id = ? RETURNING *"
SEARCH = """
SELECT * FROM contexts
WHERE NOT EXISTS (SELECT value FROM json_each(:words) WHERE NOT instr(folded(content), folded(value)))
  AND NOT EXISTS (SELECT folded(value) FROM json_each(:tags) EXCEPT SELECT folded(value) FROM json_each(contexts.tags))
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
            message = f"There is no context {context_id}. Search for it first."
            raise tool_error("UNKNOWN_CONTEXT", message, "context_id", received_value=context_id)
        return updated[0]

    def search_context(
        self, query: str, tags: list[str] | None = None, limit: Annotated[int, Field(ge=1, le=100)] = 10
    ) -> list[StoredContext]:
        """Find contexts by words and tags, all of which they must have, in any case; the newest first."""
        wanted = {"words": json.dumps(query.split()), "tags": _json(tags or []), "limit": limit}
        return self._run(SEARCH, wanted)

    def delete_context(self, context_ids: list[int], *, confirm: bool) -> list[int]:
        """Delete contexts for good and return the ids that were deleted. Nothing happens unless confirm is true."""
        if not confirm:
            message = "Nothing was deleted, since confirm is false. Ask the user, then send true."
            raise tool_error("NOT_CONFIRMED", message, "confirm", received_value=False)
        return sorted(gone.context_id for gone in self._run(DELETE, (json.dumps(context_ids),)))

    def _run(self, statement: str, values: Any) -> list[StoredContext]:
        """Run a statement on the file, which is made where it is not there yet; return the rows."""
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.file)) as connection, connection:
                connection.create_function("folded", 1, _folded, deterministic=True)
                connection.execute(TABLE)
                rows = connection.execute(statement, values).fetchall()
        except OverflowError:  # no row has an id that is larger than SQLite's integers
            return []
        except (sqlite3.Error, OSError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            message = f"The notes cannot be used: {reason}. Nothing was changed."
            raise tool_error("STORE_UNAVAILABLE", message) from error
        return [
            StoredContext(context_id=key, content=text, tags=json.loads(tags)) for key, text, tags in rows
        ]


def _folded(text: str) -> str:
    """Return a text as it is compared: SQLite's own ``lower`` knows the letters A to Z alone."""
    return normalize("NFKC", normalize("NFKC", str(text)).casefold())


def _json(tags: Iterable[str]) -> str:
    return json.dumps(sorted(set(tags)))


def build_server(file: Path, *, lenient: bool = True, page: Page | None = None) -> FastMCP:
    """Make a server for the contexts in a file, which the first call creates; by default it repairs calls."""
    mcp = FastMCP("context-store", INSTRUCTIONS)
    if lenient:
        policy = Policy(body_errors="envelope")
        seen: Any = {} if page is None else {"on_decision": page.record, "decision_values": True}
        mcp.add_middleware(LenientMiddleware(policy, warm=True, **seen))
    store = ContextStore(file)
    mcp.tool(store.store_context)
    mcp.tool(store.update_context)
    mcp.tool(annotations={"readOnlyHint": True})(store.search_context)
    mcp.tool(annotations={"destructiveHint": True})(store.delete_context)
    return mcp


def with_page() -> FastMCP:
    """Make the server with a page that shows the notes."""
    store = ContextStore(DATA / "context_store.db")
    page = Page("Context store", lambda: [note.model_dump() for note in store.search_context("", limit=100)])
    return page.serve_on(build_server(store.file, page=page))


# --- The chat: what the stand-in for a model understands --------------------------------------------------------

MOST_SHOWN = 20
LABEL = r"[^\W\d][\w-]*"


def _labels(text: str) -> tuple[str, list[str]]:
    """Take the tags from the end of a text.

    >>> _labels("buy milk, see h.org/#top #food #home-made")
    ('buy milk, see h.org/#top', ['food', 'home-made'])
    """
    labels = re.search(rf"(?:(?:^|\s+)#{LABEL})*\s*$", text)
    at = labels.start() if labels else len(text)
    return text[:at].strip().strip('"“”「」').strip(), re.findall(LABEL, text[at:])


def _line(note: Any) -> str:
    return " ".join([f"{note['context_id']}: {note['content']}", *(f"#{tag}" for tag in note["tags"])])


async def _keep(talk: Talk, text: str) -> str:
    content, labels = _labels(text)
    if not content:
        return talk.say("Nothing was done: there is no text.", "什么都没有做: 没有内容。")
    note = _line(await talk.call("store_context", content=content, tags=labels))
    return talk.say(f"Noted as {note}", f"已记下 {note}")


async def _find(talk: Talk, words: str = "") -> str:
    query, labels = _labels(words)
    notes = await talk.call("search_context", query=query, tags=labels, limit=MOST_SHOWN + 1)
    if not isinstance(notes, list):
        wanted = ", ".join([*query.split(), *(f"#{label}" for label in labels)])
        return talk.say(f"No note has {wanted or 'any text'}.", f"没有找到笔记: {wanted or '还没有笔记'}。")
    more = talk.say("There are more: find them by a word or a #tag.", "还有更多: 请用词语或 #标签 查找。")
    return "\n".join([*map(_line, notes[:MOST_SHOWN]), *[more] * (len(notes) > MOST_SHOWN)])


async def _change(talk: Talk, number: str, text: str) -> str:
    content, labels = _labels(text)
    before = await talk.call("update_context", context_id=number)  # an update of nothing returns the note
    tags = before["tags"] + labels
    after = _line(await talk.call("update_context", context_id=number, content=content, tags=tags))
    return talk.say(f"Changed to {after}\nBefore: {_line(before)}", f"已改为 {after}\n之前: {_line(before)}")


async def _tag(talk: Talk, number: str, names: str, join: Callable[..., set[str]] = set.union) -> str:
    before = (await talk.call("update_context", context_id=number))["tags"]
    tags = sorted(join({*before}, re.findall(LABEL, names)))
    after = (await talk.call("update_context", context_id=number, tags=tags))["tags"]
    had, has = (", ".join(several) or "-" for several in (before, after))
    return talk.say(f"The tags of {number}: {has}. Before: {had}.", f"{number} 的标签: {has}。之前: {had}。")


async def _delete(talk: Talk, numbers: str) -> str:
    ids = re.findall(r"\d+", numbers)
    try:
        for number in ids:  # before anyone is asked
            await talk.call("update_context", context_id=number)
    except ToolError as error:
        raise ToolError(talk.say(f"Nothing was deleted. {error}", f"什么都没有删除。{error}")) from error
    gone = ", ".join(map(str, await talk.call("delete_context", context_ids=[*map(int, ids)], confirm=True)))
    return talk.say(f"Deleted: {gone}.", f"已删除: {gone}。")


NAMES = rf"#?{LABEL}(?:(?:, *| and |[，、和] *)#?{LABEL})*"
script = Script(
    {
        "remember [that ]{text} | remember: {text} | note {text} | store {text} | keep {text} | 记住[:]{text} | 记住{text} | 记下{text}": _keep,
        "list | list [all ][of ][my ]notes | show [me ][all ][my ]notes | 列出[所有][全部][笔记] | 所有笔记": _find,
        "find {words} | look for {words} | search [my notes ]for {words} | what do I have [for ][about ]{words} | 查找{words} | 找{words}": _find,
        "change {number} to {text} | 把{number}改成{text}": _change,
        "tag {number} as {names} | 给{number}加上标签{names}": _tag,
        "untag {number} {names} | 去掉{number}的标签{names}": partial(_tag, join=set.difference),
        "delete [note ][notes ]{numbers} | forget [notes ]{numbers} | remove [note ]{numbers} | 删除{numbers} | 删掉{numbers}": _delete,
    },
    number=r"\s?\d{1,18}\s?",
    numbers=r"\s?\d{1,18}(?:(?:, and|,| and|[，、和]| ) *\d{1,18})*",
    names=NAMES,
    words=r".*[^?？.。!！\s]",  # noqa: RUF001 - as above
)

mcp = build_server(DATA / "context_store.db")

if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        build_server(Path(sys.argv[1]), lenient="--bare" not in sys.argv).run(show_banner=False)
    else:
        main(mcp, script.reply, page=with_page)
