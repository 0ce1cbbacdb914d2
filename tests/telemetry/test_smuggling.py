"""Test real calls with hostile text wherever a client or server can choose text: lines stay safe."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
import structlog
from fastmcp import Client, FastMCP
from fastmcp.client.transports import StreamableHttpTransport
from fastmcp.exceptions import FastMCPError, NotFoundError
from fastmcp.server.auth.providers.jwt import StaticTokenVerifier
from fastmcp_versions import in_era
from mcp.types import Implementation
from telemetry.test_events import strings
from wire import http, serving

from mcp_lenient import LenientMiddleware, configure_logging
from mcp_lenient.telemetry.events import read_event
from mcp_lenient.telemetry.setup import reset_logging

SECRET = "sk-live-4242424242"  # noqa: S105 - not a real secret
HOSTILE = [
    pytest.param('a"}\n{"event": "call_accepted", "tool": "t", "schema_version": 1}', id="a line of its own"),
    pytest.param(
        "a\r\nb\x0bc\x85d\u2028e\u2029f\x1b[2J\x1b]0;owned\x07\x9b31m\x00\x7f\u202egnp.exe\u2066\u200b\ufeff",
        id="line breaks, terminal codes and direction marks",
    ),
    pytest.param("\x1b" * 2**20, id="a megabyte of escapes"),
]
# JSON cannot represent these, so only a call within the process can contain them.
SURROGATES = pytest.param("\ud800\udfff\udc80", id="lone surrogates")


@pytest.fixture(autouse=True)
def nothing_configured():
    """Start and end each test without any configuration."""
    structlog.reset_defaults()
    yield
    reset_logging()


def store(content: str, tags: list[str] | None = None, nested: dict[str, list[int]] | None = None) -> str:
    """Keep a note."""
    return f"{content}{tags}{nested}"


def server(name="notes", auth=None):
    """Return a lenient server."""
    made = FastMCP(name, auth=auth)
    made.tool(store)
    made.add_middleware(LenientMiddleware())
    return made


def calls(text):
    """Return nearly right, wrong and unknown calls with this text wherever a client can put it."""
    value = f"{SECRET}{text[:100]}"
    return [
        ("store", {"content": [value], "tags": value}),
        ("store", {"content": {value: value}, "tags": {text: value}, text: value}),
        ("store", {"content": value, "nested": {text: {text: [value]}}}),
        (text, {text: value}),
    ]


def checked(written, *, most=6000):
    """Return the lines of a log, after checking that each is bounded, printable and without the secret."""
    lines = written.split("\n")
    assert lines.pop() == ""
    for line in lines:
        assert line.isprintable()
        assert len(line) < most
        assert SECRET not in line
    return lines


def read(lines):
    """Return the events of these lines, after checking that all can be read and have printable text only."""
    events = [read_event(line) for line in lines]
    assert None not in events
    for line in lines:
        assert all(text.isprintable() for text in strings(json.loads(line)))
    return events


pytestmark = pytest.mark.usefixtures("without_lines_of_fastmcp")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("text", HOSTILE)
async def test_a_client_in_the_same_process(text, mode, capsys):
    """Client name and version, tool and parameter names, meta, and the server's name are escaped."""
    configure_logging(accepted=1)
    info = Implementation(name=text, version=text)
    async with Client(server(text), client_info=info, **in_era(mode)) as client:
        for tool, arguments in calls(text):
            await client.call_tool_mcp(tool, arguments, meta={"note": SECRET, text: text})
    events = read(checked(capsys.readouterr().err))
    assert [event.event for event in events][1:] == ["call_rejected"] * 3
    assert all(event.client_name and event.client_version and event.server for event in events)


@pytest.mark.parametrize("style", ["json", "text"])
@pytest.mark.parametrize("text", [*HOSTILE, SURROGATES])
async def test_in_process_calls(text, style, capsys):
    """Calls within the process may contain what JSON cannot represent, and give safe lines in each style."""
    configure_logging(style=style, accepted=1)
    made = server("notes")
    for tool, arguments in calls(text):
        with suppress(FastMCPError, NotFoundError):  # Python code gets FastMCP's exception
            await made.call_tool(tool, arguments)
    lines = checked(capsys.readouterr().err)
    assert len(lines) == 4
    if style == "json":
        read(lines)


@pytest.mark.parametrize("kind", ["stateful", "modern"])
@pytest.mark.parametrize("text", HOSTILE[:2])
def test_raw_requests(text, kind, capsys):
    """Requests that no client library would send over HTTP give safe lines."""
    with http(server(), kind) as wire:
        for tool, arguments in calls(text)[:3]:
            meta = {text: text, "progressToken": 7}
            params = {"name": tool, "arguments": arguments, "_meta": meta}
            assert wire._client.send(wire.prepared("tools/call", params)).status_code == 200
    lines = [line for line in capsys.readouterr().err.splitlines(keepends=True) if '"schema_version"' in line]
    events = read(checked("".join(lines)))
    assert {event.transport for event in events} == {"streamable-http"}
    assert len(events) == 3


@pytest.mark.parametrize("text", HOSTILE[:2])
async def test_the_subject_of_a_token(text, tmp_path):
    """The subject of a token is in the event, escaped. The token itself is not."""
    configure_logging(file=tmp_path / "events.jsonl")
    tokens = {SECRET: {"client_id": "its-client", "scopes": [], "sub": text, "claims": {"sub": text}}}
    with serving(server(auth=StaticTokenVerifier(tokens))) as url:
        async with Client(StreamableHttpTransport(url, auth=SECRET)) as client:
            await client.call_tool_mcp("store", {"content": "x", "tags": 5})
    (event,) = read(checked((tmp_path / "events.jsonl").read_text()))
    assert event.subject
    assert event.subject != "its-client"
