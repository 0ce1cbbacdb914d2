"""A scripted model for LangChain."""

# mypy: ignore-errors

from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field


class Script(BaseChatModel):
    """A model that calls one tool and records what it receives."""

    tool: str = ""
    arguments: Any = None
    received: list[ToolMessage] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "script"

    def bind_tools(self, _tools: Any, **_: Any) -> Script:
        """Ignore the tools: the script knows its call."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        if isinstance(messages[-1], ToolMessage):
            self.received.append(messages[-1])
            said = AIMessage("done")
        else:
            said = AIMessage("", tool_calls=[{"id": "1", "name": self.tool, "args": self.arguments}])
        return ChatResult(generations=[ChatGeneration(message=said)])

    async def say(self, agent: Any, tool: str, arguments: Any) -> str:
        """Make an agent call a tool, and return what the model receives."""
        self.tool, self.arguments = tool, arguments
        await agent.ainvoke({"messages": [("user", "Go on.")]})
        content = self.received[-1].content
        return content if isinstance(content, str) else content[0]["text"]
