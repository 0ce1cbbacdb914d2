"""What the examples share: a chat in the terminal, a stand-in for a model, and a page. Copy it beside an example.

``Script`` is the stand-in: it understands a list of sentences, and says so for everything else. With ``--model`` a model
answers instead: ``complete`` speaks OpenAI's protocol, and Anthropic's for Claude.
"""

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
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from html import escape
from pathlib import Path
from secrets import token_urlsafe
from threading import Thread
from typing import Any, Generic, TypeVar

from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import Middleware
from fastmcp.tools import ToolResult
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse

from mcp_lenient import Decision, Policy, configure_logging, dispatch, lenient_session

T = TypeVar("T")
DATA = Path(os.environ.get("EXAMPLES_DATA") or Path(__file__).resolve().parent / "data")
MOST_TURNS = 20
HAN = re.compile("[\u3400-\u9fff]")
YES = re.compile(r"(?:y|yes|yeah|ok|是的?|好的?|可以)(?:[\s,，]+(?:please|请))?[.!。！]*", re.IGNORECASE)  # noqa: RUF001
MARKS = " .?!。？！~"  # noqa: RUF001 - as people type it
POLITE = re.compile(
    r"(?i)(?:(?:please|now|hey|c(?:an|ould) you|i want(?: you)? to)\b[, ]*|请|现在|我[想要]|帮我|麻烦你?|给我)*"
)
THANKS = re.compile(r"(?i)(?:[, ]+(?:please|thanks|thank you)|[,， ]*谢谢|一下|[吧啊])$")
NEXT = re.compile(r"(?i)[,;.!?，；。！？]\s*|\s[-–—]+\s|\b(?:and|then|also)\b|然后|并且")  # noqa: RUF001 - as above
IN_CHINESE = {"text": "文字", "words": "词语", "device": "设备", "number": "数字", "numbers": "编号", "names": "标签",
              "state": "状态", "date": "日期", "clock": "几点", "gender": "男或女", "years": "年份", "place": "地点",
              "title": "标题", "code": "代码", "task": "任务", "steps": "步骤", "question": "问题"}  # fmt: skip
"""How the slots of a sentence are called in Chinese."""
QUOTED = re.compile(r'"\s*[^"\s][^"]*"|“\s*[^”\s][^”]*”|「\s*[^」\s][^」]*」')


def in_language_of(text: str, english: str, chinese: str) -> str:
    """Return one of two texts: the Chinese one for a text with Chinese in it."""
    return chinese if HAN.search(text) else english


