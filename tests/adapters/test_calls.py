"""``LenientCalls``, for the hooks that agent frameworks call before a tool call."""

from __future__ import annotations

import pytest
from fastmcp import FastMCP
from tables import INTEGER, STRING, array, closed, each_row

from mcp_lenient import LenientCalls, Policy
from mcp_lenient.errors import SchemaError

STORE = {
    "name": "store",
    "inputSchema": closed("content", content=STRING, tags=array(STRING), limit=INTEGER),
}
REFUSING = Policy(unrepairable="refuse")


@each_row(("tags", "logged"), [(["a"], "call_accepted"), (5, "call_forwarded")])
def test_arguments_that_are_not_changed_are_the_same_object(tags, logged, events):
    """The arguments of a valid call are not copied, nor those of an unrepairable one, which a tool may accept."""
    events.clear()
    sent = {"content": "x", "tags": tags}
    call = LenientCalls().check(STORE, sent)
    assert call.arguments is sent
    assert (call.repairs, call.refusal) == ((), None)
    assert events.names == [logged]


def test_a_changed_schema_applies_to_the_next_call():
    """A call is repaired for the given schema, not for an earlier one of the same tool."""
    calls = LenientCalls()
    free = {"name": "store", "inputSchema": {"type": "object", "properties": {"tags": {}}}}
    assert calls.check(STORE, {"content": "x", "tags": "a"}).arguments["tags"] == ["a"]
    assert calls.check(free, {"content": "x", "tags": "a"}).arguments["tags"] == "a"


async def test_sdk_tool_objects_are_accepted():
    """A tool may be the SDK's object that a client gets."""
    mcp = FastMCP("notes")

    @mcp.tool(annotations={"destructiveHint": True})
    def remove(numbers: list[int] | int = 0) -> str:
        """Remove notes."""
        return str(numbers)

    (tool,) = [each.to_mcp_tool() for each in await mcp.list_tools()]
    assert LenientCalls(REFUSING).check(tool, {"numbers": "3"}).arguments == {"numbers": 3}
    assert LenientCalls(REFUSING).check(tool, {"numbers": None}).refusal is not None


@each_row(
    "tool",
    [
        {},
        {"name": "note"},
        {"name": "note", "inputSchema": None},
        {"inputSchema": {}},
        {"name": 1, "inputSchema": {}},
    ],
)
def test_an_object_that_is_not_a_tool_is_an_error(tool):
    """The error says what a tool must have."""
    with pytest.raises(SchemaError, match="must have a 'name' and an 'inputSchema' that is an object"):
        LenientCalls().check(tool, {})
