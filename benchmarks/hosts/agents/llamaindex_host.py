"""Send the calls through a LlamaIndex agent, and print the answers.

Runs in its own environment.
"""

# mypy: ignore-errors

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import Any

from llama_index.core.agent.workflow import ToolCallResult
from llama_index.core.base.llms.types import TextBlock, ToolCallBlock
from llama_index.core.llms import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.tools import ToolOutput

from benchmarks.hosts.agents.driver import Talking, names_of


def _text(output: ToolOutput) -> str:
    """Return the text of a result, which LlamaIndex passes to the model as Python's text of the whole result."""
    return output.raw_output.content[0].text if hasattr(output.raw_output, "content") else output.content


@asynccontextmanager
async def talking(url: str) -> Talking:
    """Yield a function that makes the model call a tool."""
    script: list[Any] = []

    def answer(messages: list[ChatMessage], **_: Any) -> ChatMessage:
        if messages[-1].role == "tool":
            return ChatMessage(role="assistant", blocks=[TextBlock(text="done")])
        tool, arguments = script
        call = ToolCallBlock(tool_call_id="1", tool_name=tool, tool_kwargs=arguments)
        return ChatMessage(role="assistant", blocks=[call])

    model = MockFunctionCallingLLM(response_generator=answer)
    agent = await names_of("agent-frameworks", "LlamaIndex", url, model=model)["connect"]()

    async def say(tool: str, arguments: Any) -> str:
        script[:] = [tool, arguments]
        running = agent.run("Go on.")
        results = [event async for event in running.stream_events() if isinstance(event, ToolCallResult)]
        await running
        return _text(results[-1].tool_output)

    yield say
