"""A context store: a small MCP server that keeps notes with tags in an SQLite file.

python examples/context_store.py            a chat in the terminal; --model NAME lets a model answer
python examples/context_store.py --page     the same, and a page that shows the notes and the last calls
python examples/context_store.py --serve    the server over stdio, with the file of the data folder
python examples/context_store.py notes.db   the server over stdio, with this file; --bare after it leaves mcp-lenient out

This file needs mcp-lenient and nothing else.
"""

from __future__ import annotations

import os
import signal

if __name__ == "__main__":
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))  # as long as the imports run

import argparse
import asyncio
import json
import logging
import re
import sqlite3
import sys
import urllib.error
import urllib.request
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import partial
from html import escape
from pathlib import Path
from secrets import token_urlsafe
from threading import Thread
from typing import Annotated, Any
from unicodedata import normalize

from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import Middleware
from fastmcp.tools import ToolResult
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse

from mcp_lenient import (
    Decision,
    LenientMiddleware,
    Policy,
    configure_logging,
    dispatch,
    lenient_session,
    tool_error,
)
from mcp_lenient.normalizers import tags

DATA = Path(os.environ.get("EXAMPLES_DATA") or Path(__file__).parent / "data")
SYSTEM = "You keep the user's notes. Search before you update or delete; delete with confirm true only if asked to."

Tags = Annotated[Any, tags(), Field(description="Labels: an array of strings, or null.")]
"""For an author who writes ``tags: Any``: what a call sends is checked by ``tags()``, not by the type."""

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
        return self._run(
            SEARCH, {"words": json.dumps(query.split()), "tags": _json(tags or []), "limit": limit}
        )

    def delete_context(self, context_ids: list[int], *, confirm: bool) -> list[int]:
        """Delete contexts for good and return the ids that were deleted. Nothing happens unless confirm is true."""
        if not confirm:
            message = "Nothing was deleted, since confirm is false. Ask the user, then send true."
            raise tool_error("NOT_CONFIRMED", message, "confirm", received_value=False)
        return sorted(one.context_id for one in self._run(DELETE, (json.dumps(context_ids),)))

    def _run(self, statement: str, values: Any) -> list[StoredContext]:
        """Run a statement on the file, which is made where it is not there yet; return the rows.

        Raises:
            ToolError: When the file cannot be used; its path is not told.
        """
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
            raise tool_error(
                "STORE_UNAVAILABLE", f"The notes cannot be used: {reason}. Nothing was changed."
            ) from error
        return [StoredContext(context_id=key, content=text, tags=json.loads(own)) for key, text, own in rows]


def _folded(text: str) -> str:
    """Return a text as it is compared: SQLite's own ``lower`` knows the letters A to Z alone."""
    return normalize("NFKC", normalize("NFKC", str(text)).casefold())


def _json(tags: Iterable[str]) -> str:
    return json.dumps(sorted(set(tags)))


def build_server(file: Path, *, lenient: bool = True, page: Page | None = None) -> FastMCP:
    """Make a server for the contexts in a file, which the first call creates; by default it repairs calls."""
    mcp = FastMCP("context-store")
    if lenient:
        seen = None if page is None else page.record
        policy, values = Policy(body_errors="envelope"), page is not None
        mcp.add_middleware(LenientMiddleware(policy, warm=True, on_decision=seen, decision_values=values))
    store = ContextStore(file)
    mcp.tool(store.store_context)
    mcp.tool(store.update_context)
    mcp.tool(annotations={"readOnlyHint": True})(store.search_context)
    mcp.tool(annotations={"destructiveHint": True})(store.delete_context)
    return mcp


def build(folder: Path, *, lenient: bool) -> FastMCP:
    """Make a server for the store in a folder."""
    return build_server(folder / "context_store.db", lenient=lenient)


def with_page() -> FastMCP:
    """Make the server with a page that shows the notes."""
    store = ContextStore(DATA / "context_store.db")
    page = Page("Context store", lambda: [one.model_dump() for one in store.search_context("", limit=100)])
    return page.serve_on(build_server(store.file, page=page))


