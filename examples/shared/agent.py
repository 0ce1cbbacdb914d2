"""The agent loop, and the models that can drive it: a scripted one, or any that LangChain knows.

A message and a response have the form of Anthropic's Messages API: a response is
``{"stop_reason": "tool_use", "content": [{"type": "tool_use", "id": ..., "name": ..., "input": {...}}]}``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from mcp.types import CallToolResult, TextContent, Tool

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

Message = dict[str, Any]
Response = dict[str, Any]
Model = Callable[[Sequence[Any], Sequence[Tool]], Response]
Executor = Callable[[str, Any], Any]

MOST_TURNS = 20
ENDLESS = f"The model asked for tools {MOST_TURNS} times without an answer."


class ModelError(Exception):
    """A model cannot be used, gives no answer or asks for tools without end; says why in one line."""


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

        ``mcp_executor`` is called with the name and the input of each call, as the model wrote them.
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
            results = [_tool_result(use["id"], mcp_executor(use["name"], use["input"])) for use in uses]
            self.messages.append({"role": "user", "content": results})
        raise ModelError(ENDLESS)


def said(content: Sequence[dict[str, Any]]) -> str:
    """Return the text of a response's content."""
    return "".join(block["text"] for block in content if block["type"] == "text")


def _tool_result(use_id: str, answer: Any) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": use_id}
    if isinstance(answer, CallToolResult):
        return {**block, "content": text_of(answer), "is_error": answer.is_error}
    return {**block, "content": json.dumps(answer, ensure_ascii=False)}


def text_of(result: CallToolResult) -> str:
    """Join the text blocks of a result."""
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


def langchain_model(name: str, system: str) -> Model:
    """Return a real model as LangChain finds it by name, such as ``anthropic:claude-sonnet-4-5``.

    Raises:
        ModelError: When LangChain, the provider's package or the key is missing.
    """
    try:
        from langchain.chat_models import init_chat_model

        return from_langchain(init_chat_model(name), system)
    except Exception as error:  # each provider raises its own where a key is missing
        needs = "`pip install langchain`, the provider's package and a key in the environment"
        raise ModelError(f"{name} cannot be used ({_first_line(error)}). It needs {needs}.") from error


def from_langchain(chat: BaseChatModel, system: str) -> Model:
    """Let a LangChain chat model drive the loop, with a system prompt."""
    from langchain_core.messages.utils import convert_to_openai_messages

    def model(messages: Sequence[Any], tools: Sequence[Tool]) -> Response:
        offered = [
            {"name": tool.name, "description": tool.description or "", "input_schema": tool.input_schema}
            for tool in tools
        ]
        prompt = [{"role": "system", "content": system}] if system else []
        history = convert_to_openai_messages([*prompt, *messages])
        try:
            answer = (chat.bind_tools(offered) if offered else chat).invoke(history)
        except Exception as error:  # each provider raises its own
            raise ModelError(f"The model gave no answer: {_first_line(error)}") from error
        calls = [
            {"type": "tool_use", "id": call["id"], "name": call["name"], "input": object_input(call["args"])}
            for call in (*answer.tool_calls, *answer.invalid_tool_calls)
        ]
        # Providers refuse a conversation with an empty message.
        text = str(answer.text) or ("" if calls else "(no answer)")
        blocks = [{"type": "text", "text": text}] if text else []
        return {"stop_reason": "tool_use" if calls else "end_turn", "content": [*blocks, *calls]}

    return model


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def object_input(sent: Any) -> dict[str, Any]:
    """Return a call's input as LangChain wants it: an object, even if the model wrote a text that is not one."""
    return sent if isinstance(sent, dict) else {"arguments": sent}
