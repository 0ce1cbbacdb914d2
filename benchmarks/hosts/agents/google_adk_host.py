"""Send the calls through a Google ADK agent, and print the answers.

Runs in its own environment.
"""

# mypy: ignore-errors

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai.types import Content, FunctionCall, Part
from pydantic import Field

from benchmarks.hosts.agents.driver import Talking, names_of


class Script(BaseLlm):
    """A model that calls one tool and records what it receives."""

    tool: str = ""
    arguments: Any = None
    received: list[Any] = Field(default_factory=list)

    async def generate_content_async(
        self, llm_request: LlmRequest, *_: Any, **__: Any
    ) -> AsyncIterator[LlmResponse]:
        """Answer with the call first, then with a text."""
        response = llm_request.contents[-1].parts[0].function_response
        if response is not None:
            self.received.append(response.response)
            said = Part(text="done")
        else:
            said = Part(function_call=FunctionCall(name=self.tool, args=self.arguments))
        yield LlmResponse(content=Content(role="model", parts=[said]))


@asynccontextmanager
async def talking(url: str) -> Talking:
    """Yield a function that makes the model call a tool."""
    logging.disable(logging.WARNING)
    model = Script(model="script")
    names = names_of("agent-frameworks", "Google ADK", url, model=model)
    runner = InMemoryRunner(agent=names["agent"])

    async def say(tool: str, arguments: Any) -> str:
        model.tool, model.arguments = tool, arguments
        await runner.run_debug("Go on.", quiet=True)
        received = model.received[-1]
        return received["content"][0]["text"] if "content" in received else str(received)

    yield say
    await names["notes"].close()
