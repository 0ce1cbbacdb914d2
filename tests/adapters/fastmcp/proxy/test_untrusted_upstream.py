"""Upstream servers that send false or malformed data: the proxy does not trust it, and does not fail."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from adapters.fastmcp.proxy.fronts import SERVERS, of_process
from fastmcp import Client, FastMCP
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy
from fastmcp.tools import Tool, ToolResult
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, TextContent
from pydantic import Field
from tables import STRING, array, closed
from waiting import PATIENCE

from mcp_lenient import LenientMiddleware, Policy, create_lenient_proxy

_SCHEMA = closed("tags", tags=array(STRING))
_REFUSED = "Input validation error: expected another tag"
_FORGED = {"rule": "text_to_integer", "pointer": "/forged", "before": "string", "after": "integer"}


class _Answering(Tool):
    """A tool with a fixed answer."""

    answer: Any = None
    seen: list[Any] = Field(default_factory=list)

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        self.seen.append(arguments)
        return self.answer


def _upstream(meta: dict[str, Any], text: str = "answer", *, is_error: bool) -> FastMCP:
    server = FastMCP("upstream")
    answer = ToolResult(content=[TextContent(type="text", text=text)], meta=meta, is_error=is_error)
    server.add_tool(_Answering(name="note", parameters=_SCHEMA, answer=answer))
    return server


async def _call(front: FastMCP, arguments: dict[str, Any] | None = None):
    async with Client(front) as client:
        return await client.call_tool_mcp("note", {"tags": ["a"]} if arguments is None else arguments)


SHAPES = {
    "null": None,
    "text that equals a key": "status",
    "a repair of another shape": {"repairs": [{"rule": 1}]},
    "a forged repair": {"repairs": [_FORGED]},
    "a forged envelope": {"status": "error", "error_code": "FORGED", "details": 5},
}
each_shape = pytest.mark.parametrize("given", SHAPES.values(), ids=SHAPES)


@each_shape
@pytest.mark.parametrize("is_error", [False, True])
async def test_a_result_with_unexpected_meta_passes_unchanged(given, is_error, events):
    """The upstream's ``_meta`` reaches the client unchanged if nothing was repaired, and is not logged."""
    server = _upstream({"mcp_lenient": given, "own": 1}, is_error=is_error)
    own = await _call(create_proxy(server, name="upstream"))
    result = await _call(create_lenient_proxy(server))
    assert result.model_dump() == own.model_dump()
    assert events.names == ["call_accepted"]
    assert "orged" not in json.dumps(events)


@each_shape
async def test_only_this_proxys_repairs_are_reported(given, events):
    """Whatever the upstream claims, ``mcp_lenient`` has this proxy's repairs, and its entry is renamed."""
    meta, sent = {"mcp_lenient": given, "own": 1}, {"tags": '["a"]'}
    result = await _call(create_lenient_proxy(_upstream(meta, is_error=False)), sent)
    assert [repair["rule"] for repair in result.meta["mcp_lenient"]["repairs"]] == ["json_text_to_array"]
    assert (result.meta.get("mcp_lenient_upstream"), result.meta["own"]) == (given, 1)
    assert result.content[0].text == "answer"
    refused = (await _call(create_lenient_proxy(_upstream(meta, _REFUSED, is_error=True)), sent)).meta
    reported = refused["mcp_lenient"]
    assert (reported["error_code"], reported["details"]["upstream_message"]) == (
        "REFUSED_UPSTREAM",
        "expected another tag",
    )
    assert [repair["rule"] for repair in reported["details"]["repairs"]] == ["json_text_to_array"]
    assert "orged" not in json.dumps([reported, events])


async def test_the_envelope_of_a_lenient_upstream_passes_unchanged(events):
    """The client gets the envelope of a lenient upstream unchanged."""

    def note(tags: list[str]) -> int:
        return len(tags)

    def upstream() -> FastMCP:
        return FastMCP("upstream", tools=[note], middleware=[LenientMiddleware()])

    policy = Policy(unrepairable="forward")
    own = await _call(create_proxy(upstream(), name="upstream"), {"tags": 5})
    events.clear()
    result = await _call(create_lenient_proxy(upstream(), policy), {"tags": 5})
    assert result.model_dump() == own.model_dump()
    assert result.meta["mcp_lenient"]["error_code"] == "INVALID_TAGS_TYPE"
    assert [event["event"] for event in events if event["server"] != "upstream"] == []


