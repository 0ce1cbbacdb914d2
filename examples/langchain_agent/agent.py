"""A LangGraph agent that uses three MCP servers, two over stdio and one over HTTP, which know nothing of mcp-lenient.

python examples/langchain_agent/agent.py               a chat in the terminal, without a model
python examples/langchain_agent/agent.py --model NAME  the LangGraph agent answers, with a model at OPENAI_BASE_URL
python examples/langchain_agent/agent.py --serve       the tools of all three over stdio, made lenient

config.json lists the servers; mcp-lenient is a proxy in front of them. The graph stops and asks the user before it runs
a destructive tool. It needs chat.py beside its folder, LangGraph, BM25S, and mcp-lenient with its extra `langchain`: in a
clone, pip install '.[langchain]' langgraph bm25s
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
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

import chat
from chat import DATA, Script, Talk
from langchain_agent import servers
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
        Path(self._environment["LIBRARY_DB"]).parent.mkdir(parents=True, exist_ok=True)
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
    behind = (servers.time, servers.math, servers.library)
    instructions = "\n".join(f"{server.name}: {server.instructions}" for server in behind)
    behind_proxy = {"mcpServers": config}
    return make(behind_proxy, name="assistant", instructions=instructions, lifespan=library.running)


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
        for _ in range(chat.MOST_TURNS):
            last = (await graph.ainvoke(news, thread))["messages"][-1]
            if not last.tool_calls:
                return str(last.text)
            calls = [(one["id"], await self._allowed(one["name"], one["args"])) for one in last.tool_calls]
            self._denied = frozenset(key for key, is_allowed in calls if not is_allowed)
            news = None  # the graph goes on where it has stopped
        raise chat.ModelError(f"The model asked for tools {chat.MOST_TURNS} times without an answer.")

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


TEXT = "arguments of a call as text"
"""LangChain takes an object alone, so that other text is wrapped until it is sent."""


def as_object(written: str) -> dict[str, Any]:
    """Parse the arguments that a model wrote."""
    with suppress(ValueError):
        if isinstance(value := json.loads(written), dict):
            return value
    return {TEXT: written}


async def chat_by_graph(server: FastMCP, name: str) -> None:
    """Answer each line that is typed with a model that LangGraph runs, until the input ends."""

    async def model(messages: Sequence[Any], tools: Sequence[Any]) -> AIMessage:
        asked: Any = convert_to_openai_messages(messages)
        message = chat.message_of(await asyncio.to_thread(chat.complete, name, asked, tools))
        asked_for = [(call["id"], call["function"]) for call in message.get("tool_calls") or ()]
        calls: Any = [{"id": call_id, "name": function["name"], "args": as_object(function["arguments"])}
                      for call_id, function in asked_for]  # fmt: skip
        return AIMessage(message.get("content") or "", tool_calls=calls)

    chat.configure(DATA)
    async with Client(server) as client:
        # The session answers text that is cut off; the server repairs.
        session, talk = lenient_session(client, Policy(mode="off")), Talk(client)

        async def call(tool: str, arguments: Any) -> Any:
            sent = arguments.get(TEXT, arguments)
            return chat.shown(tool, sent, await session.call_tool_mcp(tool, sent))

        agent = GraphAgent(model, await client.list_tools(), partial(chat.allowed, talk))

        async def reply(line: str, talk: Talk) -> str:
            talk.line = line
            return await agent.reply(line, call)

        await chat.converse(talk, reply)


# --- The chat: what the stand-in for a model understands; it sends numbers as the texts that they are ------------


async def _time(talk: Talk, place: str) -> str:
    return str(await talk.call("time_get_current_time", timezone=place.replace(" ", "_")))


async def _calculate(talk: Talk, tool: str, **sent: str) -> str:
    lists = {name: re.sub(" and |[、，和]", ", ", text) for name, text in sent.items()}
    return str(await talk.call(f"math_{tool}", **lists))


async def _keep(talk: Talk, title: str, text: str) -> str:
    return f"{await talk.call('library_keep', Title=title, text=text)} {text}"


async def _remove(talk: Talk, title: str) -> str:
    gone = await talk.call("library_remove", titles=json.dumps([title]))
    if str(gone) != "0":
        return talk.say(f"{title} is removed.", f"{title} 已删除。")
    return talk.say(f"No document has the title {title!r}.", f"没有标题为 {title} 的文档。")


async def _look_up(talk: Talk, words: str) -> str:
    documents = await talk.call("library_retrieve", query=words)
    lines = [f"{one['title']}: {one['text']}" for one in (documents if isinstance(documents, list) else ())]
    return "\n".join(lines) or talk.say(f"No document is about {words!r}.", f"没有关于 {words} 的文档。")


script = Script(
    {
        "time in {place} | what time is it in {place} | {place}现在几点 | {place}的时间": _time,
        "{a} times {b} | what is {a} times {b} | multiply {a} by {b} | {a} x {b} | {a} * {b} | {a}乘以{b} | {a}乘{b}": partial(_calculate, tool="multiply"),
        "{a} plus {b} | what is {a} plus {b} | add {a} and {b} | {a} + {b} | {a}加{b}": partial(_calculate, tool="add"),
        "mean of {numbers} | [what is ]the mean of {numbers} | average of {numbers} | {numbers}的平均数": partial(_calculate, tool="mean"),
        "plot {numbers} | draw {numbers} | 画出{numbers} | 画{numbers}": partial(_calculate, tool="plot"),
        "keep {title}: {text} | 保存{title}:{text} | 保存{title}：{text}": _keep,
        "remove {title} | delete {title} | 删除{title}": _remove,
        "what about {words} | look up {words} | search for {words} | find {words} | 查找{words} | 查{words}": _look_up,
    },
    place=r" ?(?:[A-Za-z_]+/[A-Za-z_/-]+|[A-Za-z]+(?: [A-Za-z]+){0,2}) ?",
    a=r" ?-?\d[\d.,]* ?",
    b=r" ?-?\d[\d.,]* ?",
    numbers=r" ?-?\d[\d.,]*(?:(?:, ?and |, ?| and |[、，和])-?\d[\d.,]*)* ?",
    title=r"[^:：]+?",
    words=r".*[^?？.。\s]",
)  # fmt: skip

mcp = build(DATA, lenient=True)

if __name__ == "__main__":
    options = chat.arguments_parser().parse_args()
    if options.model and not options.serve:
        with chat.interruptible():
            asyncio.run(chat_by_graph(mcp, options.model))
    else:
        chat.run(mcp, script.reply, options)
