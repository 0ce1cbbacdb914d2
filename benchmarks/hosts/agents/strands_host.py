"""Send the calls through a Strands agent, and print the answers.

Runs in its own environment.
"""

# mypy: ignore-errors

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from strands.models import Model

from benchmarks.hosts.agents.driver import Talking, names_of


class Script(Model):
    """A model that calls one tool and records what it receives."""

    def __init__(self) -> None:
        self.call: tuple[str, Any] = ("", None)
        self.received: list[str] = []

    def update_config(self, **_: Any) -> None:
        """Ignore the configuration."""

    def get_config(self) -> dict[str, Any]:
        """Return an empty configuration."""
        return {}

    def structured_output(self, *_: Any, **__: Any) -> Any:
        """Raise an error: structured output is not used."""
        raise NotImplementedError

    async def stream(self, messages: list[Any], *_: Any, **__: Any) -> AsyncIterator[dict[str, Any]]:
        """Answer with the call first, then with a text."""
        result = messages[-1]["content"][0].get("toolResult")
        start, delta, reason = {}, {"text": "done"}, "end_turn"
        if result is not None:
            self.received.append(result["content"][0]["text"])
        else:
            tool, arguments = self.call
            start = {"toolUse": {"name": tool, "toolUseId": "1"}}
            delta, reason = {"toolUse": {"input": json.dumps(arguments)}}, "tool_use"
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": start}}
        yield {"contentBlockDelta": {"delta": delta}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": reason}}


@asynccontextmanager
async def talking(url: str) -> Talking:
    """Yield a function that makes the model call a tool."""
    model = Script()
    names = names_of("agent-frameworks", "Strands", url, model=model)

    async def say(tool: str, arguments: Any) -> str:
        model.call = (tool, arguments)
        await names["agent"].invoke_async("Go on.")
        return model.received[-1]

    yield say
    names["notes"].stop(None, None, None)
