"""The agent loop: a model asks for tools, and reads what they answer.

A message and a response have the form of Anthropic's Messages API: a response is
``{"stop_reason": "tool_use", "content": [{"type": "tool_use", "id": ..., "name": ..., "input": {...}}]}``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from mcp.types import CallToolResult, TextContent, Tool

Message = dict[str, Any]
Response = dict[str, Any]
Model = Callable[[Sequence[Any], Sequence[Tool]], Response]
Executor = Callable[[str, Any], Any]

MOST_TURNS = 20
ENDLESS = f"The model asked for tools {MOST_TURNS} times without an answer."


class ModelError(Exception):
    """A model asks for tools without end."""


@dataclass
class Agent:
    """A conversation between a user, a model and the tools that the model may call.

    Args:
        model: What answers the messages.
        tools: The tools, as an MCP server lists them.
        messages: What was said so far.
    """

    model: Model
    tools: Sequence[Tool] = ()
    messages: list[Message] = field(default_factory=list)
    _ids: Iterator[int] = field(default_factory=lambda: count(1), repr=False)

    def chat(self, text: str, *, mcp_executor: Executor) -> str:
        """Send a user's message to the model, run the tools it asks for, and return its answer.

        ``mcp_executor`` is called with the name and the input of each call, as the model wrote them. What it raises is
        the result of this call, so that each call has one.
        """
        self.messages.append({"role": "user", "content": text})
        for _ in range(MOST_TURNS):
            response = self.model(self.messages, self.tools)
            whole = response["stop_reason"] == "tool_use"  # calls of a cut-off answer may be cut off
            content = [block for block in response["content"] if whole or block["type"] != "tool_use"]
            uses = [block for block in content if block["type"] == "tool_use"]
            for use in uses:  # a result has to name its call
                use["id"] = use.get("id") or f"toolu_{next(self._ids):02}"
            self.messages.append({"role": "assistant", "content": content})
            if not uses:
                return said(content)
            results = [_tool_result(use, mcp_executor) for use in uses]
            self.messages.append({"role": "user", "content": results})
        raise ModelError(ENDLESS)


def said(content: Sequence[dict[str, Any]]) -> str:
    """Return the text of a response's content."""
    return "".join(block["text"] for block in content if block["type"] == "text")


def _tool_result(use: dict[str, Any], executor: Executor) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": use["id"]}
    try:
        answer = executor(use["name"], use["input"])
    except Exception as error:  # noqa: BLE001 - a model's API refuses a conversation in which a call has no result
        return {**block, "content": f"The call failed: {error}", "is_error": True}
    if isinstance(answer, CallToolResult):
        return {**block, "content": text_of(answer), "is_error": answer.is_error}
    return {**block, "content": json.dumps(answer, ensure_ascii=False)}


def text_of(result: CallToolResult) -> str:
    """Join the text blocks of a result."""
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))
