"""Tools with schemas of older drafts, or with unreadable parts, behind the middleware and the proxy."""

from __future__ import annotations

from typing import Any

import pytest
from calls import Log, Published, call, code, got, lenient, plain, rules
from fastmcp import FastMCP
from fastmcp_versions import PROXY, skip_on_3

from mcp_lenient import Policy

INTEGER = {"type": "integer"}


def _direct(tool: Published) -> FastMCP:
    return lenient(tool, policy=Policy(unrepairable="refuse"))


def _proxied(tool: Published) -> FastMCP:
    skip_on_3(PROXY)
    from mcp_lenient import create_lenient_proxy

    return create_lenient_proxy(plain(tool))


@pytest.mark.parametrize("front", [_direct, _proxied])
async def test_a_schema_of_any_draft_decides_and_stays(front, events: Log):
    """Keywords of OpenAPI and older drafts are enforced, and an unreadable part is ignored and logged once."""
    properties: Any = {
        "nullable": {"type": "string", "nullable": True},
        "above": {**INTEGER, "minimum": 3, "exclusiveMinimum": True},
        "odd": {"$ref": "#/$defs/none"},
        "n": INTEGER,
    }
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    tool = Published(name="own", parameters=schema)
    before = tool.model_copy(deep=True).parameters
    server = front(tool)
    for _ in range(2):
        result = await call(server, "own", {"nullable": None, "odd": ["x"], "above": "4"})
        assert got(result) == {"got": {"nullable": None, "odd": ["x"], "above": 4}}
        assert rules(result) == ["text_to_integer"]
        assert code(await call(server, "own", {"odd": "x", "above": 3})) == "INVALID_ABOVE_VALUE"
    (warning,) = [event for event in events if event["event"] == "tool_not_compiled"]
    assert warning["subject"] == "own"
    assert warning["reason"].startswith("not judged or repaired at /properties/odd (")
    assert tool.parameters == before
