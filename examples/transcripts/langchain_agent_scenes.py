"""Conversations of the LangGraph agent with its three servers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage
from mcp.types import Tool

from langchain_agent import agent
from transcripts.agent import Model, said
from transcripts.play import Call, Scene, Transcript


class ScriptedAgent(agent.GraphAgent):
    """The LangGraph agent with a scripted model, and a user who allows everything."""

    def __init__(self, model: Model, tools: Sequence[Tool]) -> None:
        async def answer(messages: Sequence[Any], tools: Sequence[Any]) -> AIMessage:
            content = model(messages, tools)["content"]
            uses = [use for use in content if use["type"] == "tool_use"]
            calls: Any = [{"name": use["name"], "args": use["input"], "id": uuid4().hex} for use in uses]
            return AIMessage(said(content), tool_calls=calls)

        super().__init__(answer, tools, approved)

    def chat(self, text: str, *, mcp_executor: Callable[[str, Any], Any]) -> str:
        """Send a user's message to the model, run the tools it asks for, and return its answer."""
        one_by_one = asyncio.Lock()

        async def call(name: str, arguments: Any) -> Any:
            async with one_by_one:
                return await asyncio.to_thread(mcp_executor, name, arguments)

        return asyncio.run(self.reply(text, call))


async def approved(tool: str, arguments: Any) -> bool:
    """Say yes for the user of the transcript."""
    print(f"guard   {tool}({json.dumps(arguments, ensure_ascii=False)}) is destructive. Run it? yes")
    return True


def restarted(arguments: dict[str, Any]) -> dict[str, Any]:
    """Restart the HTTP server, then send these arguments."""
    agent.STARTED[-1].stop()
    agent.STARTED[-1].start()
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


TRANSCRIPT = Transcript("LangChain agent", agent.__doc__ or "", agent.build, SCENES, agent=ScriptedAgent)
