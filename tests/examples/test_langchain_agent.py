"""The LangGraph agent of the examples: it asks before a tool destroys, once, and only for calls that run."""

from __future__ import annotations

import pytest
from fastmcp import Client, FastMCP

from mcp_lenient import LenientMiddleware


@pytest.fixture
def removed():
    """What a destructive tool has removed, and its server."""
    names = []
    mcp = FastMCP("files")
    mcp.add_middleware(LenientMiddleware())

    @mcp.tool(annotations={"destructiveHint": True})
    def remove(names_of_files: list[str]) -> str:
        """Remove files."""
        names.extend(names_of_files)
        return f"{names_of_files} are gone"

    @mcp.tool
    def look(name: str) -> str:
        """Look at a file."""
        return f"{name} is here"

    return names, mcp


async def talked(server, turns, allows):
    """What the user was asked, and what the model read of the calls that it made in each turn."""
    from langchain_core.messages import AIMessage, ToolMessage

    from langchain_agent.agent import GraphAgent

    asked, read, left = [], {}, iter(turns)

    async def approve(tool, arguments):
        asked.append((tool, arguments))
        return allows(arguments)

    async def model(messages, _tools):
        read.update({one.tool_call_id: one for one in messages if isinstance(one, ToolMessage)})
        calls = enumerate(next(left, ()), len(read))
        made = [{"name": name, "args": sent, "id": f"{at}"} for at, (name, sent) in calls]
        return AIMessage("" if made else "Done.", tool_calls=made)

    async with Client(server) as client:
        agent = GraphAgent(model, await client.list_tools(), approve)
        assert await agent.reply("Go on.", client.call_tool_mcp) == "Done."
    return asked, [read[key] for key in sorted(read)]


@pytest.mark.parametrize(("answer", "gone"), [(True, ["a"]), (False, [])])
async def test_a_destructive_tool_waits_for_the_user(removed, answer, gone):
    """The graph stops before it, and what the user does not allow is an error that the model reads."""
    names, server = removed
    refused, meant = ("remove", {"names_of_files": 7}), ("remove", {"names_of_files": '["a"]'})
    asked, read = await talked(server, [[("look", {"name": "a"})], [refused], [meant]], lambda _: answer)
    assert asked == [meant]
    assert names == gone
    assert [message.status for message in read] == ["success", "error", "success" if answer else "error"]


async def test_calls_of_one_turn_are_allowed_one_by_one(removed):
    """Of several calls in a turn those run that are harmless or allowed; only the others are denied."""
    from langchain_agent.agent import DENIED

    names, server = removed
    first, second = {"names_of_files": ["a"]}, {"names_of_files": ["b"]}
    turn = [("remove", first), ("look", {"name": "a"}), ("remove", second)]
    _, read = await talked(server, [turn], lambda arguments: arguments == second)
    assert names == ["b"]
    assert [message.content for message in read] == [DENIED, "a is here", "['b'] are gone"]
    assert [message.status for message in read] == ["error", "success", "success"]
