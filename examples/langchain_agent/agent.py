"""A LangGraph agent that uses three MCP servers, two over stdio and one over HTTP, which know nothing of mcp-lenient.

python examples/langchain_agent/agent.py               a chat in the terminal, without a model
python examples/langchain_agent/agent.py --model NAME  the LangGraph agent answers, with a model at OPENAI_BASE_URL
python examples/langchain_agent/agent.py --serve       the tools of all three over stdio, made lenient

config.json lists the servers; mcp-lenient is a proxy in front of them. The graph stops and asks the user before it runs
a destructive tool. It needs LangGraph and mcp-lenient with its extra `langchain`: in a clone,
pip install '.[langchain]' langgraph
"""

from __future__ import annotations

import os
import signal

if __name__ == "__main__":
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))  # as long as the imports run

import argparse
import ast
import asyncio
import json
import re
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from time import sleep
from typing import Any

try:
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
    from langchain_core.messages.utils import convert_to_openai_messages
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode, tools_condition
except ModuleNotFoundError as missing:
    sys.exit(f"This example needs LangGraph, and mcp-lenient with its extra 'langchain': {missing}")

from fastmcp import Client, FastMCP
from fastmcp.server import create_proxy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where this file is run or loaded by its path

from langchain_agent import talk
from langchain_agent.talk import DATA
from mcp_lenient import Policy, lenient_session, normalize
from mcp_lenient.adapters.langchain import to_langchain

try:
    from mcp_lenient import create_lenient_proxy
except ImportError as missing:
    sys.exit(f"This example needs FastMCP 4: {missing}")

HERE = Path(__file__).resolve().parent
FASTMCP = str(Path(sys.executable).with_name("fastmcp"))
DENIED = "The user did not allow it."
Model = Callable[[Sequence[Any], Sequence[Any]], Awaitable[AIMessage]]
"""Answers a conversation, with the MCP tools that it may call."""
Executor = Callable[[str, Any], Awaitable[Any]]
"""Calls a tool by its name and arguments, and returns MCP's result."""
Approve = Callable[[str, Any], Awaitable[bool]]


