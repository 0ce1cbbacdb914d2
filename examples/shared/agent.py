"""The agent loop, and the models that can drive it: a scripted one, or any that LangChain knows.

A message and a response have the form of Anthropic's Messages API: a response is
``{"stop_reason": "tool_use", "content": [{"type": "tool_use", "id": ..., "name": ..., "input": {...}}]}``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from mcp.types import CallToolResult, TextContent

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

Message = dict[str, Any]
Response = dict[str, Any]
Definition = dict[str, Any]
Model = Callable[[list[Message], Sequence[Definition]], Response]
Executor = Callable[[str, Any], Any]

MOST_TURNS = 20


class ToolUse(NamedTuple):
    """One call that a model asks for."""

    id: str
    name: str
    input: Any


def extract_tool_uses(response: Response) -> list[ToolUse]:
    """Read the calls of a whole response; none where the model asks for none or was cut off."""
    if response["stop_reason"] != "tool_use":
        return []
    blocks = [block for block in response["content"] if block["type"] == "tool_use"]
    return [ToolUse(block["id"], block["name"], block["input"]) for block in blocks]


def tool_result(use: ToolUse, answer: Any) -> dict[str, Any]:
    """Write what a tool answered as the block that the model expects, under the id of the call."""
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": use.id}
    if isinstance(answer, CallToolResult):
        return {**block, "content": text_of(answer), "is_error": answer.is_error}
    return {**block, "content": json.dumps(answer, ensure_ascii=False)}


def text_of(result: CallToolResult) -> str:
    """Join the text blocks of a result."""
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


@dataclass
class Agent:
    """A conversation between a user, a model and tools.

    Args:
        model: What answers the messages.
        tools: The tools that the model may call: name, description and input_schema of each.
        messages: What was said so far.
    """

    model: Model
    tools: Sequence[Definition] = ()
    messages: list[Message] = field(default_factory=list)
    _ids: Iterator[int] = field(default_factory=lambda: count(1), repr=False)

    def chat(self, text: str, *, mcp_executor: Executor) -> str:
        """Hand a user's message to the model, run the tools it asks for, and return its answer.

        Args:
            text: What the user says.
            mcp_executor: Called with the name and the input of each call; it passes them on as they are.

        Raises:
            RuntimeError: When the model asks for tools without end.
        """
        self.messages.append({"role": "user", "content": text})
        for _ in range(MOST_TURNS):
            response = self._ask()
            uses = extract_tool_uses(response)
            if not uses:
                return "".join(block["text"] for block in response["content"] if block["type"] == "text")
            results = [tool_result(use, mcp_executor(use.name, use.input)) for use in uses]
            self.messages.append({"role": "user", "content": results})
        msg = f"The model asked for tools {MOST_TURNS} times without an answer."
        raise RuntimeError(msg)

    def _ask(self) -> Response:
        """Ask the model; a call without an id is given one, since its result has to name it."""
        response = self.model(self.messages, self.tools)
        content = [
            {**block, "id": f"toolu_{next(self._ids):02}"}
            if block["type"] == "tool_use" and not block.get("id")
            else block
            for block in response["content"]
        ]
        self.messages.append({"role": "assistant", "content": content})
        return {**response, "content": content}


def earlier_results(messages: Sequence[Message]) -> list[Any]:
    """Return what the tools have answered since the user last spoke, read where it is JSON; None for an error."""
    results: list[Any] = []
    for message in messages:
        if message["role"] == "user":
            results = [] if isinstance(message["content"], str) else results + message["content"]
    return [None if result.get("is_error") else _read(result["content"]) for result in results]


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def langchain_model(name: str, system: str) -> Model:
    """Return a real model as LangChain finds it by name, such as ``anthropic:claude-sonnet-4-5``.

    Raises:
        RuntimeError: When LangChain, the provider's package or the key is missing.
    """
    try:
        from langchain.chat_models import init_chat_model

        return from_langchain(init_chat_model(name), system)
    except Exception as error:  # each provider raises its own where a key is missing
        msg = f"{name} cannot be used ({error}). It needs `pip install langchain`, the provider's package and a key."
        raise RuntimeError(msg) from error


def from_langchain(chat: BaseChatModel, system: str) -> Model:
    """Let a LangChain chat model drive the loop.

    Args:
        chat: The model.
        system: What it is told first.
    """
    from langchain_core.messages import SystemMessage

    def model(messages: list[Message], tools: Sequence[Definition]) -> Response:
        told = [each for message in messages for each in _for_langchain(message)]
        offered = [
            {key: tool[key] or "" for key in ("name", "description", "input_schema")} for tool in tools
        ]
        answer = chat.bind_tools(offered).invoke([SystemMessage(system), *told] if system else told)
        calls = [
            {"type": "tool_use", "id": call["id"], "name": call["name"], "input": call["args"]}
            for call in (*answer.tool_calls, *answer.invalid_tool_calls)
        ]
        text = [{"type": "text", "text": str(answer.text)}] if answer.text else []
        return {"stop_reason": "tool_use" if calls else "end_turn", "content": [*text, *calls]}

    return model


def _for_langchain(message: Message) -> list[BaseMessage]:
    """Write one message in LangChain's form; arguments that are text are those of a call that it could not read."""
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

    content = message["content"]
    if isinstance(content, str):
        return [HumanMessage(content)]
    if message["role"] == "user":
        return [ToolMessage(each["content"], tool_call_id=each["tool_use_id"]) for each in content]
    uses = [block for block in content if block["type"] == "tool_use"]
    calls = [{"id": use["id"], "name": use["name"], "args": use["input"]} for use in uses]
    unread = [{**call, "error": None} for call in calls if isinstance(call["args"], str)]
    text = "".join(block["text"] for block in content if block["type"] == "text")
    read = [call for call in calls if not isinstance(call["args"], str)]
    return [AIMessage(text, tool_calls=read, invalid_tool_calls=unread)]
