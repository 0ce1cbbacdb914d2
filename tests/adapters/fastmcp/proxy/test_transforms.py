"""A server whose entry in a client configuration transforms its tools or filters them by tags."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from wire import serving

from mcp_lenient import create_lenient_proxy

_ADD = {"name": "sum_up", "arguments": {"a": {"name": "left"}, "b": {"hide": True, "default": 5}}}


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@contextmanager
def _front(**settings: Any) -> Iterator[FastMCP]:
    """Yield a proxy of a server whose entry has these settings."""
    with serving(FastMCP("upstream", tools=[add])) as url:
        yield create_lenient_proxy({"mcpServers": {"one": {"url": url, **settings}}})


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_transformed_tool_is_judged_by_what_it_publishes(mode):
    """A nearly right call in the new names is repaired, and the server gets its own names."""
    with _front(tools={"add": _ADD}) as front:
        async with Client(front, mode=mode) as client:
            (tool,) = [each for each in await client.list_tools() if each.name == "sum_up"]
            assert tool.input_schema["properties"].keys() == {"left"}
            answer = await client.call_tool_mcp("sum_up", {"left": "3"})
            refused = await client.call_tool_mcp("sum_up", {"left": []})
    assert answer.structured_content == {"result": 8}
    assert refused.meta["mcp_lenient"]["error_code"] == "INVALID_LEFT_TYPE"


async def test_tags_choose_tools():
    """With ``include_tags``, a server that has no such tool publishes none."""
    with _front(include_tags=["rare"]) as front:
        async with Client(front, mode="legacy") as client:
            assert not await client.list_tools()
