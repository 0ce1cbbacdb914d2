"""Sessions with an upstream HTTP server are kept between a client's requests, and never shared by clients."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import httpx2
import pytest
from adapters.fastmcp.proxy.fronts import UPSTREAM, Recording, around, over_http
from fastmcp import Client, Context, FastMCP
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from fastmcp.server.middleware import Middleware
from mcp.shared.exceptions import MCPError
from starlette.responses import Response
from waiting import until
from wire import serving

from mcp_lenient import create_lenient_proxy
from mcp_lenient.adapters.fastmcp.proxy import sessions

pytestmark = [
    pytest.mark.filterwarnings("ignore:The (roots|sampling|logging) capability is deprecated"),
]


def _upstream() -> tuple[FastMCP, Recording]:
    server, recording = FastMCP("upstream"), Recording()
    notes: dict[str, list[str]] = {}

    @server.tool
    async def note(text: str, ctx: Context) -> list[str]:
        """Add to the notes of this session."""
        mine = notes.setdefault(ctx.session_id, [])
        mine.append(text)
        return mine

    @server.tool
    async def ask(ctx: Context) -> str:
        """Ask the client's user."""
        answer = await ctx.elicit("Who are you?", response_type=str)
        return str(answer.data)

    server.add_middleware(recording)
    return server, recording


def _client(
    url: str, name: str = "one", *, headers: dict[str, str] | None = None, **options: Any
) -> Client[Any]:
    async def answer(*_: Any) -> dict[str, str]:
        return {"value": name}

    transport = StreamableHttpTransport(url, headers=headers)
    return Client(transport, mode="legacy", elicitation_handler=answer, **options)


async def test_one_session_serves_the_calls_of_one_client():
    """A client's successive requests use one upstream session, which keeps its state."""
    upstream, recording = _upstream()
    with over_http(upstream) as url:
        async with _client(url) as client:
            await client.list_tools()
            for text in "abc":
                await client.call_tool_mcp("note", {"text": text})
            wrong = await client.call_tool_mcp("note", {"text": []})
            last = await client.call_tool_mcp("note", {"text": "d"})
    assert wrong.is_error
    assert last.structured_content == {"result": ["a", "b", "c", "d"]}
    assert recording.count("initialize") <= 2  # including the one that probes the protocol version


async def test_each_client_has_its_own_sessions():
    """Clients do not share state, and the server's questions go to the client that called."""
    upstream, _ = _upstream()
    with over_http(upstream) as url:
        async with _client(url, "one") as one, _client(url, "two") as two:
            for client, text in ((one, "a"), (two, "b"), (one, "c")):
                noted = await client.call_tool_mcp("note", {"text": text})
            assert noted.structured_content == {"result": ["a", "c"]}
            for _ in range(3):
                asked = await asyncio.gather(one.call_tool_mcp("ask", {}), two.call_tool_mcp("ask", {}))
                assert [answer.content[0].text for answer in asked] == ["one", "two"]


async def test_sessions_end_with_the_client():
    """When a client disconnects, its upstream sessions are ended."""
    upstream, _ = _upstream()
    deleted: list[str] = []

    async def watched(app, scope, receive, send):
        if scope["method"] == "DELETE":
            deleted.append(scope["path"])
        await app(scope, receive, send)

    around(upstream, watched)
    with over_http(upstream) as url:
        async with _client(url) as client:
            await client.call_tool_mcp("note", {"text": "a"})
            before = len(deleted)
        await until(lambda: len(deleted) > before)
    assert len(deleted) == before + 1


async def test_other_credentials_open_another_session():
    """Another ``Authorization`` header opens a new session; another ``traceparent`` does not."""
    upstream, recording = _upstream()
    current = {"authorization": "Bearer one", "traceparent": "00-1"}

    async def stamp(request: httpx2.Request) -> None:
        request.headers.update(current)

    def made(headers=None, auth=None, **_):
        return httpx2.AsyncClient(headers=headers, auth=auth, event_hooks={"request": [stamp]})

    with over_http(upstream) as url:
        async with Client(StreamableHttpTransport(url, httpx_client_factory=made), mode="legacy") as client:
            first = await client.call_tool_mcp("note", {"text": "a"})
            current["traceparent"] = "00-2"
            second = await client.call_tool_mcp("note", {"text": "b"})
            current["authorization"] = "Bearer two"
            third = await client.call_tool_mcp("note", {"text": "c"})
    assert first.structured_content == {"result": ["a"]}
    assert second.structured_content == {"result": ["a", "b"]}
    assert third.structured_content == {"result": ["c"]}
    sent = [(headers["authorization"], headers["traceparent"]) for headers in recording.headers("tools/call")]
    assert sent == [("Bearer one", "00-1"), ("Bearer one", "00-2"), ("Bearer two", "00-2")]


