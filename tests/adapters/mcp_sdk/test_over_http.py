"""``LenientServerMiddleware`` over HTTP, with hand-written messages."""

from __future__ import annotations

from typing import Any

import pytest
from answers import envelope, rules
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from wire import call, http

from mcp_lenient.adapters.mcp_sdk import LenientServerMiddleware

pytestmark = [pytest.mark.parametrize("kind", ["stateful", "stateless", "modern"])]


def note(text: str, labels: list[str] | None = None) -> Any:
    """Keep a note."""
    return text if labels is None else labels


@pytest.fixture
def wire(kind):
    """Return a connection of this kind to a lenient server."""
    server = MCPServer("notes", middleware=[LenientServerMiddleware()], log_level="ERROR")
    server.tool(structured_output=False)(note)
    with http(server, kind) as wire:
        yield wire


def test_valid_repaired_and_refused_calls(wire, events):
    """Results, repairs and envelopes are the same as in one process."""
    assert call(wire, "note", {"text": "x"})["result"]["content"][0]["text"] == "x"
    repaired = call(wire, "note", {"text": "x", "labels": "a"})
    assert rules(repaired) == ["scalar_to_array"]
    assert envelope(call(wire, "note", {"labels": 5}))["error_code"] == "INVALID_ARGUMENTS"
    assert envelope(call(wire, "notes", {}))["error_code"] == "UNKNOWN_TOOL"
    assert events.names == ["call_accepted", "call_repaired", "call_rejected", "call_rejected"]


def test_arguments_as_json_text_are_parsed(wire):
    """A text with an object is parsed, and one with a list gets the envelope."""
    assert rules(call(wire, "note", '{"text": "x"}')) == ["json_text_to_object"]
    assert envelope(call(wire, "note", "[1]"))["error_code"] == "INVALID_ARGUMENTS"


def test_a_refusal_is_a_complete_result(wire, kind):
    """In the modern protocol, a refusal has the result type and server info of the SDK's own results."""
    result = call(wire, "note", {"text": []})["result"]
    if kind == "modern":
        assert result["resultType"] == "complete"
        assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "notes"
    else:
        assert "resultType" not in result


def test_events_name_the_transport(wire, kind, events):
    """Events have the transport, and the session id and client name if there are any."""
    call(wire, "note", {"text": "x", "labels": "a"})
    (event,) = events
    assert (event["transport"], event["server"]) == ("streamable-http", "notes")
    assert event["request_id"]
    assert ("session_id" in event) is (kind == "stateful")
    assert event.get("client_name") == (None if kind == "stateless" else "by-hand")


@pytest.mark.parametrize("place", [0, 1], ids=["deny-first", "deny-last"])
def test_a_denied_call_does_not_run(kind, place):
    """What other middleware of the SDK denies, or the SDK for a forged state, does not run, right or nearly right."""
    ran = []

    async def deny(ctx: Any, call_next: Any) -> Any:
        if ctx.method == "tools/call" and ctx.params["name"] == "pay":
            raise MCPError(-32001, "denied")
        return await call_next(ctx)

    middleware = [LenientServerMiddleware()]
    middleware.insert(place, deny)
    server = MCPServer("notes", middleware=middleware, log_level="ERROR")
    for name in ("pay", "note"):

        @server.tool(name=name, structured_output=False)
        def kept(text: str) -> None:
            ran.append(text)

    with http(server, kind) as wire:
        for sent in ({"text": "x"}, {"Text": "x"}, '{"text": "x"}'):
            assert call(wire, "pay", sent)["error"]["code"] == -32001
            forged = {"name": "note", "arguments": sent, "requestState": "forged"}
            assert wire.request("tools/call", forged)["error"]["code"] == INVALID_PARAMS
    assert ran == []


def test_the_same_call_is_answered_differently(wire):
    """Five equal wrong calls have five answers; calls with other values differ from the third on."""
    told = [envelope(call(wire, "note", {"text": []})) for _ in range(5)]
    assert [each["details"].get("repeated") for each in told] == [None, 2, 3, 4, 5]
    call(wire, "note", {"text": "x"})
    told = [envelope(call(wire, "note", {"text": [at]})) for at in range(5)]
    assert [each["details"].get("alike") for each in told] == [None, None, 3, 4, 5]