async def reply(line: str, call: Call) -> str:
    """Answer a line without a model: remember, find, tag and delete notes; what is not read is not done, and why is said."""
    said = ASKED.sub("", line.strip(), count=1)
    for pattern, answer in REPLIES:
        if found := re.fullmatch(pattern, said, re.IGNORECASE):
            return await answer(call, *filter(None, found.groups()))
    for verb, usage in USAGES.items():
        if re.match(verb, said, re.IGNORECASE):
            return f"Nothing was done. {usage}"
    return f"I could not read {line.strip()!r}. I understand: {UNDERSTOOD}"


async def _keep(call: Call, text: str) -> str:
    content, labels = _note_of(text)
    return f"Noted as {_line(await call('store_context', content=content, tags=labels))}"


def _note_of(text: str) -> tuple[str, list[str]]:
    """Take a note and its tags from what was typed.

    Raises:
        ToolError: When it is no note, or goes on with another command; what is in quotes never does.
    """
    content, labels = _labels(text)
    if quoted := QUOTED.fullmatch(content):
        return quoted[0][1:-1].strip(), labels
    if re.fullmatch(r"(?:that|this|it|[\s.!\"“”「」])*", content, re.IGNORECASE):
        raise ToolError(f"Nothing was done: there is no text. {UNDERSTOOD}")
    if other := _other(text):
        raise ToolError(
            f"Nothing was done: this goes on with {other!r}. Say one at a time, or put the text in quotes."
        )
    return content, labels


def _other(text: str) -> str:
    """Return the first clause of a text, but for the one that it begins with, that is a command."""
    clauses = (ASKED.sub("", part.strip(), count=1) for part in NEXT.split(text)[1:])
    return next((part for part in clauses if any(command.match(part) for command in COMMANDS)), "")


def _labels(text: str) -> tuple[str, list[str]]:
    """Take the tags from the end of a text.

    >>> _labels("buy milk, see h.org/#top #food #home-made")
    ('buy milk, see h.org/#top', ['food', 'home-made'])
    """
    labels = re.search(rf"(?:(?:^|\s+)#{LABEL})*\s*$", text)
    at = labels.start() if labels else len(text)
    return text[:at].strip(), re.findall(LABEL, text[at:])


async def _find(call: Call, text: str = "") -> str:
    if other := _other(text):
        return f"Nothing was done: this goes on with {other!r}. Say one at a time."
    words, labels = _labels(text)
    found = await call("search_context", query=words, tags=labels, limit=MOST_SHOWN + 1)
    if not isinstance(found, list) or not found:
        wanted = " and ".join([repr(word) for word in words.split()] + [f"#{label}" for label in labels])
        return f"No note has {wanted}." if wanted else "There are no notes."
    more = ["There are more: find them by a word or a #tag."] if len(found) > MOST_SHOWN else []
    return "\n".join([_line(one) for one in found[:MOST_SHOWN]] + more)


def _line(note: Any) -> str:
    return " ".join([f"{note['context_id']}: {note['content']}", *(f"#{tag}" for tag in note["tags"])])


async def _note(call: Call, number: str) -> Any:
    """Return a note, or raise that there is none: an update of nothing returns it as it is."""
    return await call("update_context", context_id=int(number))


async def _tag(call: Call, number: str, labels: str, join: Callable[..., set[str]] = set.union) -> str:
    """Add tags to a note, or take them away; the others stay."""
    names = [name.removeprefix("#") for name in re.split(r"\s*(?:,|，|、|\band\b)\s*", labels.strip(" .。"))]
    if wrong := [name for name in names if not re.fullmatch(LABEL, name)]:
        return f"Nothing was done: a tag is one word, and {wrong[0]!r} is none. {USAGES['(?:un)?tag']}"
    before = (await _note(call, number))["tags"]
    kept = await call("update_context", context_id=int(number), tags=sorted(join({*before}, names)))
    had, has = (", ".join(tags) or "none" for tags in (before, kept["tags"]))
    return f"The tags of {number}: {has}. Before: {had}."


async def _change(call: Call, number: str, text: str) -> str:
    """Replace the text of a note, add tags to it, and say what it was."""
    content, labels = _note_of(text)
    before = await _note(call, number)
    kept = await call("update_context", context_id=int(number), content=content, tags=before["tags"] + labels)
    return f"Changed to {_line(kept)}\nBefore: {_line(before)}"