class Talk:
    """A conversation, as an answer needs it: it calls tools, and speaks the language of the last line."""

    def __init__(self, client: Client[Any]) -> None:
        self._client, self.line = client, ""

    def say(self, english: str, chinese: str) -> str:
        """Return what to say, in the language of the line."""
        return in_language_of(self.line, english, chinese)

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool and return its value.

        Raises:
            ToolError: With what the server says.
        """
        return value_of(shown(tool, arguments, await self._client.call_tool_mcp(tool, arguments)))


Answer = Callable[..., Awaitable[str]]
"""Answers a sentence: called with the talk and, by their names, the parts of the sentence."""
Reply = Callable[[str, Talk], Awaitable[str]]
"""Answers any line."""

# --- The stand-in for a model -----------------------------------------------------------------------------------


class Sentences(Generic[T]):
    r"""Sentences that are understood as a whole, each with what it stands for.

    >>> wishes = Sentences({"set [the ]lamp to {n}% | 灯调到{n}%": "level"}, n=r"\d+")
    >>> wishes.read("Please set lamp to 30%."), wishes.read("灯调到30%"), wishes.read("set lamp to 30% or not")
    (('level', {'n': '30'}), ('level', {'n': '30'}), None)

    Args:
        sentences: By their forms, with `` | `` between them. A form has ``{slots}`` and, in brackets, what may be left out.
        slots: A regular expression for each slot that does not take any text; ``_x`` is a part that nobody needs.
    """

    def __init__(self, sentences: Mapping[str, T], **slots: str) -> None:
        self._forms = [forms.split(" | ") for forms in sentences]
        self._patterns = [
            (re.compile(_pattern(form, slots), re.IGNORECASE), value)
            for forms, value in zip(self._forms, sentences.values(), strict=True)
            for form in forms
        ]

    def read(self, line: str) -> tuple[T, dict[str, str]] | None:
        """Return what a line stands for, and its slots; None for a line that is not understood as a whole."""
        plain = POLITE.sub("", line.strip(), count=1)
        for text in dict.fromkeys((plain, plain.strip(MARKS), THANKS.sub("", plain.strip(MARKS)))):
            for pattern, value in self._patterns:
                if match := pattern.fullmatch(text):
                    slots = {name: slot.strip() for name, slot in match.groupdict().items() if slot}
                    return value, slots
        return None

    def listed(self, line: str) -> str:
        """List the first form of each sentence, in the language of a line."""
        is_chinese = bool(HAN.search(line))
        in_language = (
            [form for form in forms if bool(HAN.search(form)) is is_chinese] for forms in self._forms
        )
        shortest = (re.sub(r"\[.*?\]|\{_\w+\}", "", forms[0]) for forms in in_language if forms)
        named = (re.sub(r"\{(\w+)\}", lambda slot: _label(slot[1], is_chinese), form) for form in shortest)
        return "; ".join(form.strip() for form in named)


def _label(slot: str, is_chinese: bool) -> str:  # noqa: FBT001 - one of two languages
    return f"[{IN_CHINESE.get(slot, slot)}]" if is_chinese else slot.upper()


def _pattern(form: str, slots: Mapping[str, str]) -> str:
    """Write a form as a regular expression; a slot whose name begins with an underscore is not captured."""

    def written(part: str) -> str:
        if part[:1] == "{":
            opening = "(?:" if part[1] == "_" else f"(?P<{part[1:-1]}>"
            return f"{opening}{slots.get(part[1:-1], '.+?')})"
        return {"[": "(?:", "]": ")?"}.get(part, re.escape(part).replace("\\ ", r"\s+"))

    return "".join(map(written, re.split(r"(\{\w+\}|\[|\])", form)))


class Script:
    """Stands in for a model: answers the sentences that it understands, and lists them for everything else.

    Args:
        sentences: As those of :class:`Sentences`, each with the function that answers it.
        slots: A regular expression for each slot that does not take any text.
    """

    def __init__(self, sentences: Mapping[str, Answer], **slots: str) -> None:
        self.sentences, self._bounded = Sentences(sentences, **slots), frozenset(slots)

    async def reply(self, line: str, talk: Talk) -> str:
        """Answer a line; a text in it that goes on with another sentence is not taken for text, unless it is quoted."""
        talk.line = line
        sentence = self.sentences.read(line)
        if sentence is None:
            return not_read(line, self.sentences)
        answer, slots = sentence
        for name in slots.keys() - self._bounded:
            if QUOTED.fullmatch(slots[name]):
                slots[name] = slots[name][1:-1].strip()
            elif others := [
                part.strip() for part in NEXT.split(slots[name])[1:] if self.sentences.read(part)
            ]:
                return talk.say(
                    f"Nothing was done: this goes on with {others[0]!r}. Say one at a time, or put the text in quotes.",
                    f"什么都没有做: 后面还有 “{others[0]}”。请一次说一件, 或者给文字加上引号。",
                )
        return await answer(talk, **slots)


def not_read(line: str, *sentences: Sentences[Any]) -> str:
    """Say that a line was not understood, and what is."""
    listed = "; ".join(several.listed(line) for several in sentences)
    return in_language_of(
        line,
        f"I could not read {line.strip()!r}, so I did nothing. I am no model; I understand: {listed}.",
        f"我没有看懂 “{line.strip()}”, 什么都没有做。我不是模型, 我能看懂: {listed}。",
    )


# --- A model ----------------------------------------------------------------------------------------------------


class ModelError(Exception):
    """A model gives no answer; says why in one line."""


def complete(model: str, messages: Sequence[dict[str, Any]], tools: Sequence[Any] = ()) -> dict[str, Any]:
    """Ask a model for its next message, at OPENAI_BASE_URL with the key in OPENAI_API_KEY.

    A Claude model is asked by Anthropic's own protocol where ANTHROPIC_API_KEY is set, at ANTHROPIC_BASE_URL.

    Returns:
        The whole response, which also says if it was cut off: :func:`message_of` has the message.

    Raises:
        ModelError: When it gives none.
    """
    key = os.environ.get("ANTHROPIC_API_KEY") if model.startswith("claude") else None
    listed = [tool.model_dump(by_alias=True, exclude_none=True) for tool in tools]
    if key:
        base = os.environ.get("ANTHROPIC_BASE_URL", "https://api.anthropic.com").rstrip("/")
        response = _posted(model, f"{base}/v1/messages", claude_request(model, messages, listed),
                           {"x-api-key": key, "anthropic-version": "2023-06-01"})  # fmt: skip
    else:
        base = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1").rstrip("/")
        headers = {"Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '')}"}
        response = _posted(
            model, f"{base}/chat/completions", openai_request(model, messages, listed), headers
        )
    try:
        message_of(response)
    except (LookupError, TypeError, ValueError) as error:
        raise ModelError(f"{model} gave no answer at {base}: {error!r}") from error
    return dict(response)


def message_of(response: Mapping[str, Any]) -> dict[str, Any]:
    """Return the message in a model's response, whichever protocol it is in, as the model gets it back."""
    if "choices" in response:
        return dict(response["choices"][0]["message"])
    return {"role": "assistant", "content": response["content"]}


