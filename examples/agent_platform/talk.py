"""A chat in the terminal with a server: by rules, or with a model that speaks the protocol of OpenAI."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import re
import signal
import sys
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import Middleware
from fastmcp.tools import ToolResult

from mcp_lenient import Policy, configure_logging, dispatch, lenient_session

DATA = Path(os.environ.get("EXAMPLES_DATA") or Path(__file__).resolve().parents[1] / "data")

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