async def _delete(call: Call, numbers: str) -> str:
    ids = re.findall(r"\d+", numbers)
    try:
        for number in ids:  # before anyone is asked
            await _note(call, number)
    except ToolError as error:
        raise ToolError(f"Nothing was deleted. {error}") from error
    gone = await call("delete_context", context_ids=[*map(int, ids)], confirm=True)
    return f"Deleted: {', '.join(map(str, gone))}."


MOST_SHOWN = 20
LABEL = r"[^\W\d][\w-]*"
NUMBER = r"(\d{1,18})"
END = "[.?!。？！]*"  # noqa: RUF001 - as people type it
NEXT = re.compile(r"(?i)[,;.!?&，；。！？]|\s[-–—]+\s|\b(?:and|then|also)\b|然后|并且")  # noqa: RUF001 - as people type it
QUOTED = re.compile(r'"\s*[^"\s][^"]*"|“\s*[^”\s][^”]*”|「\s*[^」\s][^」]*」')
ASKED = re.compile(r"(?i)(?:(?:please|now|c(?:an|ould) you|i want(?: you)? to) +|请|我[想要]|帮我|再|也|还)*")
UNDERSTOOD = "remember TEXT #tag; find WORDS #tag; list; change 1 to TEXT; tag 1 as a, b; untag 1 a; delete 1, 2. 记住 ...; 查找 ...; 删除 1"
REPLIES: Sequence[tuple[str, Callable[..., Awaitable[str]]]] = (
    (rf"(?:(?:list|show)(?: me)?|find)(?: (?:all|everything|of|my|the|notes))*{END}", _find),
    (rf"(?:列出|查找)(?:全部|所有)(?:的?笔记)?{END}|列出{END}", _find),
    (r"(?:remember|note|store|save|keep)(?: this| that)?: *(.+)", _keep),
    (r"(?:(?:remember|note) that|remember|note(?!s? \d)|记住[:：]?) *(?<![a-z])(.*[^?？])", _keep),
    (rf"(?:find|show me|look for|search(?: my notes| for)*|what do i have (?:for|about)) (.+?){END}", _find),
    (rf"查找\s*(.+?){END}", _find),
    (rf"tag {NUMBER} (?:as|with) (.+)", _tag),
    (rf"untag {NUMBER} (?:as |from |with )?(.+)", partial(_tag, join=set.difference)),
    (rf"change {NUMBER} to:? *(.+)", _change),
    (rf"(?:delete|remove|forget)(?: notes?)? (\d{{1,18}}(?:(?:,| and|, and| ) *\d{{1,18}})*){END}", _delete),
    (rf"删除\s*(\d{{1,18}}(?:[, 、和]+\d{{1,18}})*){END}", _delete),
)
COMMANDS = [
    re.compile(r"(?i)(?:.*\s(?=\S+ (?:it|them|notes?|\d)))?(?:delete|remove|forget|(?:un)?tag|change)\s+\S"),
    re.compile(r"(?:把.*?)?(?:删|修改|改[成为\s\d])"),
    *(re.compile(rf"(?:{pattern})\Z", re.IGNORECASE) for pattern, _ in REPLIES),
]
USAGES = {
    "delete|remove|forget|删除": "Notes are deleted by their numbers: delete 1, 2. 'list' shows the numbers.",
    "(?:un)?tag": "Tags are words with commas between them: tag 1 as work, very-urgent.",
    "change": "A note is changed by its number: change 1 to TEXT.",
    "remember|note|store|save|keep|记住": "To keep a text, say 'remember TEXT', or 'remember \"TEXT\"' for all of it.",
}


# --- The chat: the same lines in each example, so that each can be copied alone -------------------------------

Call = Callable[..., Awaitable[Any]]
"""Calls a tool by its name with arguments; returns its value, or raises ToolError with what the server says."""
Reply = Callable[[str, Call], Awaitable[str]]
"""Answers a line without a model: by calls, or by saying what it understands."""
MOST_TURNS = 20
YES = re.compile(r"(?:y|yes|yeah|ok|是的?|好的?|可以)(?:[\s,，]+(?:please|请))?[.!。！]*", re.IGNORECASE)  # noqa: RUF001


class ModelError(Exception):
    """A model gives no answer; says why in one line."""


