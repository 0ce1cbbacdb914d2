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


def _tool(**properties: Any) -> Published:
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return Published(name="own", parameters=schema)


FRONTS = pytest.mark.parametrize("front", [_direct, _proxied])


@FRONTS
async def test_nullable_and_older_keywords_are_understood(front, events: Log):
    """OpenAPI's ``nullable: true`` accepts null, and keywords of older drafts are enforced, without a warning."""
    above = {**INTEGER, "minimum": 3, "exclusiveMinimum": True}
    server = front(_tool(state={"type": "string", "nullable": True}, above=above))
    result = await call(server, "own", {"state": None, "above": "4"})
    assert got(result) == {"got": {"state": None, "above": 4}}
    assert rules(result) == ["text_to_integer"]
    assert code(await call(server, "own", {"state": None, "above": 3})) == "INVALID_ABOVE_VALUE"
    assert "tool_not_compiled" not in events.names


@FRONTS
async def test_an_unreadable_part_is_ignored_and_logged_once(front, events: Log):
    """The other parameters are repaired, the schema stays, and one event names the part and the reason."""
    tool = _tool(odd={"$ref": "#/$defs/none"}, n=INTEGER)
    before = tool.model_copy(deep=True).parameters
    server = front(tool)
    for _ in range(2):
        assert got(await call(server, "own", {"odd": ["x"], "n": "5"})) == {"got": {"odd": ["x"], "n": 5}}
    (warning,) = [event for event in events if event["event"] == "tool_not_compiled"]
    assert warning["subject"] == "own"
    assert warning["reason"].startswith("not judged or repaired at /properties/odd (")
    assert tool.parameters == before
