"""All ways to register a decorated function as a tool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import pytest
from calls import call, code, envelope, got
from fastmcp import FastMCP
from fastmcp.tools import Tool, tool
from pydantic import BaseModel

from mcp_lenient import lenient
from mcp_lenient.normalizers import parse_json


def _new_store() -> Callable[..., list[str]]:
    """Return a new function each time, since FastMCP sets attributes on functions."""

    def keep(content: str, tags: list[str] | None = None) -> list[str]:
        return [content, *(tags or [])]

    return keep


@pytest.mark.parametrize(
    "register",
    [
        pytest.param(lambda server, function: server.tool(lenient(function)), id="server-tool"),
        pytest.param(lambda server, function: server.add_tool(tool(lenient(function))), id="tool-above"),
        pytest.param(
            lambda server, function: server.add_tool(Tool.from_function(lenient(function))),
            id="from-function",
        ),
        pytest.param(lambda server, function: server.add_tool(lenient(function)), id="added"),
    ],
)
async def test_ways_to_register(register):
    """``@lenient`` works with every way to register a function."""
    server = FastMCP("server")
    register(server, _new_store())
    assert got(await call(server, "keep", {"content": "a", "tags": '["b"]'})) == ["a", "b"]
    assert code(await call(server, "keep", {"content": "a", "tags": 5})) == "INVALID_TAGS_TYPE"


@pytest.mark.parametrize(
    "registered",
    [
        pytest.param(lambda server, function: server.tool(function), id="tool"),
        pytest.param(lambda server, function: server.tool("store")(function), id="named"),
        pytest.param(lambda server, function: server.tool(tool(task=False)(function)), id="twice"),
        pytest.param(lambda _server, function: Tool.from_function(function), id="object"),
        pytest.param(lambda _server, function: tool(task=False)(function), id="standalone"),
    ],
)
@pytest.mark.parametrize("decorate", [lenient, lenient(tags=parse_json())], ids=["bare", "arguments"])
def test_a_decorator_above_the_tool_names_the_right_order(registered, decorate):
    """The wrong order raises, since the server would silently run the undecorated function."""
    function = registered(FastMCP("server"), _new_store())
    with pytest.raises(
        TypeError, match=r"lenient: keep is a tool .* write @mcp.tool or @tool above @lenient\."
    ):
        decorate(function)


@pytest.mark.parametrize(
    "register",
    [
        pytest.param(lambda server, function: server.tool(function, name="store"), id="keyword"),
        pytest.param(lambda server, function: server.tool("store")(function), id="first"),
        pytest.param(lambda server, function: server.add_tool(tool(name="store")(function)), id="standalone"),
    ],
)
async def test_envelopes_and_events_use_the_tools_name(register, events):
    """Envelope and event use the name of the tool, not that of its function."""
    server = FastMCP("server")
    register(server, lenient(_new_store()))
    reported = envelope(await call(server, "store", {"content": "a", "tags": 5}))
    assert reported["details"]["tool"] == events[-1]["tool"] == "store"


class Note(BaseModel):
    """A model that the schema references."""

    text: str


async def test_one_function_on_two_servers():
    """A decorated function may be registered again after it has been called."""

    @lenient
    def store(note: Annotated[Note, parse_json()]) -> str:
        return note.text

    before = Tool.from_function(store).parameters
    for _ in range(2):
        server = FastMCP("server", tools=[store])
        assert got(await call(server, "store", {"note": '{"text": "a"}'})) == "a"
        assert Tool.from_function(store).parameters == before