def complete(model: str, messages: Sequence[dict[str, Any]], tools: Sequence[Any] = ()) -> dict[str, Any]:
    """Ask a model for its next message, at OPENAI_BASE_URL with the key in OPENAI_API_KEY.

    Returns:
        The first choice of its response: the message, and why it ends.

    Raises:
        ModelError: When it gives none.
    """
    base = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1").rstrip("/")
    listed = [tool.model_dump(by_alias=True, exclude_none=True) for tool in tools]
    offered = [
        {"name": one["name"], "description": one.get("description", ""), "parameters": one["inputSchema"]}
        for one in listed
    ]
    body: dict[str, Any] = {"model": model, "messages": [*messages]}
    body |= {"tools": [{"type": "function", "function": one} for one in offered]} if offered else {}
    headers = {
        "Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '')}",
        "Content-Type": "application/json",
    }
    request = urllib.request.Request(f"{base}/chat/completions", json.dumps(body).encode(), headers)  # noqa: S310 - the user's own
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:  # noqa: S310 - as above
            choice = json.load(answer)["choices"][0]
            return {**choice, "message": dict(choice["message"])}
    except urllib.error.HTTPError as error:
        told = error.read().decode("utf-8", "replace").strip()
        raise ModelError(f"{model} gave no answer: {error.code} {told[:300].splitlines()[:1]}") from error
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ModelError(f"{model} gave no answer at {base}: {error}") from error


class Approval(Middleware):
    """Asks the person before a destructive tool runs; a call that is refused anyway never comes this far.

    Of a tool with ``meta={"confirm": ["unlock"]}`` it asks for the calls that hold this text.
    """

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        """Run the tool, if the person allows it."""
        name, arguments = context.message.name, context.message.arguments or {}
        tool = await context.fastmcp_context.fastmcp.get_tool(name)
        hints = tool.annotations.model_dump(by_alias=True) if tool is not None and tool.annotations else {}
        guarded = ((tool.meta or {}) if tool is not None else {}).get("confirm", ())
        if hints.get("destructiveHint") or any(f'"{word}"' in in_json(arguments) for word in guarded):
            kind = "is destructive" if hints.get("destructiveHint") else "needs your yes"
            said = await ask(f"{name}({in_json(arguments)}) {kind}. Run it? [y/N] ")
            if not YES.fullmatch((said or "").strip()):
                return ToolResult(content="You did not allow it.", is_error=True)  # no failure of the tool
        return await call_next(context)


async def ask(prompt: str) -> str | None:
    """Read a line from the person; None at the end of the input."""
    loop = asyncio.get_running_loop()
    said: asyncio.Future[str | None] = loop.create_future()

    def read() -> None:
        try:
            line = input(prompt)
        except EOFError:
            line = None
        loop.call_soon_threadsafe(said.set_result, line)

    Thread(target=read, daemon=True).start()  # a thread of asyncio's own would keep the program from ending
    line = await said
    if not sys.stdin.isatty():  # what is piped in does not show
        print(line or "")
    return line