def openai_request(
    model: str, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Write a request in the form of OpenAI's Chat Completions."""
    functions = [
        {"name": tool["name"], "description": tool.get("description", ""), "parameters": tool["inputSchema"]}
        for tool in tools
    ]
    body: dict[str, Any] = {"model": model, "messages": [*messages]}
    return body | (
        {"tools": [{"type": "function", "function": one} for one in functions]} if functions else {}
    )


def claude_request(
    model: str, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Write a request in the form of Anthropic's Messages: the system prompt beside the messages, ``input_schema``."""
    system = "\n".join(message["content"] for message in messages if message["role"] == "system")
    offered = [
        {
            "name": tool["name"],
            "description": tool.get("description", ""),
            "input_schema": tool["inputSchema"],
        }
        for tool in tools
    ]
    turns = [message for message in messages if message["role"] != "system"]
    body: dict[str, Any] = {"model": model, "max_tokens": 4096, "messages": turns}
    return body | ({"system": system} if system else {}) | ({"tools": offered} if offered else {})


def _posted(model: str, address: str, body: dict[str, Any], headers: dict[str, str]) -> Any:
    headers = {"Content-Type": "application/json", **headers}
    request = urllib.request.Request(address, json.dumps(body).encode(), headers)  # noqa: S310 - the user's own
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:  # noqa: S310 - as above
            return json.load(answer)
    except urllib.error.HTTPError as error:
        reason = error.read().decode("utf-8", "replace").strip()
        raise ModelError(f"{model} gave no answer: {error.code} {reason[:300].splitlines()[:1]}") from error
    except (OSError, ValueError) as error:
        raise ModelError(f"{model} gave no answer at {address.rpartition('/v1/')[0]}/v1: {error}") from error


def text_of(response: Mapping[str, Any]) -> str:
    """Return the text in a model's response, whichever protocol it is in."""
    content = message_of(response).get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(block["text"] for block in content if block["type"] == "text")


class ModelReply:
    """Answers lines with a model: it calls tools until it says something, and the server repairs its calls."""

    def __init__(self, model: str, client: Client[Any], system: str) -> None:
        self._model, self._client = model, client
        self._messages: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []

    async def reply(self, line: str, talk: Talk) -> str:
        """Answer a line.

        Raises:
            ModelError: When the model gives no answer.
        """
        talk.line = line
        self._messages.append({"role": "user", "content": line})
        tools, session = await self._client.list_tools(), lenient_session(self._client, Policy(mode="off"))
        for _ in range(MOST_TURNS):
            response = await asyncio.to_thread(complete, self._model, self._messages, tools)
            self._messages.append(message_of(response))
            done = await dispatch(session, response)  # the whole response, which says if it was cut off
            if not done:
                return text_of(response) or "(no answer)"
            for call in done.calls:
                shown(call.tool, call.arguments, call.result)
            self._messages += done.messages
        raise ModelError(f"{self._model} asked for tools {MOST_TURNS} times without an answer.")


# --- The terminal -----------------------------------------------------------------------------------------------


class Approval(Middleware):
    """Asks the person before a destructive tool runs; a call that is refused anyway never comes this far.

    Of a tool with ``meta={"confirm": ["unlock"]}`` it asks for the calls that hold this text.
    """

    def __init__(self, talk: Talk) -> None:
        self._talk = talk

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        """Run the tool, if the person allows it."""
        name, arguments = context.message.name, context.message.arguments or {}
        tool = await context.fastmcp_context.fastmcp.get_tool(name)
        hints = tool.annotations.model_dump(by_alias=True) if tool is not None and tool.annotations else {}
        guarded = ((tool.meta or {}) if tool is not None else {}).get("confirm", ())
        asks = hints.get("destructiveHint") or any(f'"{word}"' in in_json(arguments) for word in guarded)
        if asks and not await allowed(self._talk, name, arguments):
            denied = self._talk.say("You did not allow it.", "你没有同意, 所以没有做。")
            return ToolResult(content=denied, is_error=True)  # no failure of the tool
        return await call_next(context)


async def allowed(talk: Talk, tool: str, arguments: Any) -> bool:
    """Ask whether a tool may be run."""
    called = f"{tool}({in_json(arguments)})"
    prompt = talk.say(
        f"{called} cannot be undone, or needs your yes. Run it? [y/N] ",
        f"{called} 需要你同意。运行吗? [是/否] ",
    )
    return YES.fullmatch((await ask(prompt) or "").strip()) is not None


async def ask(prompt: str) -> str | None:
    """Read a line from the person; None at the end of the input."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[str | None] = loop.create_future()

    def read() -> None:
        try:
            line = input(prompt)
        except EOFError:
            line = None
        loop.call_soon_threadsafe(answer.set_result, line)

    Thread(target=read, daemon=True).start()  # a thread of asyncio's own would keep the program from ending
    line = await answer
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


async def chat(server: FastMCP, reply: Reply, *, model: str | None = None) -> None:
    """Answer each line that is typed, until the input ends; the events go to a file of the data folder.

    A model gets the server's instructions as its system prompt.
    """
    configure(DATA)
    async with Client(server) as client:
        talk = Talk(client)
        server.add_middleware(Approval(talk))
        await converse(talk, ModelReply(model, client, server.instructions or "").reply if model else reply)


async def converse(talk: Talk, reply: Reply) -> None:
    """Answer each line that is typed, until the input ends."""
    while (line := await ask("you     ")) is not None:
        if line.strip():
            try:
                print("answer ", await reply(line, talk))
            except (ModelError, ToolError) as error:
                print("answer ", error)


def shown(name: str, arguments: Any, result: Any) -> Any:
    """Print a call and its outcome; return its result."""
    print(f"call    {name}({in_json(arguments)})")
    meta = result.model_dump(by_alias=True).get("_meta") or {}
    for repair in meta.get("mcp_lenient", {}).get("repairs", ()):
        print(f"repair  {repair['pointer'] or 'whole call'}: {repair['rule']}")
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
    fields = result.model_dump(by_alias=True)
    text = "\n".join(block.get("text", f"[{block['type']}]") for block in fields["content"])
    if fields.get("isError"):
        raise ToolError(json.loads(text)["message"] if text.startswith('{"status"') else text)
    value = fields.get("structuredContent") or text
    value = value["result"] if isinstance(value, dict) and value.keys() == {"result"} else value
    return value or text  # the text beside an empty list says more


def in_json(value: Any) -> str:
    """Write a value as JSON, for people."""
    return json.dumps(value, ensure_ascii=False, default=str)


def arguments_parser() -> argparse.ArgumentParser:
    """Make a parser of the options that all examples have; its help begins with the docstring of the example."""
    about = sys.modules["__main__"].__doc__ or ""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chat", action="store_true", help="talk to it in the terminal; this is the default")
    parser.add_argument("--serve", action="store_true", help="serve over stdio")
    parser.add_argument("--model", metavar="NAME", help="a model answers, at OPENAI_BASE_URL with the key in "
                        "OPENAI_API_KEY; Claude with the key in ANTHROPIC_API_KEY")  # fmt: skip
    return parser


def main(
    server: FastMCP,
    reply: Reply,
    *,
    page: Callable[[], FastMCP] | None = None,
    port: int = 8350,
) -> None:
    """Run an example as the command line says: a chat, or a server over stdio.

    Args:
        server: The server of the example.
        reply: Answers where no model is named.
        page: Makes the server with a page that shows what it does.
        port: The port of the page, if none is named.
    """
    parser = arguments_parser()
    if page is not None:
        about = f"show a page on this port ({port}), beside the chat; other clients connect to /mcp"
        parser.add_argument("--page", nargs="?", type=int, const=port, metavar="PORT", help=about)
    options = parser.parse_args()
    wanted = getattr(options, "page", None)
    if wanted is not None and not 0 < wanted < 1 << 16:
        sys.exit(f"There is no port {wanted}: a port is a number from 1 to 65535.")
    if wanted is None or page is None:
        run(server, reply, options)
    else:
        with interruptible():
            asyncio.run(_chat_beside_page(page(), wanted, reply, options.model))


def run(server: FastMCP, reply: Reply, options: argparse.Namespace) -> None:
    """Chat, or serve over stdio, as the options say."""
    with interruptible():
        if options.serve:
            server.run(show_banner=False)
        else:
            asyncio.run(chat(server, reply, model=options.model))


@contextmanager
def interruptible() -> Iterator[None]:
    """End the program with 130 and without a traceback when it is interrupted."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        print(flush=True)
        os._exit(130)  # a thread may still wait for a line


async def _chat_beside_page(server: FastMCP, port: int, reply: Reply, model: str | None) -> None:
    """Serve a page and the tools over HTTP on loopback, until interrupted, with a chat in the terminal."""
    serving = server.run_http_async(
        host="127.0.0.1", port=port, show_banner=False, uvicorn_config={"log_level": "error"}
    )
    print(f"page    http://127.0.0.1:{port}/", flush=True)
    await asyncio.gather(serving, chat(server, reply, model=model))


# --- The page ---------------------------------------------------------------------------------------------------


class Page:
    """A page that shows the state of a server, and its last calls: which were repaired or refused, and why.

    ``LenientMiddleware(on_decision=page.record, decision_values=True)`` reports each call to it.

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
        reasons = [
            f"{repair.pointer or 'whole call'}: {repair.rule} ({repair.before} → {repair.after})"
            for repair in decision.repairs
        ]
        reasons += [violation.message for violation in decision.violations]
        lines = "".join(f"<li>{escape(reason)}</li>" for reason in reasons)
        called = f"{decision.tool}({in_json(dict(decision.arguments))})"
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
        cells = ("".join(f"<td>{escape(_cell(value))}</td>" for value in row.values()) for row in rows)
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
            sent = ""
            while not await request.is_disconnected():
                body = await asyncio.to_thread(self._body)
                if body != sent:
                    yield f"data: {json.dumps(body)}\n\n"
                sent = body
                await asyncio.sleep(0.3)

        return StreamingResponse(events(), media_type="text/event-stream")


def _cell(value: Any) -> str:
    """Write a value for a cell: text as it is, everything else as JSON."""
    return value if isinstance(value, str) else in_json(value)


def _is_local(request: Request) -> bool:
    """Return whether the browser asked for this machine: another site's name may lead here, too."""
    return request.url.hostname in {"127.0.0.1", "localhost"}


TEMPLATE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style nonce="{nonce}">
  body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222 }}
  table {{ border-collapse: collapse; width: 100% }}
  th, td {{ text-align: left; padding: .3em .8em .3em 0; border-bottom: 1px solid #ddd }}
  td {{ overflow-wrap: anywhere }}
  div {{ border-left: 4px solid; padding: .2em .8em; margin: .6em 0 }}
  .accepted {{ border-color: #2a7 }} .repaired {{ border-color: #c90 }} .refused {{ border-color: #c33 }}
  ul {{ margin: .2em 0; padding-left: 1.2em; overflow-wrap: anywhere }} time {{ color: #666; margin: 0 .5em }}
  code {{ overflow-wrap: anywhere }}
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
