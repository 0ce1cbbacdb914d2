"""A URL behind the proxy that is no MCP server: each cause has its own words, at start, in the log and to the caller."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest
from adapters.fastmcp.proxy.fronts import COMMAND, web
from fastmcp import Client
from mcp.shared.exceptions import MCPError
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from waiting import PATIENCE
from wire import MODERN, pipes, serving

from mcp_lenient import create_lenient_proxy
from mcp_lenient.adapters.fastmcp.proxy.middleware import ProxyMiddleware

_METHODS = ["GET", "POST", "DELETE"]
_NOT_MCP = "answers with something that is not MCP"
_CAUSES = {
    "404": "HTTP status 404: there is nothing at the path of its URL. Many servers have '/mcp' there",
    "403": "HTTP status 403: it does not accept the request",
    "405": "HTTP status 405: the path of its URL takes no POST",
    "429": "HTTP status 429: it does not accept the request",
    "500": "HTTP status 500: it fails, and its own log has the reason",
    "moved": "HTTP status 307: it sends the proxy to another URL",
    "html": "answers with a web page, not in MCP",
    "text": _NOT_MCP,
    "json": _NOT_MCP,
    "list": _NOT_MCP,
    "cut": _NOT_MCP,
    "refused": "refuses the connection",
    "name": "The host of the server behind this proxy is unknown",
}
"""What is said of a server, by how it answers."""
_PASSING = {"429", "500", "refused"}
_CREDENTIALS = "The server behind this proxy does not accept the caller's credentials."

_ANSWERS = {
    "moved": RedirectResponse("http://127.0.0.1:1/mcp"),
    "html": HTMLResponse("<html>hello</html>"),
    "text": Response("hello", media_type="text/plain"),
    "json": JSONResponse({"hello": 1}),
    "list": JSONResponse([1]),
    "cut": Response(b'{"jsonrpc"', media_type="application/json"),
}


async def _answer(request) -> Response:
    cause = request.path_params["cause"]
    return _ANSWERS[cause] if cause in _ANSWERS else Response("private", int(cause))


@contextmanager
def _urls() -> Iterator[dict[str, str]]:
    """Serve each cause, and yield their URLs."""
    elsewhere = {"refused": "http://127.0.0.1:1/mcp", "name": "http://no-such-host.invalid/mcp"}
    with web(Route("/{cause}", _answer, methods=_METHODS)) as url:
        yield {**{cause: f"{url}/{cause}" for cause in (*_CAUSES, "401")}, **elsewhere}


async def _said(url: str, mode: str) -> tuple[str, str]:
    """Return what a client reads of a list and of a call."""
    async with Client(create_lenient_proxy(url, connect_timeout=PATIENCE), mode=mode) as client:
        with pytest.raises(MCPError) as caught:
            await client.list_tools()
        called = await client.call_tool_mcp("add", {"a": 1})
    assert caught.value.error.code == -32603
    assert called.is_error
    meta = called.meta.get("mcp_lenient", {}) if called.meta else {}
    return caught.value.error.message, meta.get("message", called.content[0].text)


@pytest.mark.parametrize("mode", ["legacy", MODERN])
async def test_the_caller_and_the_log_read_the_cause(mode, logged):
    """A list is an error, never empty; a call says why it was not run, and whether it helps to send it again."""
    with _urls() as urls:
        for cause, words in _CAUSES.items():
            logged.clear()
            listed, called = await _said(urls[cause], mode)
            assert words in listed, cause
            assert listed in called, cause
            assert ("Try again later." in called) is (cause in _PASSING), cause
            assert ("Only whoever operates the proxy" in called) is (cause not in _PASSING), cause
            assert {event["reason"] for event in logged if event["event"] == "list_failed"} == {listed}, cause
            assert "private" not in str(logged)
        assert await _said(urls["401"], mode) == (_CREDENTIALS, _CREDENTIALS)


@pytest.mark.parametrize("mode", ["legacy", MODERN])
async def test_no_answer_in_time_is_said(mode):
    """A server that takes the request and sends nothing is late."""

    async def silent(request) -> Response:
        while not await request.is_disconnected():
            await request.receive()
        return Response()

    with web(Route("/mcp", silent, methods=_METHODS)) as url:
        front = create_lenient_proxy(f"{url}/mcp", connect_timeout=0.3, timeout=0.5)
        async with Client(front, mode=mode) as client:
            with pytest.raises(MCPError, match="did not answer in time"):
                await client.list_tools()


async def test_a_command_that_ends_is_said():
    """A program that ends without a word is not called silent."""
    config = {"mcpServers": {"gone": {"command": sys.executable, "args": ["-c", "raise SystemExit(3)"]}}}
    async with Client(create_lenient_proxy(config), mode="legacy") as client:
        with pytest.raises(MCPError, match="ended before it answered"):
            await client.list_tools()


async def test_the_start_logs_each_cause(logged):
    """A proxy that is started says which of its servers gives no answer, and why; no request has to come first."""
    with _urls() as urls:
        config = {"mcpServers": {cause: {"url": url} for cause, url in urls.items()}}
        await _checked(create_lenient_proxy(config), over_http=False)
        reasons = {event["subject"]: event["reason"] for event in logged}
        assert {event["event"] for event in logged} == {"server_unavailable"}
        assert reasons.keys() == urls.keys()
        refused = dict.fromkeys(("401", "403"), "needs credentials, which --header can give it")
        assert all(words in reasons[cause] for cause, words in {**_CAUSES, **refused}.items())

        logged.clear()
        await _checked(create_lenient_proxy(urls["401"]), over_http=True)
        assert not logged, "a caller over HTTP can log in"


async def _checked(front, *, over_http: bool) -> None:
    (middleware,) = (each for each in front.middleware if isinstance(each, ProxyMiddleware))
    await middleware.check_servers(over_http=over_http)


@pytest.mark.slow
def test_the_command_checks_at_its_start():
    """``mcp-lenient proxy`` logs it on stderr by itself, without the SDK's traceback, and goes on."""
    with web(Route("/json", _json, methods=_METHODS)) as url, pipes(*COMMAND, f"{url}/json") as wire:
        for _ in range(300):
            if wire.events:
                break
            time.sleep(0.1)
        assert _NOT_MCP in wire.request("tools/list", {})["error"]["message"]
    assert [event["event"] for event in wire.events] == ["server_unavailable", "list_failed"]
    err = "".join(wire.stderr)
    assert _NOT_MCP in err
    assert "Traceback" not in err


async def _json(_) -> Response:
    return _ANSWERS["json"]


async def test_health_is_not_ok():
    """``/health`` counts a server that answers with 404 or a web page as one that does not answer."""
    with _urls() as urls:
        for cause, status in {"404": 503, "html": 503, "500": 503, "401": 200}.items():
            with serving(create_lenient_proxy(urls[cause])) as url:
                async with httpx2.AsyncClient() as client:
                    answer = await client.get(url.replace("/mcp", "/health"), timeout=30)
            assert answer.status_code == status, cause
