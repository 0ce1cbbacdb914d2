"""A server whose entry in a client configuration transforms its tools or filters them by tags."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client

from mcp_lenient import create_lenient_proxy

_SERVER = Path(__file__).parent / "servers" / "upstream.py"
_ADD = {"name": "sum_up", "arguments": {"a": {"name": "left"}, "b": {"hide": True, "default": 5}}}


def _config(**settings: Any) -> dict[str, Any]:
    return {"mcpServers": {"one": {"command": sys.executable, "args": [str(_SERVER)], **settings}}}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_transformed_tool_is_judged_by_what_it_publishes(mode):
    """A nearly right call in the new names is repaired, and the server gets its own names."""
    async with Client(create_lenient_proxy(_config(tools={"add": _ADD})), mode=mode) as client:
        (tool,) = [each for each in await client.list_tools() if each.name == "sum_up"]
        assert tool.input_schema["properties"].keys() == {"left"}
        answer = await client.call_tool_mcp("sum_up", {"left": "3"})
        refused = await client.call_tool_mcp("sum_up", {"left": []})
    assert answer.structured_content == {"result": 8}
    assert refused.meta["mcp_lenient"]["error_code"] == "INVALID_LEFT_TYPE"


@pytest.mark.slow
async def test_tags_choose_tools():
    """With ``include_tags``, a server that has no such tool publishes none."""
    async with Client(create_lenient_proxy(_config(include_tags=["rare"])), mode="legacy") as client:
        assert not await client.list_tools()