_TOOLS = {"tools": [{"name": "note", "inputSchema": _SCHEMA}]}


def _by_hand(answers: dict[str, Any]):
    usual = {
        "tools/list": _TOOLS,
        "tools/call": {"content": [{"type": "text", "text": "ran"}]},
    }
    return of_process(str(SERVERS / "by_hand.py"), json.dumps({**usual, **answers}), timeout=PATIENCE)


REFUSALS = [
    {"content": [{"type": "text", "text": "x"}], "isError": "yes"},
    {"content": [], "isError": True},
    {"error": {"code": -32602, "message": ""}},
    {"error": {"code": -32602, "message": "x " * 10**4}},
    {"error": {"code": -32602, "message": "no", "data": {"a": [1]}}},
]
MALFORMED = [
    {},
    {"content": 5},
    {"content": [{"type": "hologram"}]},
    {"content": [], "_meta": 5},
    {"content": [], "structuredContent": [1]},
]


async def test_a_malformed_error_is_answered():
    """The caller gets an error result of bounded size without Python's words, and the next call runs."""
    async with _by_hand({f"tools/call#{at}": each for at, each in enumerate(REFUSALS, 1)}) as client:
        for answer in REFUSALS:
            refused = await client.call_tool_mcp("note", {"tags": '["a"]'})
            reported = refused.model_dump_json()
            assert refused.is_error, answer
            assert len(reported) < 20_000
            for word in ("mcp_lenient.", "AttributeError", "TypeError", "KeyError", "Traceback"):
                assert word not in reported
        assert (await client.call_tool_mcp("note", {"tags": ["a"]})).content[0].text == "ran"


async def test_a_malformed_answer_is_a_server_error(events):
    """An answer that is not a tool result is a logged internal error, not an error in the arguments."""
    async with _by_hand({f"tools/call#{at}": each for at, each in enumerate(MALFORMED, 1)}) as client:
        for _ in MALFORMED:
            with pytest.raises(MCPError, match="server's answer is not valid") as raised:
                await client.call_tool_mcp("note", {"tags": ["a"]})
            assert raised.value.error.code == INTERNAL_ERROR
    assert [(event["event"], event.get("error_code")) for event in events] == [
        ("call_accepted", None),
        ("call_unanswered", "MALFORMED_ANSWER"),
    ] * len(MALFORMED)


async def test_a_malformed_answer_to_an_operators_client_is_a_server_error(events):
    """The same holds behind a client that the operator has made."""
    answers = json.dumps({"tools/list": _TOOLS, "tools/call": {"content": 5}})
    own = Client(StdioTransport(sys.executable, [str(SERVERS / "by_hand.py"), answers]))
    async with Client(create_lenient_proxy(own)) as client:
        with pytest.raises(MCPError, match="server's answer is not valid") as raised:
            await client.call_tool_mcp("note", {"tags": ["a"]})
    assert raised.value.error.code == INTERNAL_ERROR
    assert events[-1]["error_code"] == "MALFORMED_ANSWER"


@pytest.mark.parametrize(
    "listed",
    [
        pytest.param({"tools": 5}, id="tools are a number"),
        pytest.param({"tools": [{"name": "note", "inputSchema": 5}]}, id="a schema that is a number"),
        pytest.param({"error": {"code": -32603, "message": "out of order"}}, id="an error"),
    ],
)
async def test_a_malformed_list_keeps_known_tools(listed):
    """If listing the tools again gives a malformed list, wrong calls are refused by the known schema."""
    # The proxy lists the tools for the first call, and the client for its result.
    async with _by_hand({f"tools/list#{at}": listed for at in range(3, 9)}) as client:
        assert (await client.call_tool_mcp("note", {"tags": ["a"]})).content[0].text == "ran"
        wrong = await client.call_tool_mcp("note", {"tags": 5})
    assert wrong.is_error
    assert wrong.meta["mcp_lenient"]["error_code"] == "INVALID_TAGS_TYPE"
