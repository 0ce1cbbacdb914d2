"""Test that an event names its client, session, server, transport and trace in both protocol eras."""

from __future__ import annotations

import pytest
from calls import Log, call, lenient
from exported_spans import exported_spans
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport
from fastmcp.server.auth.providers.jwt import StaticTokenVerifier
from fastmcp_versions import SPAN, in_era, not_on_3
from mcp.types import Implementation
from opentelemetry.baggage import set_baggage
from opentelemetry.context import attach, detach
from wire import MODERN, http, serving


def tool(tags: list[str], text: str | list[str] = "") -> list[str]:
    """A tool."""
    return [*tags, *text]


@pytest.mark.parametrize("mode", ["legacy", "auto", MODERN])
async def test_the_client_is_named_in_each_era(mode, events: Log):
    """Name and version come from the handshake, or on newer connections from the request."""
    async with Client(
        lenient(tool), **in_era(mode), client_info=Implementation(name="acme-agent", version="7.1")
    ) as client:
        await client.call_tool_mcp("tool", {"tags": "a"})
    (event,) = events
    assert (event["client_name"], event["client_version"]) == ("acme-agent", "7.1")
    assert (event["server"], event.get("subject")) == ("server", None)


@pytest.mark.parametrize(
    ("kind", "same"),
    [
        pytest.param("stateful", True, id="stateful"),
        pytest.param("stateless", False, id="stateless"),
        pytest.param("modern", False, id="2026-07-28"),
    ],
)
def test_sessions_and_requests_over_http(kind, same, events: Log):
    """An event has the request's own id. Two requests share a session only on stateful connections."""
    with http(lenient(tool), kind) as wire:
        for _ in range(2):
            wire.request("tools/call", {"name": "tool", "arguments": {"tags": 5}})
    first, second = events
    assert (first["session_id"] == second["session_id"]) is same
    assert int(second["request_id"]) == int(first["request_id"]) + 1
    assert first["transport"] == "streamable-http"
    assert first.get("client_name") == ("by-hand" if kind != "stateless" else first.get("client_name"))


def test_the_model_in_the_baggage_of_a_request(events: Log):
    """The model is named by the request's own baggage, as MCP keeps it; text of another form is masked."""
    with http(lenient(tool), "stateful") as wire:
        for model in ("gpt-oss:20b", "a%0Ab"):
            baggage = {"baggage": f"user=ann,gen_ai.request.model={model}"}
            wire.request("tools/call", {"name": "tool", "arguments": {"tags": 5}, "_meta": baggage})
    assert [event["model"] for event in events] == ["gpt-oss:20b", "{…}"]


async def test_the_model_in_the_baggage_of_a_process(events: Log):
    """In one process, the baggage that an agent has set names the model."""
    context = attach(set_baggage("gen_ai.request.model", "claude-sonnet-4-5"))
    try:
        await call(lenient(tool), "tool", {"tags": 5})
    finally:
        detach(context)
    assert [event["model"] for event in events] == ["claude-sonnet-4-5"]


async def test_the_subject_of_a_request(events: Log):
    """The subject is that of the access token, or else its client id."""
    tokens = {
        "a": {"client_id": "agent", "scopes": [], "sub": "user-1", "claims": {"sub": "user-1"}},
        "b": {"client_id": "agent", "scopes": []},
    }
    server = lenient(tool)
    server.auth = StaticTokenVerifier(tokens)
    with serving(server) as url:
        for token in tokens:
            async with Client(StreamableHttpTransport(url, auth=token)) as client:
                await client.call_tool_mcp("tool", {"tags": 5})
    assert [event["subject"] for event in events] == ["user-1", "agent"]


async def test_json_text_kept_as_a_string_gets_a_hint(events: Log):
    """A list sent as JSON text to a parameter that accepts text is kept, and the event has a hint."""
    server = lenient(tool)
    await call(server, "tool", {"tags": ["a"], "text": '["b"]'})
    await call(server, "tool", {"tags": '["a"]', "text": ' ["b"]'})
    await call(server, "tool", {"tags": ["a"], "text": "b"})
    hint = [{"code": "json_text_kept", "pointer": "/text"}]
    assert [event.get("hints") for event in events] == [hint, hint, None]


async def test_received_values_are_reported_by_type(events: Log):
    """A violation has the JSON type of the received value, or none if nothing was sent."""
    await call(lenient(tool), "tool", {"text": 5})
    assert sorted(events[0]["violations"], key=str) == [
        {"code": "missing", "pointer": "/tags"},
        {"code": "type", "pointer": "/text", "received": "integer"},
    ]


@not_on_3(SPAN)
async def test_the_span_of_a_refused_call_has_the_ids_of_its_event(events: Log):
    """The span has an error status with the code, and the refusal as an event."""
    with exported_spans() as spans:
        await call(lenient(tool), "tool", {"tags": 5})
        (span,) = [each for each in spans.get_finished_spans() if "mcp_lenient.outcome" in each.attributes]
    ids = span.get_span_context()
    assert (int(events[0]["trace_id"], 16), int(events[0]["span_id"], 16)) == (ids.trace_id, ids.span_id)
    assert span.status.description == "INVALID_TAGS_TYPE"
    assert [each.name for each in span.events] == ["mcp_lenient.call_rejected"]
