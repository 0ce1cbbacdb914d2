"""Send the calls through a CrewAI agent, and print the answers.

Runs in its own environment.
"""

# mypy: ignore-errors

from __future__ import annotations

import asyncio
import json
import os
from contextlib import asynccontextmanager
from typing import Any

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false"}

from crewai import BaseLLM
from pydantic import Field

from benchmarks.hosts.agents.driver import Talking, names_of


class Script(BaseLLM):
    """A model that calls one tool and records what it receives."""

    sent: tuple[str, Any] = ("", None)
    received: list[str] = Field(default_factory=list)

    def supports_function_calling(self) -> bool:
        """Return whether calls are blocks instead of text."""
        return True

    def call(self, messages: Any, *_: Any, **__: Any) -> Any:
        """Answer with the call first, then with a text."""
        if messages[-1]["role"] == "tool":
            self.received.append(messages[-1]["content"])
            return "done"
        tool, arguments = self.sent
        function = {"name": tool, "arguments": json.dumps(arguments)}
        return [{"id": "1", "type": "function", "function": function}]


@asynccontextmanager
async def talking(url: str) -> Talking:
    """Yield a function that makes the model call a tool."""
    model = Script(model="script")
    names = names_of("agent-frameworks", "CrewAI", url, model=model)

    async def say(tool: str, arguments: Any) -> str:
        model.sent = (tool, arguments)
        await asyncio.to_thread(names["agent"].kickoff, "Go on.")
        return model.received[-1]

    yield say
    names["notes"].stop()
