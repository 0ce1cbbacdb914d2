"""Tests of LangChain's ``MCPAdapter`` with a lenient proxy; ``test_agents.py`` runs them separately."""

import json
from typing import Any

from langchain.mcp import MCPAdapter
from langchain_core.messages import ToolMessage

from benchmarks.hosts.agents.notes import server, started
from mcp_lenient import create_lenient_proxy
from tests.adapters.running import print_outcomes


async def tool_message(target: Any, tool: str, **arguments: Any) -> ToolMessage:
    """Return the message that an agent gets for a call."""
    async with MCPAdapter(target) as adapter:
        tools = {each.name: each for each in await adapter.list_tools()}
        sent = {"type": "tool_call", "id": "1", "name": tool, "args": arguments}
        message: ToolMessage = await tools[tool].ainvoke(sent)
        return message


async def test_a_valid_call_gives_the_same_result_as_without_the_proxy() -> None:
    """Content, artifact and status are the same."""
    direct = await tool_message(server(), "store", content="x", tags=["a"])
    through = await tool_message(create_lenient_proxy(server()), "store", content="x", tags=["a"])
    assert [block["text"] for block in direct.content] == [block["text"] for block in through.content]
    assert (direct.artifact, direct.status) == (through.artifact, through.status)


async def test_a_refused_call_is_an_error_message_with_the_envelope() -> None:
    """A refused call does not raise."""
    message = await tool_message(create_lenient_proxy(started()), "store", content="x", tags=5)
    assert message.status == "error"
    assert json.loads(message.content[0]["text"])["error_code"] == "INVALID_TAGS_TYPE"


async def test_tools_keep_their_annotations() -> None:
    """The destructive hint is kept, so that a graph can interrupt before the tool."""
    async with MCPAdapter(create_lenient_proxy(server())) as adapter:
        tools = {each.name: each for each in await adapter.list_tools()}
    assert tools["remove"].metadata["mcp"]["tool"]["annotations"] == {"destructive_hint": True}


if __name__ == "__main__":
    print_outcomes(dict(globals()))