def configure(folder: Path) -> None:
    """Write the events to a file, since the terminal is for the chat; where that cannot be, end with one line."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        configure_logging(file=folder / "chat.jsonl")
    except OSError as error:
        sys.exit(f"The folder {folder} cannot be used: {error.strerror}. Set EXAMPLES_DATA to another one.")
    logging.getLogger("fastmcp").setLevel(logging.CRITICAL)


async def chat(
    server: FastMCP, reply: Reply, *, model: str | None = None, system: str = "", hint: str = ""
) -> None:
    """Answer each line that is typed, until the input ends; the events go to a file of the data folder."""
    configure(DATA)
    if hint and not model:
        print(f"try     {hint}")
    server.add_middleware(Approval())
    messages: list[dict[str, Any]] = [{"role": "system", "content": system}]
    async with Client(server) as client:

        async def call(name: str, **arguments: Any) -> Any:
            return value_of(shown(name, arguments, await client.call_tool_mcp(name, arguments)))

        while (line := await ask("you     ")) is not None:
            if not line.strip():
                continue
            try:
                print(
                    "answer ", await (_modeled(client, model, messages, line) if model else reply(line, call))
                )
            except (ModelError, ToolError) as error:
                print("answer ", error)


async def _modeled(client: Client[Any], model: str, messages: list[dict[str, Any]], line: str) -> str:
    """Let a model answer: it calls tools until it says something; the server repairs its calls."""
    messages.append({"role": "user", "content": line})
    session = lenient_session(client, Policy(mode="off"))
    for _ in range(MOST_TURNS):
        choice = await asyncio.to_thread(complete, model, messages, await client.list_tools())
        message = choice["message"]
        messages.append(message)
        if not message.get("tool_calls"):
            return str(message.get("content") or "(no answer)")
        done = await dispatch(
            session, {"choices": [choice]}
        )  # the whole choice, which says if it was cut off
        for one in done.calls:
            shown(one.tool, one.arguments, one.result)
        messages += done.messages
    raise ModelError(f"{model} asked for tools {MOST_TURNS} times without an answer.")


def shown(name: str, arguments: Any, result: Any) -> Any:
    """Print a call and what became of it; return its result."""
    print(f"call    {name}({in_json(arguments)})")
    told = result.model_dump(by_alias=True)
    for each in ((told.get("_meta") or {}).get("mcp_lenient") or {}).get("repairs", ()):
        print(f"repair  {each['pointer'] or 'whole call'}: {each['rule']}")
    try:
        print(f"result  {in_json(value_of(result))[:400]}")
    except ToolError as error:
        print(f"error   {error}")
    return result


def value_of(result: Any) -> Any:
    """Return the value of a result, or its text.

    Raises:
        ToolError: With the message of an error.
    """
    told = result.model_dump(by_alias=True)
    text = "\n".join(block.get("text", f"[{block['type']}]") for block in told["content"])
    if told.get("isError"):
        raise ToolError(json.loads(text)["message"] if text.startswith('{"status"') else text)
    value = told.get("structuredContent") or text
    value = value["result"] if isinstance(value, dict) and value.keys() == {"result"} else value
    return value or text  # the text beside an empty list says more


def in_json(value: Any) -> str:
    """Write a value as JSON, for the terminal."""
    return json.dumps(value, ensure_ascii=False, default=str)


def main(
    server: FastMCP,
    reply: Reply,
    *,
    system: str = "",
    page: Callable[[], FastMCP] | None = None,
    hint: str = "",
) -> None:
    """Run an example as the command line says: a chat, or a server over stdio.

    Args:
        server: What is talked to.
        reply: Answers where no model is named.
        system: The system prompt of a model.
        page: Makes the server with a page that shows what it does.
        hint: What can be typed; shown at the start.
    """
    about = sys.modules["__main__"].__doc__ or ""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chat", action="store_true", help="talk to it in the terminal; this is the default")
    parser.add_argument("--serve", action="store_true", help="serve over stdio")
    parser.add_argument(
        "--model", metavar="NAME", help="a model at OPENAI_BASE_URL answers; its key: OPENAI_API_KEY"
    )
    if page is not None:
        about = "show a page on this port (8350), beside the chat; other clients connect to /mcp"
        parser.add_argument("--page", nargs="?", type=int, const=8350, metavar="PORT", help=about)
    options = parser.parse_args()
    port = getattr(options, "page", None)
    if port is not None and not 0 < port < 1 << 16:
        sys.exit(f"There is no port {port}: a port is a number from 1 to 65535.")
    with interruptible():
        if options.serve:
            server.run(show_banner=False)
        elif page is None or port is None:
            asyncio.run(chat(server, reply, model=options.model, system=system, hint=hint))
        else:
            asyncio.run(_chat_beside_page(page(), port, reply, options.model, system, hint))


@contextmanager
def interruptible() -> Iterator[None]:
    """End the program with 130 and without a traceback when it is interrupted."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        print(flush=True)
        os._exit(130)  # a thread may still wait for a line


async def _chat_beside_page(
    server: FastMCP, port: int, reply: Reply, model: str | None, system: str, hint: str
) -> None:
    """Serve a page and the tools over HTTP on loopback, until interrupted, with a chat in the terminal."""
    serving = server.run_http_async(
        host="127.0.0.1", port=port, show_banner=False, uvicorn_config={"log_level": "error"}
    )
    print(f"page    http://127.0.0.1:{port}/", flush=True)
    await asyncio.gather(serving, chat(server, reply, model=model, system=system, hint=hint))


# --- The end of the chat --------------------------------------------------------------------------------------

# --- The page: the same lines in each example that has one ----------------------------------------------------


