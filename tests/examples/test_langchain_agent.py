"""The LangGraph agent of the examples: it asks before a tool destroys, and remembers what was said."""

from __future__ import annotations

import pytest
from fastmcp import FastMCP

from shared.transcript import connected

pytestmark = pytest.mark.slow  # LangGraph takes seconds to import


@pytest.fixture
def removed():
    """What a destructive tool has removed, and its server."""
    names = []
    mcp = FastMCP("files")

    @mcp.tool(annotations={"destructiveHint": True})
    def remove(name: str) -> str:
        """Remove a file."""
        names.append(name)
        return f"{name} is gone"

    @mcp.tool
    def look(name: str) -> str:
        """Look at a file."""
        return f"{name} is here"

    return names, mcp


@pytest.mark.parametrize(("answer", "gone"), [(True, ["a"]), (False, [])])
def test_a_destructive_tool_waits_for_the_user(removed, answer, gone):
    """The graph stops before it, and what the user does not allow is an error that the model reads."""
    from langchain_agent.agent import GraphAgent

    names, server = removed
    asked = []

    def approve(tool, arguments):
        asked.append((tool, arguments))
        return answer

    uses = [{"type": "tool_use", "name": name, "input": {"name": "a"}} for name in ("look", "remove")]
    answers = iter([*uses, {"type": "text", "text": "Done."}])
    with connected(server) as (execute, tools):
        agent = GraphAgent(lambda *_: {"content": [next(answers)]}, tools, approve)
        assert agent.chat("Look, then remove.", mcp_executor=execute) == "Done."
    assert asked == [("remove", {"name": "a"})]
    assert names == gone
