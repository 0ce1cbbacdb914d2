"""The note to the model on a repaired call."""

from __future__ import annotations

from typing import Literal

import pytest
from fastmcp import Client, FastMCP

from mcp_lenient import LenientMiddleware, Policy

_CASES = [
    pytest.param(
        {"tags": '["a"]'}, "'tags' was sent as a string and read as an array. Send an array.", id="text"
    ),
    pytest.param(
        {"limit": [5]}, "'limit' was sent as an array and read as an integer. Send an integer.", id="list"
    ),
    pytest.param({"limit": None}, "'limit' was sent as null and left out. Leave it out.", id="absent"),
    pytest.param(
        {"maxResults": 5},
        "'maxResults' was read in another form. Send it as the schema has it.",
        id="name",
    ),
]


def search(
    limit: int = 1, max_results: int = 1, tags: list[str] | None = None, level: Literal["high", "low"] = "low"
) -> str:
    """Search."""
    return f"{limit} {max_results} {tags} {level}"


def _server(policy):
    server = FastMCP("notes", middleware=[LenientMiddleware(policy=policy)])
    server.tool(search)
    return server


@pytest.mark.parametrize(("sent", "said"), _CASES)
async def test_a_repaired_result_names_its_repairs(sent, said):
    """One more text block says which argument was repaired and how to send it; the rest stays unchanged."""
    async with Client(_server(Policy(tell_model=True))) as client:
        result = await client.call_tool("search", sent)
    assert [block.text for block in result.content] == [result.data, f"Note: {said}"]
    assert result.structured_content == {"result": result.data}
    assert result.meta["mcp_lenient"]["repairs"]


async def test_many_repairs_are_counted():
    """The note describes three repairs and counts the others."""
    sent = {"limit": [1], "max_results": [2], "tags": '["a"]', "level": "LOW"}
    async with Client(_server(Policy(tell_model=True))) as client:
        result = await client.call_tool("search", sent)
    assert result.content[-1].text.endswith(" 1 more value was corrected.")


@pytest.mark.parametrize("policy", [Policy(), Policy(tell_model=True, mode="observe")])
async def test_no_note_without_the_option(policy):
    """By default, and if nothing is repaired, the content is the tool's own."""
    async with Client(_server(policy)) as client:
        result = await client.call_tool("search", {"limit": 1})
    assert len(result.content) == 1
    async with Client(_server(Policy())) as client:
        assert len((await client.call_tool("search", {"limit": [1]})).content) == 1