async def test_a_restarted_server_gets_a_new_session():
    """If the server no longer knows the session, a new one is opened, and the call runs once."""
    upstream, recording = _upstream()
    apps: list[Any] = [upstream.http_app()]
    again = upstream.http_app()

    async def current(scope, receive, send):
        if scope["type"] == "lifespan":
            async with again.lifespan(again):  # runs in the loop that answers its requests
                await apps[0](scope, receive, send)
        else:
            await apps[-1](scope, receive, send)

    upstream.http_app = lambda **_: current
    with over_http(upstream) as url:
        async with _client(url) as client:
            await client.call_tool_mcp("note", {"text": "a"})
            apps.append(again)
            answer = await client.call_tool_mcp("note", {"text": "b"})
            listed = await client.list_tools()
    assert answer.structured_content == {"result": ["b"]}
    assert listed
    assert recording.count("tools/call") == 2


async def test_a_tool_error_is_not_retried():
    """If the server refuses event streams with 404 and the call fails, the tool has run only once."""
    upstream, recording = _upstream()

    class Failing(Middleware):
        async def on_call_tool(self, context, call_next):  # noqa: ARG002 - as FastMCP calls it
            raise MCPError(code=-32050, message="out of paper")

    async def without_streams(app, scope, receive, send):
        answer = Response(status_code=404) if scope["method"] == "GET" else app
        await answer(scope, receive, send)

    upstream.add_middleware(Failing())
    around(upstream, without_streams)
    with over_http(upstream) as url:
        async with _client(url) as client:
            await client.list_tools()
            await asyncio.sleep(0.1)
            failed = await client.call_tool_mcp("note", {"text": "a"})
    assert failed.is_error
    assert "out of paper" in failed.content[0].text
    assert recording.count("tools/call") == 1


async def test_clients_beyond_the_session_limit_are_served(monkeypatch):
    """If the maximum number of sessions is kept, each further call has its own session."""
    monkeypatch.setattr(sessions, "MOST_KEPT", 1)
    upstream, _ = _upstream()
    with over_http(upstream) as url:
        async with _client(url, "one") as one, _client(url, "two") as two:
            for client in (one, two):
                await client.call_tool_mcp("note", {"text": "a"})
            noted = [await client.call_tool_mcp("note", {"text": "b"}) for client in (one, two)]
    assert [each.structured_content["result"] for each in noted] == [["a", "b"], ["b"]]


@pytest.mark.parametrize("stateless", [False, True], ids=["idle", "stateless"])
async def test_a_session_is_not_used_again(stateless, monkeypatch):
    """An idle session ends, and a stateless proxy, which cannot tell clients apart, has a session for each call."""
    if not stateless:
        monkeypatch.setattr(sessions, "IDLE", 0.0)
    upstream, _ = _upstream()
    with over_http(upstream, stateless=stateless) as url:
        async with _client(url) as client:
            await client.call_tool_mcp("note", {"text": "a"})
            last = await client.call_tool_mcp("note", {"text": "b"})
    assert last.structured_content == {"result": ["b"]}


async def test_a_stdio_server_asks_the_client_that_called():
    """A stdio server has one session for all clients: no client is asked while two of them are calling."""
    process = StdioTransport(sys.executable, [UPSTREAM])
    with serving(create_lenient_proxy(process)) as url:
        async with _client(url, "one") as one, _client(url, "two") as two:
            for client, name in ((one, "one"), (two, "two"), (one, "one")):
                asked = await client.call_tool_mcp("ask_who", {})
                assert asked.content[0].text == name
            both = await asyncio.gather(
                one.call_tool_mcp("ask_who", {"after": 0.5}), two.call_tool_mcp("ask_who", {"after": 0.5})
            )
    for own, other, answer in (("one", "two", both[0]), ("two", "one", both[1])):
        assert answer.content[0].text != other
        assert answer.is_error or answer.content[0].text == own
