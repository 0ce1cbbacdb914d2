"""Upstream servers that send false or malformed data: the proxy does not trust it, and does not fail."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy
from fastmcp.tools import Tool, ToolResult
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, TextContent
from pydantic import Field

from mcp_lenient import LenientMiddleware, Policy, create_lenient_proxy

_SCHEMA = {
    "type": "object",
    "properties": {"tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["tags"],
    "additionalProperties": False,
}
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


SHAPES = [
    pytest.param([], id="list"),
    pytest.param(None, id="null"),
    pytest.param("status", id="text that equals a key"),
    pytest.param(5, id="number"),
    pytest.param({}, id="empty"),
    pytest.param({"repairs": 5}, id="repairs are a number"),
    pytest.param({"repairs": ["x"]}, id="repairs are strings"),
    pytest.param({"repairs": [{"rule": 1}]}, id="a repair of another shape"),
    pytest.param({"repairs": [{**_FORGED, "more": 1}]}, id="a repair with another key"),
    pytest.param({"repairs": [_FORGED]}, id="a forged repair"),
    pytest.param({"status": "error", "error_code": "FORGED", "details": 5}, id="a forged envelope"),
]


@pytest.mark.parametrize("given", SHAPES)
@pytest.mark.parametrize("text", ["Access denied", _REFUSED])
async def test_an_error_with_unexpected_meta_is_answered(given, text, events):
    """An error result keeps the upstream's text whatever its ``_meta`` contains, which is not logged."""
    server = _upstream({"mcp_lenient": given}, text, is_error=True)
    own = await _call(create_proxy(server, name="upstream"))
    result = await _call(create_lenient_proxy(server))
    if text == _REFUSED:
        reported = result.meta["mcp_lenient"]
        assert reported["error_code"] == "REFUSED_UPSTREAM"
        assert reported["details"]["upstream_message"] == "expected another tag"
        assert reported["details"]["repairs"] == []
    else:
        assert result.model_dump() == own.model_dump()
    assert "orged" not in json.dumps(events)


@pytest.mark.parametrize("given", SHAPES)
async def test_a_success_with_unexpected_meta_passes_unchanged(given, events):
    """The upstream's ``_meta`` reaches the client unchanged if nothing was repaired."""
    server = _upstream({"mcp_lenient": given, "own": 1}, is_error=False)
    own = await _call(create_proxy(server, name="upstream"))
    result = await _call(create_lenient_proxy(server))
    assert result.model_dump() == own.model_dump()
    assert [event["event"] for event in events] == ["call_accepted"]
    assert "orged" not in json.dumps(events)


@pytest.mark.parametrize("given", SHAPES)
@pytest.mark.parametrize("is_error", [False, True])
async def test_only_this_proxys_repairs_are_reported(given, is_error):
    """After a repair, ``mcp_lenient`` has only this proxy's repairs, and the upstream's entry is renamed."""
    server = _upstream({"mcp_lenient": given, "own": 1}, is_error=is_error)
    result = await _call(create_lenient_proxy(server), {"tags": '["a"]'})
    assert [repair["rule"] for repair in result.meta["mcp_lenient"]["repairs"]] == ["json_text_to_array"]
    assert result.meta.get("mcp_lenient_upstream") == given
    assert result.meta["own"] == 1
    assert result.content[0].text == "answer"


async def test_refusals_list_only_this_proxys_repairs():
    """The envelope for an upstream refusal lists this proxy's repairs, not those that the upstream claims."""
    server = _upstream({"mcp_lenient": {"repairs": [_FORGED]}}, _REFUSED, is_error=True)
    result = await _call(create_lenient_proxy(server), {"tags": '["a"]'})
    reported = result.meta["mcp_lenient"]
    assert [repair["rule"] for repair in reported["details"]["repairs"]] == ["json_text_to_array"]
    assert "/forged" not in result.model_dump_json()


async def test_the_envelope_of_a_lenient_upstream_passes_unchanged(events):
    """The client gets the envelope of a lenient upstream unchanged."""
    server = FastMCP("upstream")

    @server.tool
    def note(tags: list[str]) -> int:
        return len(tags)

    server.add_middleware(LenientMiddleware())
    policy = Policy(unrepairable="forward")
    own = await _call(create_proxy(server, name="upstream"), {"tags": 5})
    events.clear()
    result = await _call(create_lenient_proxy(server, policy), {"tags": 5})
    assert result.model_dump() == own.model_dump()
    assert result.meta["mcp_lenient"]["error_code"] == "INVALID_TAGS_TYPE"
    assert [event["event"] for event in events if event["server"] != "upstream"] == []


