"""Run a LangChain agent that reads the envelope. Its model is scripted. Print the messages as JSON.

The job is JSON in the first argument: ``{"servers": {name: connection}, "tool": ..., "sent": ...}``.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from langchain.agents import create_agent
from langchain_adapters import connected
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_mcp_adapters.client import MultiServerMCPClient
from pydantic import Field


class Script(BaseChatModel):
    """A model that sends a call and, after a tool error, sends it again with the envelope's first fix."""

    tool: str
    sent: dict[str, Any]
    offered: list[str] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "script"

    def bind_tools(self, tools: Any, **_: Any) -> Script:
        self.offered = [tool.name for tool in tools]
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._answer(messages[-1]))])

    def _answer(self, last: BaseMessage) -> AIMessage:
        if not isinstance(last, ToolMessage):
            return self._call(self.sent)
        if last.status != "error":
            return AIMessage("done")
        envelope = json.loads(last.content[0]["text"])
        return self._call(patched(self.sent, envelope["details"]["violations"][0]["fixes"][0]))

    def _call(self, arguments: dict[str, Any]) -> AIMessage:
        return AIMessage("", tool_calls=[{"id": "1", "name": self.tool, "args": arguments}])


def patched(sent: dict[str, Any], patch: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the arguments after a JSON Patch that moves or replaces top-level entries."""
    arguments = dict(sent)
    for step in patch:
        moved = step["op"] == "move"
        value = arguments.pop(step["from"].removeprefix("/")) if moved else step["value"]
        arguments[step["path"].removeprefix("/")] = value
    return arguments


async def run(job: dict[str, Any]) -> dict[str, Any]:
    """Run the whole conversation."""
    client = MultiServerMCPClient(
        {name: connected(connection) for name, connection in job["servers"].items()}, tool_name_prefix=True
    )
    model = Script(tool=job["tool"], sent=job["sent"])
    agent = create_agent(model, await client.get_tools())
    answer = await agent.ainvoke({"messages": [("user", "Go on.")]})
    messages = [message.model_dump(mode="json") for message in answer["messages"]]
    return {"offered": model.offered, "messages": messages}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run(json.loads(sys.argv[1])))))  # noqa: T201 - the answer
