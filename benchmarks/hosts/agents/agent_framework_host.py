"""Send the calls through an agent of Microsoft's agent-framework, and print the answers.

Runs in its own environment.
"""

# mypy: ignore-errors

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import Any

from agent_framework import BaseChatClient, ChatResponse, Content, FunctionInvocationLayer, Message

from benchmarks.hosts.agents.driver import Talking, names_of


class Script(FunctionInvocationLayer, BaseChatClient):
    """A model that calls one tool and records what it receives."""

    call: Content
    received: str = ""

    async def _inner_get_response(self, *, messages: list[Message], **_: Any) -> ChatResponse:
        part = messages[-1].contents[-1]
        if part.type == "function_result":
            self.received = part.result
            return ChatResponse(messages=[Message("assistant", [Content.from_text("done")])])
        return ChatResponse(messages=[Message("assistant", [self.call])])


@asynccontextmanager
async def talking(url: str) -> Talking:
    """Yield a function that makes the model call a tool."""
    model = Script()
    agent = names_of("agent-frameworks", "Microsoft agent-framework", url, model=model)["agent"]

    async def say(tool: str, arguments: Any) -> str:
        model.call = Content.from_function_call("1", tool, arguments=json.dumps(arguments))
        await agent.run("Go on.")
        return model.received

    async with agent:
        yield say
