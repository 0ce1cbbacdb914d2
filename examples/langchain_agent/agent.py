"""A LangGraph agent that uses three MCP servers, two over stdio and one over HTTP, which know nothing of mcp-lenient.

python examples/langchain_agent/agent.py            a transcript; the HTTP server is started, and restarted in the middle
python examples/langchain_agent/agent.py --serve    the tools of all three over stdio, made lenient

config.json lists the servers; mcp-lenient is a proxy in front of them. The graph stops and asks the user before it runs
a destructive tool.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from time import sleep
from typing import Any
from uuid import uuid4

from fastmcp import FastMCP
from fastmcp.server import create_proxy
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from mcp.types import CallToolResult, Tool

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where this file is run or loaded by its path

from mcp_lenient import create_lenient_proxy
from mcp_lenient.adapters.langchain import to_langchain
from shared.agent import ENDLESS, MOST_TURNS, Executor, Model, ModelError, object_input, said
from shared.transcript import DATA, Call, Scene, run_example

HERE = Path(__file__).resolve().parent
FASTMCP = str(Path(sys.executable).with_name("fastmcp"))
DENIED = "The user did not allow it."
Approve = Callable[[str, Any], bool]


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


def approved(tool: str, arguments: Any) -> bool:
    """Say yes for the user of the transcript; an agent of your own asks its user here."""
    print(f"guard   {tool}({json.dumps(arguments, ensure_ascii=False)}) deletes data. Run it? yes")
    return True


class GraphAgent:
    """A conversation that LangGraph runs; ``approve`` is asked before a tool that says it is destructive."""

    def __init__(self, model: Model, tools: Sequence[Tool], approve: Approve = approved) -> None:
        self._model, self._tools, self._approve = model, tools, approve
        self._saver = InMemorySaver()

    def chat(self, text: str, *, mcp_executor: Executor) -> str:
        """Send a user's message to the model, run the tools it asks for, and return its answer."""
        return asyncio.run(self._chat(text, mcp_executor))

    async def _chat(self, text: str, executor: Executor) -> str:
        one_by_one = asyncio.Lock()

        async def call(name: str, arguments: Any) -> CallToolResult:
            async with one_by_one:
                result: CallToolResult = await asyncio.to_thread(executor, name, arguments)
            return result

        tools = [to_langchain(tool, call) for tool in self._tools]
        graph = self._graph(tools)
        guarded = {tool.name for tool in tools if (tool.metadata or {}).get("destructiveHint")}
        thread: Any = {"configurable": {"thread_id": "1"}}
        news: Any = {"messages": [HumanMessage(text)]}
        for _ in range(MOST_TURNS):
            last = (await graph.ainvoke(news, thread))["messages"][-1]
            if not last.tool_calls:
                return str(last.text)
            asked = [one for one in last.tool_calls if one["name"] in guarded]
            if not all(self._approve(one["name"], one["args"]) for one in asked):
                ids = [one["id"] for one in last.tool_calls]
                answers = [ToolMessage(DENIED, tool_call_id=one, status="error") for one in ids]
                await graph.aupdate_state(thread, {"messages": answers}, as_node="tools")
            news = None  # the graph goes on where it has stopped
        raise ModelError(ENDLESS)

    def _graph(self, tools: Sequence[BaseTool]) -> Any:
        """Let the model and the tools take turns; the graph stops before each turn of the tools."""
        graph = StateGraph(MessagesState)
        graph.add_node("model", self._ask).add_node("tools", ToolNode(tools))
        graph.add_edge(START, "model").add_edge("tools", "model")
        graph.add_conditional_edges("model", tools_condition)
        return graph.compile(checkpointer=self._saver, interrupt_before=["tools"])

    def _ask(self, state: MessagesState) -> dict[str, Any]:
        content = self._model(state["messages"], self._tools)["content"]
        calls: Any = [
            {"name": use["name"], "args": object_input(use["input"]), "id": use.get("id") or uuid4().hex}
            for use in content
            if use["type"] == "tool_use"
        ]
        return {"messages": [AIMessage(said(content), tool_calls=calls)]}


def restarted(arguments: dict[str, Any]) -> dict[str, Any]:
    """Restart the HTTP server, then send these arguments."""
    STARTED[-1].stop()
    STARTED[-1].start()
    print("server  the library server was restarted")
    return arguments


SCENES = [
    Scene("What time is it in Lisbon and in Seoul?",
        [
            Call("time_get_current_time", {"args": {"timezone": "Europe/Lisbon"}}, "unwrap_arguments", gives="in Europe/Lisbon"),
            Call("time_get_current_time", {"timezone": None, "toolCallId": "call_1"}, "null_to_absent drop_injected", gives="in Asia/Seoul"),
        ],
        answer="It is eight or nine hours later in Seoul than in Lisbon."),
    Scene("What is 6 by 7, and the mean of 1, 4, 9 and 16? Draw them.",
        Call("math_multiply", {"a": "6", "b": [7]}, "text_to_integer array_to_scalar", gives="42"),
        Call("math_mean", {"numbers": "[1, 4, 9, 16]"}, "json_text_to_array", gives="7.5"),
        Call("math_plot", {"numbers": "1, 4, 9, 16"}, "delimited_text_to_array", gives="4 bars"),
        Call("math_mean", {"numbers": "a few"}, "INVALID_NUMBERS_TYPE"),
        answer="42 and 7.5; the picture shows four bars."),
    Scene("What happens to a call that can be read two ways? Keep a note for me.",
        Call("library_retrieve", {"query": "call with two readings refused", "limit": "2"}, "text_to_integer", gives="readings"),
        Call("library_keep", {"Title": "My note", "text": "A tie is refused, and both readings are named."}, "rename_case",
             gives="My note is kept."),
        answer="It is refused, and both readings are named. I kept a note."),
    Scene("Is my note still there?",
        Call("library_retrieve", lambda _: restarted({"query": "my note", "limit": [1]}), "array_to_scalar", gives="My note"),
        answer="It is."),
    Scene("Then remove it.",
        Call("library_remove", {"titles": "My note"}, "INVALID_TITLES_TYPE"),
        Call("library_remove", {"titles": '["My note"]'}, "json_text_to_array", gives="1"),
        answer="It is gone."),
]  # fmt: skip

mcp = build(DATA, lenient=True)

if __name__ == "__main__":
    sys.exit(run_example("LangChain agent", build, SCENES, agent=GraphAgent))