class HttpServer:
    """The library of servers.py in a process of its own, over HTTP on a free port; its file is in the folder."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = int(probe.getsockname()[1])
        options = ["--transport", "http", "--port", str(self.port), "--no-banner", "--log-level", "ERROR"]
        self._command = [FASTMCP, "run", str(HERE / "servers.py:library"), *options]
        self._environment = {**os.environ, "LIBRARY_DB": str(folder / "library.db")}

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._process = subprocess.Popen(self._command, env=self._environment, stderr=subprocess.DEVNULL)  # noqa: S603
        for _ in range(600):
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            sleep(0.1)
        raise TimeoutError(self._command)

    def stop(self) -> None:
        """Stop it."""
        self._process.terminate()
        self._process.wait(20)

    @asynccontextmanager
    async def running(self, _: Any) -> AsyncIterator[None]:
        """Run it as long as the proxy runs."""
        await asyncio.to_thread(self.start)
        try:
            yield
        finally:
            self.stop()


def build(folder: Path, *, lenient: bool) -> FastMCP:
    """Make one server of the three in config.json."""
    library = HttpServer(folder)
    STARTED.append(library)
    config = json.loads((HERE / "config.json").read_text("utf-8"))
    for name in ("time", "math"):
        config[name].update(command=FASTMCP, cwd=str(HERE))
    config["library"]["url"] = f"http://127.0.0.1:{library.port}/mcp"
    make: Callable[..., FastMCP] = create_lenient_proxy if lenient else create_proxy
    return make({"mcpServers": config}, name="assistant", lifespan=library.running)


STARTED: list[HttpServer] = []


class GraphAgent:
    """A conversation that LangGraph runs.

    Args:
        model: What answers the messages.
        tools: The tools, as an MCP server lists them.
        approve: Asked once before each call of a destructive tool, unless the call is refused anyway.
    """

    def __init__(self, model: Model, tools: Sequence[Any], approve: Approve) -> None:
        self._model, self._approve = model, approve
        self._tools = {tool.name: tool for tool in tools}
        self._saver, self._denied = InMemorySaver(), frozenset[str]()

    async def reply(self, text: str, call: Executor) -> str:
        """Send a user's message to the model, run the tools it asks for, and return its answer.

        Raises:
            ModelError: When the model gives no answer.
        """
        graph = self._graph(call)
        thread: Any = {"configurable": {"thread_id": "1"}}
        news: Any = {"messages": [HumanMessage(text)]}
        for _ in range(talk.MOST_TURNS):
            last = (await graph.ainvoke(news, thread))["messages"][-1]
            if not last.tool_calls:
                return str(last.text)
            calls = [(one["id"], await self._allowed(one["name"], one["args"])) for one in last.tool_calls]
            self._denied = frozenset(key for key, is_allowed in calls if not is_allowed)
            news = None  # the graph goes on where it has stopped
        raise talk.ModelError(f"The model asked for tools {talk.MOST_TURNS} times without an answer.")

    async def _allowed(self, name: str, arguments: Any) -> bool:
        tool = self._tools[name].model_dump(by_alias=True) if name in self._tools else {}
        if not (tool.get("annotations") or {}).get("destructiveHint"):
            return True
        runs = not normalize(tool["inputSchema"], arguments, Policy(destructive=True)).violations
        return not runs or await self._approve(name, arguments)

    def _graph(self, call: Executor) -> Any:
        """Let the model and the tools take turns; the graph stops before each turn of the tools."""

        async def ask(state: MessagesState) -> dict[str, Any]:
            return {"messages": [await self._model(state["messages"], [*self._tools.values()])]}

        tools = ToolNode([to_langchain(tool, call) for tool in self._tools.values()])

        async def run(state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
            asked: Any = state["messages"][-1]
            allowed = [one for one in asked.tool_calls if one["id"] not in self._denied]
            denied = [ToolMessage(DENIED, tool_call_id=one, status="error") for one in sorted(self._denied)]
            news = {"messages": [asked.model_copy(update={"tool_calls": allowed})]}
            done = (await tools.ainvoke(news, config))["messages"] if allowed else []
            return {"messages": [*denied, *done]}

        graph = StateGraph(MessagesState)
        graph.add_node("model", ask).add_node("tools", run)
        graph.add_edge(START, "model").add_edge("tools", "model")
        graph.add_conditional_edges("model", tools_condition)
        return graph.compile(checkpointer=self._saver, interrupt_before=["tools"])


UNREAD = "text that is not a JSON object"
"""The key of such text in the arguments of a call, which LangChain keeps as an object."""


def as_object(written: str) -> dict[str, Any]:
    """Parse the arguments that a model wrote."""
    with suppress(ValueError):
        if isinstance(value := json.loads(written), dict):
            return value
    return {UNREAD: written}


async def chat_by_graph(server: FastMCP, name: str) -> None:
    """Answer each line that is typed with a model that LangGraph runs, until the input ends."""

    async def model(messages: Sequence[Any], tools: Sequence[Any]) -> AIMessage:
        asked: Any = convert_to_openai_messages(messages)
        told = (await asyncio.to_thread(talk.complete, name, asked, tools))["message"]
        calls: Any = [
            {
                "id": one["id"],
                "name": one["function"]["name"],
                "args": as_object(one["function"]["arguments"]),
            }
            for one in told.get("tool_calls") or ()
        ]
        return AIMessage(told.get("content") or "", tool_calls=calls)

    async def approve(tool: str, arguments: Any) -> bool:
        asked = f"{tool}({json.dumps(arguments, ensure_ascii=False)}) is destructive. Run it? [y/N] "
        return (await talk.ask(asked) or "").strip().casefold() in {"y", "yes", "是"}

    talk.configure(DATA)
    async with Client(server) as client:
        session = lenient_session(
            client, Policy(mode="off")
        )  # answers text that is cut off; the server repairs

        async def call(tool: str, arguments: Any) -> Any:
            sent = arguments.get(UNREAD, arguments)
            return talk.shown(tool, arguments, await session.call_tool_mcp(tool, sent))

        agent = GraphAgent(model, await client.list_tools(), approve)
        while (line := await talk.ask("you     ")) is not None:
            if not line.strip():
                continue
            try:
                print("answer ", await agent.reply(line, call))
            except talk.ModelError as error:
                print("answer ", error)


UNDERSTOOD = (
    "time in Europe/Lisbon; 6 times 7; (3 + 5) x 12; mean of 1, 4, 9; plot 1, 4, 9; what about TOPIC; keep Title: TEXT; "
    'keep "Longer title": TEXT; remove TITLE.'
)
ASKS = r"(?:(?:can you|what is|what's|calculate|compute|how much is) )*(?:the )?"
WORDS = "multiplied by|times|x|\u00d7|plus|minus|divided by|\u00f7"
SIGNS = dict(zip(WORDS.split("|"), "****+-//", strict=True))
TOKEN = re.compile(rf"\s*(?:(\d[\w.,]*)|((?:{WORDS})(?!\w)|\*\*|[-+*/^%()]))", re.IGNORECASE)
MOST_PARTS, LONGEST = 200, 80
WHOLE = "the tools add and multiply whole numbers in digits, such as 1000"


class UnreadError(Exception):
    """A part of a line is not understood; says which, and why."""

    def __init__(self, part: str, why: str = "") -> None:
        told = part if len(part) <= LONGEST else f"{part[:LONGEST]}..."
        super().__init__(f"I could not read {told!r}, so I did nothing{why and f': {why}'}.")


async def reply(line: str, call: talk.Call) -> str:
    """Answer a line without a model, if it is understood as a whole; numbers are sent as the texts that they are."""
    said = re.sub(r"^please,? |,? please$", "", line.strip().rstrip("?").rstrip(), flags=re.IGNORECASE)
    try:
        for pattern, answer in REPLIES:
            text = line.strip() if answer is _keep else said.rstrip(".")
            if found := re.fullmatch(pattern, text, re.IGNORECASE):
                return await answer(call, *found.groups())
    except UnreadError as unread:
        return f"{unread} I understand: {UNDERSTOOD}"
    return f"{UnreadError(line.strip())} I understand: {UNDERSTOOD}"


async def _time(call: talk.Call, place: str) -> str:
    if re.search(r"[,;]|\b(?:and|or|but|if)\b", place) or ("/" in place and " " in place):
        raise UnreadError(place, "say one place, such as Europe/Lisbon or New York")
    return str(await call("time_get_current_time", timezone=place.replace(" ", "_")))


async def _list(call: talk.Call, tool: str, items: str) -> str:
    if found := re.search(r"\d+(?:,\d+)+", items):
        raise UnreadError(
            found[0], "it may be one number or several; write 1000 or 1.5, or a space after each comma"
        )
    numbers = [item for item in re.split(r"\s*(?:,|\band\b)\s*|\s+", items) if item]
    for item in numbers:
        if not re.fullmatch(r"-?(?:0|[1-9]\d*)(?:\.\d+)?", item):
            raise UnreadError(item, "I read numbers in digits, such as 4, -1 or 2.5")
    name = "math_mean" if tool.casefold() in {"mean", "average"} else "math_plot"
    return str(await call(name, numbers=json.dumps([*map(float, numbers)])))


async def _operation(call: talk.Call, tool: str, a: str, b: str) -> str:
    return await _calculate(call, f"({a}) {'+' if tool.casefold() in {'add', 'sum'} else '*'} ({b})")


async def _calculate(call: talk.Call, said: str) -> str:
    """Compute sums and products, a call for each; there is no tool for anything else."""
    parts, at = list[str](), 0
    while at < len(said):
        if (found := TOKEN.match(said, at)) is None:
            raise UnreadError(re.findall(r"\w+|\S", said[at:])[0], WHOLE)
        if found[1] and not re.fullmatch(r"0|[1-9]\d*", found[1]):
            raise UnreadError(found[1], WHOLE)
        parts.append(found[1] or SIGNS.get(found[2].casefold(), found[2]))
        at = found.end()
    if len(parts) > MOST_PARTS:
        raise UnreadError(said, f"it has more than {MOST_PARTS} numbers and signs")
    try:
        tree = ast.parse(" ".join(parts), mode="eval").body
    except (SyntaxError, ValueError):
        raise UnreadError(said, WHOLE) from None
    if not _is_computed(tree):
        raise UnreadError(said, WHOLE)

    async def value(node: Any) -> str:
        if not isinstance(node, ast.BinOp):
            return ast.unparse(node)
        tool = "math_add" if isinstance(node.op, ast.Add) else "math_multiply"
        return str(await call(tool, a=await value(node.left), b=await value(node.right)))

    return await value(tree)


def _is_computed(node: Any) -> bool:
    """Return whether an expression is a whole number, or a sum or product of such."""
    if isinstance(node, ast.BinOp):
        parts = (node.left, node.right)
        return isinstance(node.op, ast.Add | ast.Mult) and all(map(_is_computed, parts))
    return isinstance(getattr(node, "operand", node), ast.Constant)


async def _keep(call: talk.Call, title: str, text: str) -> str:
    return f"{await call('library_keep', Title=title.strip(chr(34)), text=text)} Its text: {text}"


async def _remove(call: talk.Call, title: str) -> str:
    found = await call("library_retrieve", query=title, limit=20)
    titles = dict.fromkeys(one["title"] for one in found) if isinstance(found, list) else {}
    same = [each for each in titles if each.casefold() == title.strip('"').casefold()]
    if len(same) != 1:
        near = f" What is nearest: {', '.join(titles)}." if titles else ""
        return f"No document has the title {title!r}, so nothing was removed.{near}"
    return f"{await call('library_remove', titles=json.dumps(same))} removed."


async def _look_up(call: talk.Call, topic: str) -> str:
    documents = await call("library_retrieve", query=topic)
    asked = re.findall(r"(?!and\b|the\b|for\b)\b\w{3,}", topic.casefold())
    words = [word[: max(4, len(word) - 3)] for word in asked]
    found = [
        told
        for one in (documents if isinstance(documents, list) else ())
        if (told := f"{one['title']}: {one['text']}")
        and 3 * sum(word in told.casefold() for word in words) >= 2 * len(words)
    ]
    return "\n".join(found) or f"No document is about {topic!r}: none holds most of these words."


REPLIES: Sequence[tuple[str, Callable[..., Awaitable[str]]]] = (
    (r"keep (\"[^\"]+\"|[\w-]+):\s*(.+)", _keep),
    (r"(?:remove|delete) (.+)", _remove),
    (r"(?:what time is it |(?:what(?:'s| is) )?(?:the )?time )(?:in|at) (.+)", _time),
    (rf"{ASKS}(mean|average|plot|draw)(?: of)? (.*\d.*)", _list),
    (rf"{ASKS}(add|sum|multiply|product)(?: of)? (\S+) (?:and|to|by) (\S+)", _operation),
    (rf"{ASKS}((?:[(-]\s*)*\d.*)", _calculate),
    (r"(?:what about|what is|find|look up|search for) (.+)", _look_up),
)


mcp = build(DATA, lenient=True)


def main() -> None:
    """Run the example as the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chat", action="store_true", help="talk to it in the terminal; this is the default")
    parser.add_argument("--serve", action="store_true", help="serve over stdio")
    parser.add_argument(
        "--model", metavar="NAME", help="a model at OPENAI_BASE_URL answers; its key: OPENAI_API_KEY"
    )
    options = parser.parse_args()
    with talk.interruptible():
        if options.serve:
            mcp.run(show_banner=False)
        else:
            asyncio.run(chat_by_graph(mcp, options.model) if options.model else talk.chat(mcp, reply))


if __name__ == "__main__":
    main()
