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


CALLS = [
    ("look", {"name": "a"}),
    ("remove", {"names_of_files": 7}),  # refused: nobody is asked
    ("remove", {"names_of_files": '["a"]'}),
]


@pytest.mark.parametrize(("answer", "gone"), [(True, ["a"]), (False, [])])
async def test_a_destructive_tool_waits_for_the_user(removed, answer, gone):
    """The graph stops before it, and what the user does not allow is an error that the model reads."""
    from langchain_core.messages import AIMessage, ToolMessage

    from langchain_agent.agent import GraphAgent

    names, server = removed
    asked, read = [], []

    async def approve(tool, arguments):
        asked.append((tool, arguments))
        return answer

    async def model(messages, _tools):
        read[:] = [message for message in messages if isinstance(message, ToolMessage)]
        if len(read) == len(CALLS):
            return AIMessage("Done.")
        name, arguments = CALLS[len(read)]
        return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call_{len(read)}"}])

    async with Client(server) as client:
        agent = GraphAgent(model, await client.list_tools(), approve)
        assert await agent.reply("Look, then remove.", client.call_tool_mcp) == "Done."
    assert asked == [("remove", {"names_of_files": '["a"]'})]
    assert names == gone
    assert [message.status for message in read] == ["success", "error", "success" if answer else "error"]


async def test_calls_of_one_turn_are_allowed_one_by_one(removed):
    """Of several calls in a turn those run that are harmless or allowed; only the others are denied."""
    from langchain_core.messages import AIMessage, ToolMessage

    from langchain_agent.agent import DENIED, GraphAgent

    names, server = removed
    calls = [
        ("remove", {"names_of_files": ["a"]}),
        ("look", {"name": "a"}),
        ("remove", {"names_of_files": ["b"]}),
    ]
    read = {}

    async def approve(_, arguments):
        return arguments["names_of_files"] == ["b"]

    async def model(messages, _tools):
        read.update({one.tool_call_id: one for one in messages if isinstance(one, ToolMessage)})
        asked = [{"name": name, "args": sent, "id": f"{at}"} for at, (name, sent) in enumerate(calls)]
        return AIMessage("Done.") if read else AIMessage("", tool_calls=asked)

    async with Client(server) as client:
        agent = GraphAgent(model, await client.list_tools(), approve)
        assert await agent.reply("Remove both, and look.", client.call_tool_mcp) == "Done."
    assert names == ["b"]
    assert [read[key].content for key in "012"] == [DENIED, "a is here", "['b'] are gone"]
    assert [read[key].status for key in "012"] == ["error", "success", "success"]