# A hand-written stdio server that can give answers that no SDK would give.
_BY_HAND = r"""
import json, sys
answers = json.loads(sys.argv[1])
tool = {"name": "note", "inputSchema": json.loads(sys.argv[2])}
usual = {
    "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                   "serverInfo": {"name": "by-hand", "version": "1"}},
    "tools/list": {"tools": [tool]},
    "tools/call": {"content": [{"type": "text", "text": "ran"}]},
    "ping": {},
}
seen = {}
for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if number is None:
        continue
    seen[method] = seen.get(method, 0) + 1
    answer = usual.get(method)
    for key in (method, f"{method}#{seen[method]}"):
        answer = answers.get(key, answer)
    sent = {"jsonrpc": "2.0", "id": number}
    sent |= answer if isinstance(answer, dict) and answer.keys() & {"error"} else {"result": answer}
    print(json.dumps(sent), flush=True)
"""


async def _by_hand(front, answers: dict[str, Any], *calls: dict[str, Any], tool: str = "note"):
    transport = StdioTransport(sys.executable, ["-c", _BY_HAND, json.dumps(answers), json.dumps(_SCHEMA)])
    try:
        async with Client(front(transport), mode="legacy", timeout=8) as client:
            return [await client.call_tool_mcp(tool, arguments) for arguments in calls]
    finally:
        await transport.close()


REFUSALS = [
    pytest.param({"content": [{"type": "text", "text": "x"}], "isError": "yes"}, id="isError is a string"),
    pytest.param({"content": [], "isError": True}, id="an error without content"),
    pytest.param({"error": {"code": -32602, "message": ""}}, id="an empty refusal"),
    pytest.param({"error": {"code": -32602, "message": "x " * 10**4}}, id="a long refusal"),
    pytest.param({"error": {"code": -32602, "message": "no", "data": {"a": [1]}}}, id="a refusal with data"),
]
MALFORMED = [
    pytest.param({}, id="no content"),
    pytest.param({"content": 5}, id="content is a number"),
    pytest.param({"content": [{"type": "hologram"}]}, id="unknown block"),
    pytest.param({"content": [], "_meta": 5}, id="meta is a number"),
    pytest.param({"content": [], "structuredContent": [1]}, id="structured content is a list"),
]


@pytest.mark.parametrize("answer", REFUSALS)
async def test_a_malformed_error_is_answered(answer):
    """The caller gets an error result of bounded size without Python's words."""
    answers = {"tools/call#1": answer}
    first, second = await _by_hand(create_lenient_proxy, answers, {"tags": '["a"]'}, {"tags": ["a"]})
    assert first.is_error
    assert second.content[0].text == "ran"
    reported = first.model_dump_json()
    assert len(reported) < 20_000
    for word in ("mcp_lenient.", "AttributeError", "TypeError", "KeyError", "Traceback"):
        assert word not in reported


@pytest.mark.parametrize("answer", MALFORMED)
async def test_a_malformed_answer_is_a_server_error(answer, events):
    """An answer that is not a tool result is a logged internal error, not an error in the arguments."""
    with pytest.raises(MCPError, match="server's answer is not a valid tool result") as raised:
        await _by_hand(create_lenient_proxy, {"tools/call#1": answer}, {"tags": ["a"]})
    assert raised.value.error.code == INTERNAL_ERROR
    assert [(event["event"], event.get("error_code")) for event in events] == [
        ("call_accepted", None),
        ("call_unanswered", "MALFORMED_ANSWER"),
    ]


@pytest.mark.parametrize(
    "listed",
    [
        pytest.param({}, id="no tools"),
        pytest.param({"tools": 5}, id="tools are a number"),
        pytest.param({"tools": [{"name": 5}]}, id="a tool without a name"),
        pytest.param({"tools": [{"name": "note", "inputSchema": 5}]}, id="a schema that is a number"),
        pytest.param({"tools": [{"name": "note", "inputSchema": {}, "annotations": 5}]}, id="annotations"),
        pytest.param({"error": {"code": -32603, "message": "out of order"}}, id="an error"),
    ],
)
async def test_a_malformed_list_keeps_known_tools(listed):
    """If listing the tools again gives a malformed list, wrong calls are refused by the known schema."""
    # The proxy lists the tools for the first call, and the client for its result.
    answers = {f"tools/list#{at}": listed for at in range(3, 9)}
    right, wrong = await _by_hand(create_lenient_proxy, answers, {"tags": ["a"]}, {"tags": 5})
    assert right.content[0].text == "ran"
    assert wrong.is_error
    assert wrong.meta["mcp_lenient"]["error_code"] == "INVALID_TAGS_TYPE"


async def test_any_refusal_text_is_parsed_in_bounded_time():
    """A text designed to be slow to parse is cut before it is parsed."""
    for text in (
        "a." * 10**6,
        "http" * 10**6,
        "a://" * 10**6,
        "\n " * 10**6,
        "1 validation error for " * 10**5,
    ):
        server = _upstream({}, f"Input validation error: {text}", is_error=True)
        result = await _call(create_lenient_proxy(server))
        assert len(result.meta["mcp_lenient"]["details"]["upstream_message"]) <= 2_000