class Page:
    """A page that shows the state of a server, and its last calls: which were repaired or refused, and why.

    ``LenientMiddleware(on_decision=page.record, decision_values=True)`` tells it of each call.

    Args:
        title: Its title.
        state: Returns the state as the rows of a table.
    """

    def __init__(self, title: str, state: Callable[[], list[dict[str, Any]]]) -> None:
        self._title, self._state = title, state
        self._calls: deque[str] = deque(maxlen=20)
        self._nonce = token_urlsafe(16)

    def record(self, decision: Decision) -> None:
        """Keep a call for the page."""
        why = [
            f"{each.pointer or 'whole call'}: {each.rule} ({each.before} → {each.after})"
            for each in decision.repairs
        ]
        why += [each.message for each in decision.violations]
        lines = "".join(f"<li>{escape(line)}</li>" for line in why)
        called = f"{decision.tool}({json.dumps(dict(decision.arguments), ensure_ascii=False, default=str)})"
        moment = datetime.now(tz=timezone.utc).astimezone().strftime("%H:%M:%S")
        head = f"<b>{decision.status}</b> <time>{moment}</time> <code>{escape(called[:300])}</code>"
        self._calls.appendleft(f'<div class="{decision.status}">{head}<ul>{lines}</ul></div>')

    def serve_on(self, server: FastMCP) -> FastMCP:
        """Add the page to a server that is served over HTTP: / is the page, /changes its events."""
        server.custom_route("/", ["GET"])(self._whole)
        server.custom_route("/changes", ["GET"])(self._changes)
        return server

    def _body(self) -> str:
        rows = self._state()
        heads = "".join(f"<th>{escape(name)}</th>" for name in (rows[0] if rows else ()))
        cells = ("".join(f"<td>{escape(str(value))}</td>" for value in row.values()) for row in rows)
        table = "".join(f"<tr>{row}</tr>" for row in cells)
        calls = "".join(self._calls) or "<p>No calls yet.</p>"
        return f"<h2>State</h2><table><tr>{heads}</tr>{table}</table><h2>Calls</h2>{calls}"

    async def _whole(self, request: Request) -> Response:
        if not _is_local(request):
            return Response("Open this page as 127.0.0.1.", 403)
        policy = f"default-src 'none'; connect-src 'self'; style-src 'nonce-{self._nonce}'; script-src 'nonce-{self._nonce}'"
        html = TEMPLATE.format(title=escape(self._title), nonce=self._nonce, body=self._body())
        return HTMLResponse(html, headers={"Content-Security-Policy": policy})

    async def _changes(self, request: Request) -> Response:
        if not _is_local(request):
            return Response("Open this page as 127.0.0.1.", 403)

        async def events() -> AsyncIterator[str]:
            shown = ""
            while not await request.is_disconnected():
                body = await asyncio.to_thread(self._body)
                if body != shown:
                    yield f"data: {json.dumps(body)}\n\n"
                shown = body
                await asyncio.sleep(0.3)

        return StreamingResponse(events(), media_type="text/event-stream")


def _is_local(request: Request) -> bool:
    """Return whether the browser asked for this machine: another site's name may lead here, too."""
    return request.url.hostname in {"127.0.0.1", "localhost"}


TEMPLATE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>{title}</title>
<style nonce="{nonce}">
  body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222 }}
  table {{ border-collapse: collapse; width: 100% }}
  th, td {{ text-align: left; padding: .3em .8em .3em 0; border-bottom: 1px solid #ddd }}
  div {{ border-left: 4px solid; padding: .2em .8em; margin: .6em 0 }}
  .accepted {{ border-color: #2a7 }} .repaired {{ border-color: #c90 }} .refused {{ border-color: #c33 }}
  ul {{ margin: .2em 0 }} time {{ color: #666; margin: 0 .5em }} code {{ overflow-wrap: anywhere }}
</style>
<h1>{title}</h1>
<main>{body}</main>
<script nonce="{nonce}">
  new EventSource("/changes").onmessage = event => {{
    document.querySelector("main").innerHTML = JSON.parse(event.data) // escaped by the server
  }}
</script>
</html>
"""

# --- The end of the page --------------------------------------------------------------------------------------


mcp = build(DATA, lenient=True)

if __name__ == "__main__":
    if sys.argv[1:] and not sys.argv[1].startswith("-"):
        build_server(Path(sys.argv[1]), lenient="--bare" not in sys.argv[2:]).run(show_banner=False)
    else:
        main(mcp, reply, system=SYSTEM, page=with_page, hint=UNDERSTOOD)
