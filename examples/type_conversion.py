"""A client that cannot change its server: a lenient proxy or session converts a model's arguments before it sends them.

python examples/type_conversion.py            a chat in the terminal; --model NAME lets a model answer
python examples/type_conversion.py --serve    the proxy over stdio

The server reads a birth date by the Chinese calendar, and refuses a text for a number. It could be in another language,
run by someone else. This file needs mcp-lenient and nothing else.
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
import sys
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from math import radians, sin
from pathlib import Path
from threading import Thread
from typing import Annotated, Any

from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import Middleware
from fastmcp.tools import ToolResult
from pydantic import BaseModel, Field

from mcp_lenient import Policy, configure_logging, dispatch, lenient_session, tool_error

try:
    from mcp_lenient import create_lenient_proxy
except ImportError as missing:
    sys.exit(f"This example needs FastMCP 4: {missing}")

DATA = Path(os.environ.get("EXAMPLES_DATA") or Path(__file__).parent / "data")
STEMS, BRANCHES, ANIMALS = "甲乙丙丁戊己庚辛壬癸", "子丑寅卯辰巳午未申酉戌亥", "鼠牛虎兔龙蛇马羊猴鸡狗猪"
SPRING = 315  # the sun's longitude in degrees where the year begins
READS = {"readOnlyHint": True}
server = FastMCP("calendar", strict_input_validation=True)


class Place(BaseModel):
    """Where someone was born."""

    longitude: float


@server.tool(annotations=READS)
def pillars(
    year: Annotated[int, Field(ge=1900, le=2100, description="The year of birth.")],
    month: Annotated[int, Field(ge=1, le=12, description="The month.")],
    day: Annotated[int, Field(ge=1, le=31, description="The day.")],
    gender: Annotated[float, "0 for a woman, 1 for a man."],
    hour: Annotated[
        float, Field(ge=0, lt=24, description="The hour in China (UTC+8), with its fraction; or noon.")
    ] = 12,
    place: Annotated[Place | None, "Corrects the pillar of the hour, from 120 degrees east."] = None,
    animal: Annotated[bool, "Whether to name the animal of the year."] = False,  # noqa: FBT002
) -> dict[str, str]:
    """Return the pillars of year, month, day and hour; the year and its months begin with the sun's terms."""
    try:
        born = date(year, month, day)
    except ValueError:
        message = f"There is no day {day} in month {month} of {year}. Ask for the date again."
        raise tool_error("INVALID_DATE", message, "day", received_value=day) from None
    if gender not in {0, 1}:
        message = "The gender is 0 for a woman or 1 for a man."
        raise tool_error("INVALID_GENDER", message, "gender", received_value=gender)
    solar = hour + ((place.longitude - 120) / 15 if place else 0)
    days = born.toordinal() + 14 + (solar >= 23) - (solar < -1)
    since = (_longitude(born, hour) - SPRING) % 360
    lunar = year - (month < 3 and since > 180) - 4
    months = lunar * 12 + int(since // 30) + 2
    hours = days * 12 + int((solar + 1) // 2) % 12
    found = {"year": lunar, "month": months, "day": days, "hour": hours}
    named = {"animal": ANIMALS[lunar % 12]} if animal else {}
    return {name: _pillar(at) for name, at in found.items()} | named | {"gender": "男" if gender else "女"}


def _pillar(number: int) -> str:
    return STEMS[number % 10] + BRANCHES[number % 12]


def _longitude(day: date, hour: float) -> float:
    """Return the sun's apparent longitude in degrees; from 1900 to 2100 within 0.01, which it passes in a quarter of an hour.

    By Jean Meeus, Astronomical Algorithms, chapter 25.
    """
    t = (day.toordinal() - 730_120.5 + (hour - 8) / 24) / 36_525  # centuries since noon of 1 January 2000
    anomaly = radians(357.52911 + 35_999.05029 * t)
    center = (
        (1.914602 - 0.004817 * t) * sin(anomaly) + 0.019993 * sin(2 * anomaly) + 0.000289 * sin(3 * anomaly)
    )
    node = radians(125.04 - 1934.136 * t)
    return 280.46646 + 36_000.76983 * t + 0.0003032 * t * t + center - 0.00569 - 0.00478 * sin(node)


@server.tool(annotations=READS)
def animals(years: Annotated[list[Annotated[int, Field(ge=1, le=9999)]], "Years."]) -> list[str]:
    """Return the animal of each year."""
    return [ANIMALS[(year - 4) % 12] for year in years]


SYSTEM = "Tell people about birth dates in the Chinese calendar."
UNDERSTOOD = "born 1990-03-01 at 12:30, a man; animals 1987, 2024; 1990年3月1日出生, 男; 1987年属什么"


DATE = re.compile(r"(?<![\w-])(\d{4})\s*[-/年]\s*(\d{1,2})\s*[-/月]\s*(\d{1,2})(?!\d)\s*[日号]?", re.ASCII)
CLOCK = re.compile(r"(?<![\d:])([01]?\d|2[0-3]):([0-5]\d)(?![\d:])", re.ASCII)
GENDERS = {"0": r"\b(?:woman|female|girl)\b|女", "1": r"\b(?:man|male|boy)\b|男"}
GENDER = re.compile("|".join(GENDERS.values()), re.IGNORECASE)
YEAR = re.compile(r"(?<![\w.-])\d{4}(?![.-]?\d)", re.ASCII)
FILLERS = re.compile(
    r"\b(?:a|am|an|and|animals?|are|at|born|for|he|hello|i|in|is|it|m|of|on|please|s|she|the|tell me|was|were|what|which|years?|zodiac)\b"
    "|出生|生的|[我他她]|是|生于|于|在|的|和|年|属什么|什么|生肖|人|[^\\w]",
    re.IGNORECASE,
)


@dataclass
class Conversation:
    """Answers what is typed, without a model; ``asked`` is a birth date of which more was asked, until it is said."""

    asked: str = ""

    async def reply(self, line: str, call: Call) -> str:
        """Answer a birth date, or years; numbers are sent as the texts that they are."""
        rest = CLOCK.sub(" ", GENDER.sub(" ", line))
        if self.asked and rest != line and not _unread(rest):
            line = f"{self.asked}, {line}"
        if born := DATE.search(line):
            return await self._born(line, born, call)
        years, unread = YEAR.findall(line), _unread(YEAR.sub(" ", line))
        if unread:
            return unread
        if "0000" in years:
            return "There is no year 0."
        if years:
            self.asked = ""
            named = await call("animals", years=json.dumps([*map(int, years)]))
            return ", ".join(f"{year}: {animal}" for year, animal in zip(years, named, strict=True))
        return f"I understand: {UNDERSTOOD}"

    async def _born(self, line: str, born: re.Match[str], call: Call) -> str:
        """Answer a line with a birth date; of the hour nothing is said unless it was given."""
        rest = line.replace(born[0], " ", 1)
        clock = CLOCK.search(rest)
        rest = CLOCK.sub(" ", rest, count=1)
        said = [code for code, words in GENDERS.items() if re.search(words, rest, re.IGNORECASE)]
        if unread := _unread(GENDER.sub(" ", rest)):
            self.asked = self.asked if line.startswith(self.asked) else ""
            return unread
        completed, self.asked = bool(self.asked) and line.startswith(self.asked), ""
        year, month, day = (str(int(number)) for number in born.groups())
        if not 1 <= int(month) <= 12:
            return f"There is no month {month}."
        if len(said) != 1:
            self.asked = GENDER.sub(" ", line)
            return "Was it a man or a woman?"
        sent = {"year": year, "month": month, "day": day, "gender": said[0], "animal": "yes"}
        hours = [str(int(clock[1]) + int(clock[2]) / 60)] if clock else ["0", "23.99"]
        try:
            found = [await call("pillars", **sent, hour=hour) for hour in hours]
        except ToolError as error:  # what follows its first sentence is for a model
            return f"{str(error).partition('. ')[0].rpartition(': ')[2].rstrip('.')}."
        months = [f"{each['year']}年 {each['month']}月" for each in found]
        if months[0] != months[-1]:
            self.asked = line
            terms = " before it, ".join(months)
            return f"Say the hour, as 'at 12:30': the sun's term begins on this day, {terms} from it on."
        at = f" {found[0]['hour']}时" if clock else ""
        told = f"{months[0]} {found[0]['day']}日{at}, 属{found[0]['animal']}, {found[0]['gender']}"
        festival = (1, 21) <= (int(month), int(day)) <= (2, 20)
        spring = (
            " The year begins with 立春, about 4 February, not with the Spring Festival." if festival else ""
        )
        return f"{born[0].strip() + ': ' if completed else ''}{told}{'' if clock else ' (before 23:00)'}.{spring}"


def _unread(rest: str) -> str:
    """Say which words of a line mean something that was not read; empty where there are none."""
    left = " ".join(FILLERS.sub(" ", rest).split())
    return f"I could not read {left!r}, so I asked nothing. I understand: {UNDERSTOOD}" if left else ""


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


mcp = create_lenient_proxy(server)

if __name__ == "__main__":
    main(mcp, Conversation().reply, system=SYSTEM, hint=UNDERSTOOD)
