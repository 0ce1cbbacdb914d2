"""Send the calls through an OpenAI Agents SDK agent, and print the answers.

Runs in its own environment.
"""

# mypy: ignore-errors

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import Any

from agents import Model, ModelResponse, Runner, Usage, set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from benchmarks.hosts.agents.driver import Talking, names_of


class Script(Model):
    """A model that calls one tool and records what it receives."""

    def __init__(self) -> None:
        self.call: tuple[str, Any] = ("", None)
        self.received: list[str] = []

    async def get_response(self, *_: Any, **request: Any) -> ModelResponse:
        """Answer with the call first, then with a text."""
        given = request["input"]
        last = given[-1] if isinstance(given, list) else {}
        if last.get("type") == "function_call_output":
            output = last["output"]
            self.received.append(output if isinstance(output, str) else output[0]["text"])
            text = ResponseOutputText(text="done", type="output_text", annotations=[])
            said = ResponseOutputMessage(
                id="1", type="message", role="assistant", status="completed", content=[text]
            )
        else:
            tool, arguments = self.call
            said = ResponseFunctionToolCall(
                name=tool, arguments=json.dumps(arguments), call_id="1", type="function_call"
            )
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        """Raise an error: streaming is not used."""
        raise NotImplementedError


@asynccontextmanager
async def talking(url: str) -> Talking:
    """Yield a function that makes the model call a tool."""
    set_tracing_disabled(disabled=True)
    model = Script()
    names = names_of("agent-frameworks", "OpenAI Agents SDK", url, model=model)

    async def say(tool: str, arguments: Any) -> str:
        model.call = (tool, arguments)
        await Runner.run(names["agent"], "Go on.")
        return model.received[-1]

    async with names["notes"]:
        yield say
