"""Send the calls through a Pydantic AI agent, and print the answers.

Runs in its own environment.
"""

# mypy: ignore-errors

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import Any

from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from benchmarks.hosts.agents.driver import Talking, names_of


@asynccontextmanager
async def talking(url: str) -> Talking:
    """Yield a function that makes the model call a tool."""
    received: list[str] = []
    script: list[Any] = []

    def answer(messages: list[Any], _info: object) -> ModelResponse:
        (part,) = messages[-1].parts
        if part.part_kind == "tool-return":
            received.append(part.model_response_str())
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(parts=[ToolCallPart(*script)])

    agent = names_of("agent-frameworks", "Pydantic AI", url, model=FunctionModel(answer))["agent"]

    async def say(tool: str, arguments: Any) -> str:
        script[:] = [tool, json.dumps(arguments)]
        await agent.run("Go on.")
        return received[-1]

    async with agent:
        yield say
