"""Send the calls through a Haystack agent, and print the answers.

Runs in its own environment.
"""

# mypy: ignore-errors

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import Any

from haystack import component
from haystack.dataclasses import ChatMessage, ToolCall

from benchmarks.hosts.agents.driver import Talking, names_of


@component
class Script:
    """A model that calls one tool and records what it receives."""

    def __init__(self) -> None:
        self.call: tuple[str, Any] = ("", None)
        self.received: list[str] = []

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: Any = None, **_: Any) -> dict[str, Any]:  # noqa: ARG002 - Haystack asks for it
        """Answer with the call first, then with a text."""
        result = messages[-1].tool_call_result
        if result is not None:
            self.received.append(_text(result.result))
            return {"replies": [ChatMessage.from_assistant("done")]}
        tool, arguments = self.call
        return {"replies": [ChatMessage.from_assistant(tool_calls=[ToolCall(tool, arguments, "1")])]}


def _text(result: str) -> str:
    """Return the text of a result, which Haystack passes to the model as the whole result in JSON."""
    read = json.loads(result) if result.startswith("{") else {}
    return read["content"][0]["text"] if "content" in read else result


@asynccontextmanager
async def talking(url: str) -> Talking:
    """Yield a function that makes the model call a tool."""
    model = Script()
    names = await asyncio.to_thread(names_of, "agent-frameworks", "Haystack", url, model=model)

    async def say(tool: str, arguments: Any) -> str:
        model.call = (tool, arguments)
        await asyncio.to_thread(names["agent"].run, messages=[ChatMessage.from_user("Go on.")])
        return model.received[-1]

    yield say
    names["notes"].close()
