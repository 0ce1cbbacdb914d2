"""Calls inside the calls of a dispatcher of a server behind the proxy."""

from __future__ import annotations

from typing import Any

import pytest
from calls import Log, code, envelope, got, plain
from fastmcp import Client, FastMCP
from fastmcp.server.transforms.search import RegexSearchTransform
from fastmcp.tools import Tool

from mcp_lenient import create_lenient_proxy


def store_context(content: str, tags: list[str] | None = None, max_results: int = 5) -> Any:
    """Store a text under tags."""
    return {"content": content, "tags": tags, "max_results": max_results}


NOT_DESTRUCTIVE = {"destructiveHint": False}
STORED = {"content": "x", "tags": ["a"], "max_results": 5}


def _searched(transform: Any = RegexSearchTransform, **annotations: Any) -> FastMCP:
    server = plain(Tool.from_function(store_context, annotations=annotations or NOT_DESTRUCTIVE))
    server.add_transform(transform())
    return server


RIGHT = {"content": "x", "tags": ["a"]}
RUN = [
    pytest.param({"name": "store_context", "arguments": RIGHT}, [], id="right"),
    pytest.param(
        {"name": "store_context", "arguments": {"content": "x", "tags": '["a"]'}},
        [("json_text_to_array", "/arguments/tags")],
        id="a list as text",
    ),
    pytest.param(
        {"name": "store_context", "arguments": '{"content": "x", "tags": ["a"]}'},
        [("json_text_to_object", "/arguments")],
        id="arguments as text",
    ),
    pytest.param(
        {"name": "store_context", "arguments": {**RIGHT, "maxResults": 5}},
        [("rename_case", "/arguments/maxResults")],
        id="a name in another case",
    ),
    pytest.param(
        {"name": "store_context", "arguments": {**RIGHT, "max_results": None}},
        [("null_to_absent", "/arguments/max_results")],
        id="null",
    ),
    pytest.param(
        {"name": "store_context", "arguments": {"arguments": RIGHT}},
        [("unwrap_arguments", "/arguments")],
        id="wrapped twice",
    ),
    pytest.param({"name": "store_context", "args": RIGHT}, [("rename_alias", "/args")], id="args"),
    pytest.param(
        {"tool_name": "store_context", "params": {"content": "x", "tags": '["a"]'}},
        [
            ("rename_alias", "/tool_name"),
            ("rename_alias", "/params"),
            ("json_text_to_array", "/arguments/tags"),
        ],
        id="other words for both",
    ),
    pytest.param({"name": "store_context", **RIGHT}, [("wrap_arguments", "")], id="flat"),
    pytest.param(
        {"name": "store_context", "arguments": {**RIGHT, "toolCallId": "1"}},
        [("drop_injected", "/arguments/toolCallId")],
        id="a key that n8n adds",
    ),
]
REFUSED = [
    pytest.param(
        {"name": "store_context", "arguments": {"content": "x", "tags": 5}}, "INVALID_TAGS_TYPE", id="type"
    ),
    pytest.param(
        {"name": "store_context", "arguments": {"contents": "x", "tag": ["a"]}},
        "INVALID_ARGUMENTS",
        id="names",
    ),
    pytest.param({"name": "store_note", "arguments": {"content": "x"}}, "UNKNOWN_TOOL", id="no such tool"),
    pytest.param(
        {"name": "storeContext", "arguments": RIGHT}, "UNKNOWN_TOOL", id="the tool's name in another case"
    ),
]


async def _after_search(
    server: FastMCP, sent: dict[str, Any], query: str = "pattern", **settings: Any
) -> Any:
    async with Client(create_lenient_proxy(server, **settings)) as client:
        await client.call_tool("search_tools", {query: "store"})
        return await client.call_tool_mcp("call_tool", sent)


@pytest.mark.parametrize(("sent", "repairs"), RUN)
async def test_a_call_inside_is_repaired_after_a_search(sent, repairs, events: Log):
    """What the search has described is repaired, and told at its place in what was sent, with one event."""
    result = await _after_search(_searched(), sent)
    assert got(result) == STORED
    told = (result.meta or {}).get("mcp_lenient", {"repairs": []})["repairs"]
    assert [(each["rule"], each["pointer"]) for each in told] == repairs
    event = events[-1]
    assert (event["tool"], event["via"]) == ("store_context", "call_tool")
    assert event["event"] == ("call_repaired" if repairs else "call_accepted")


@pytest.mark.parametrize(("sent", "error"), REFUSED)
async def test_a_refusal_by_the_server_is_worded_by_what_was_learnt(sent, error, events: Log):
    """The server's own refusal is answered with the envelope of the inner tool, and is one event."""
    result = await _after_search(_searched(), sent)
    assert (result.is_error, code(result)) == (True, error)
    assert "Send it with 'call_tool' as {" in envelope(result)["message"]
    inside = [event for event in events if "via" in event]
    assert [(event["event"], event["tool"]) for event in inside] == [("call_rejected", sent["name"])]
