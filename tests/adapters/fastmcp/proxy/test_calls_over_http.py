"""Calls of a server over HTTP: errors, redirects, cookies, progress, and calls that end early."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from adapters.fastmcp.proxy.fronts import around, over_http
from fastmcp import Client, Context, FastMCP
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse, Response
from waiting import PATIENCE, until
from wire import serving

from mcp_lenient import create_lenient_proxy
from mcp_lenient.adapters.fastmcp.proxy import connection

pytestmark = [
    pytest.mark.filterwarnings("ignore:The (roots|sampling|logging) capability is deprecated"),
]

ERAS = ["legacy", "auto"]


def _upstream() -> tuple[FastMCP, list[str]]:
    server: FastMCP = FastMCP("upstream")
    runs: list[str] = []

    @server.tool
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        runs.append("add")
        return a + b

    @server.tool
    async def slowly(steps: int, ctx: Context) -> str:
        """Report progress."""
        for at in range(steps):
            await ctx.report_progress(at + 1, steps)
        return "done"

    @server.tool
    async def hang() -> str:
        """Answer late; note when the call is canceled."""
        runs.append("hangs")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            runs.append("canceled")
            raise
        return "awake"

    return server, runs


def _around_calls(server: FastMCP, wrap: Any) -> None:
    """Let ``wrap(app, scope, receive, send, is_call)`` handle the HTTP requests to a server."""

    async def served(app: Any, scope: Any, receive: Any, send: Any) -> None:
        message = await receive()
        pending = [message]

        async def again() -> Any:
            return pending.pop() if pending else await receive()

        await wrap(app, scope, again, send, b'"tools/call"' in message.get("body", b""))

    around(server, served)


async def _added(client: Client[Any], number: int = 1) -> bool:
    """Return whether a call is answered with its sum."""
    result = await client.call_tool_mcp("add", {"a": number, "b": 1})
    return not result.is_error and result.structured_content == {"result": number + 1}


@pytest.mark.parametrize("mode", ERAS)
async def test_an_answer_that_is_none_is_an_error(mode):
    """A status or text that is no answer is an error of the call, which is not sent again; the next call is served."""
    upstream, runs = _upstream()
    answers: list[Response] = []

    async def wrap(app: Any, scope: Any, receive: Any, send: Any, is_call: bool) -> None:
        await (answers.pop() if is_call and answers else app)(scope, receive, send)

    _around_calls(upstream, wrap)
    unreadable = (
        Response(body, media_type="application/json") for body in (b"no JSON", b"{}", b"", b"[1, 2]")
    )
    with over_http(upstream) as url:
        async with Client(url, mode=mode) as client:
            for answer in (*unreadable, *(JSONResponse({}, status) for status in (400, 403, 500, 503))):
                answers.append(answer)
                assert (await client.call_tool_mcp("add", {"a": 1, "b": 1})).is_error
                assert await _added(client)
    assert runs == ["add"] * 8


@pytest.mark.parametrize("mode", ERAS)
async def test_a_redirected_call_runs_once(mode):
    """A server that redirects within its address gets each call, and runs it once."""
    upstream, runs = _upstream()
    redirected: list[str] = []

    async def wrap(app: Any, scope: Any, receive: Any, send: Any, is_call: bool) -> None:
        if is_call and scope["path"] == "/mcp":
            redirected.append(scope["path"])
            app = RedirectResponse("/moved", 307)
        await app({**scope, "path": "/mcp"}, receive, send)

    _around_calls(upstream, wrap)
    with over_http(upstream) as url:
        async with Client(url, mode=mode) as client:
            assert [await _added(client, number) for number in range(3)] == [True] * 3
    assert runs == ["add"] * 3
    assert len(redirected) > 1


@pytest.mark.parametrize("when", ["at the handshake", "with a call"])
async def test_a_cookie_is_sent_back(when):
    """A cookie of the server, as a load balancer sets it for a session, comes with every later call."""
    upstream, _ = _upstream()
    seen: list[str | None] = []

    async def wrap(app: Any, scope: Any, receive: Any, send: Any, is_call: bool) -> None:
        if is_call:
            seen.append(Headers(scope=scope).get("cookie"))

        async def stamped(message: Any) -> None:
            if message["type"] == "http.response.start" and is_call == (when == "with a call"):
                MutableHeaders(scope=message)["set-cookie"] = "replica=2; Path=/"
            await send(message)

        await app(scope, receive, stamped)

    _around_calls(upstream, wrap)
    with over_http(upstream) as url:
        async with Client(url, mode="legacy") as client:
            assert [await _added(client) for _ in range(3)] == [True] * 3
    first = "replica=2" if when == "at the handshake" else None
    assert seen == [first, "replica=2", "replica=2"]


async def test_a_proxy_of_the_environment_is_used(monkeypatch):
    """Where the environment names an HTTP proxy, calls go through it."""
    upstream, runs = _upstream()

    async def wrap(app: Any, scope: Any, receive: Any, send: Any) -> None:
        path = scope["path"].removeprefix("http://nowhere.invalid")
        headers = [(name, b"localhost" if name == b"host" else value) for name, value in scope["headers"]]
        await app({**scope, "path": path, "headers": headers}, receive, send)

    around(upstream, wrap)
    with serving(upstream) as behind:
        monkeypatch.setenv("http_proxy", behind.removesuffix("/mcp"))
        async with Client(create_lenient_proxy("http://nowhere.invalid/mcp"), mode="legacy") as client:
            result = await client.call_tool_mcp("add", {"a": 1, "b": "1"})
    assert result.structured_content == {"result": 2}
    assert runs == ["add"]


@pytest.mark.parametrize("mode", ERAS)
async def test_progress_comes_before_its_answer(mode):
    """What a call reports is there when its answer is; a call beside it gets only its own."""
    upstream, _ = _upstream()

    async def reported(client: Client[Any], steps: int) -> list[float]:
        seen: list[float] = []

        async def progress(done: float, _total: float | None, _: str | None) -> None:
            seen.append(done)

        await client.call_tool_mcp("slowly", {"steps": str(steps)}, progress_handler=progress)
        return seen

    with over_http(upstream) as url:
        async with Client(url, mode=mode) as client:
            for _ in range(5):
                assert await asyncio.gather(*(reported(client, steps) for steps in (2, 3))) == [
                    [1, 2],
                    [1, 2, 3],
                ]


@pytest.mark.parametrize("mode", ERAS)
async def test_a_canceled_call_is_canceled_at_the_server(mode):
    """A client that gives a call up ends it at the server, and its next call is served."""
    upstream, runs = _upstream()
    with over_http(upstream) as url:
        async with Client(url, mode=mode) as client:
            call = asyncio.ensure_future(client.call_tool_mcp("hang", {}))
            await until(lambda: "hangs" in runs)
            call.cancel()
            await until(lambda: "canceled" in runs)
            assert await _added(client)


@pytest.mark.parametrize("mode", ERAS)
async def test_a_late_call_is_canceled_at_the_server(mode):
    """A call that takes too long is ended at the server and answered with the envelope."""
    upstream, runs = _upstream()
    with over_http(upstream, timeout=4) as url:
        async with Client(url, mode=mode) as client:
            late = await client.call_tool_mcp("hang", {})
            assert json.loads(late.content[0].text)["error_code"] == "UPSTREAM_TIMED_OUT"
            await until(lambda: "canceled" in runs)
            assert await _added(client)


async def test_a_running_call_ends_with_the_proxy():
    """A call that runs while the proxy closes its sessions fails at once."""
    upstream, runs = _upstream()
    with serving(upstream) as behind:
        proxy = create_lenient_proxy(behind)
        async with Client(proxy, mode="legacy") as client:
            call = asyncio.ensure_future(client.call_tool_mcp("hang", {}))
            await until(lambda: "hangs" in runs)
            (middleware,) = (each for each in proxy.middleware if hasattr(each, "close"))
            await middleware.close()
            assert (await asyncio.wait_for(call, PATIENCE)).is_error


async def test_calls_use_one_connection(monkeypatch):
    """Calls of the newer era that follow each other need no further connection, and so no further TLS handshake."""
    monkeypatch.setattr(connection, "_KEEP_ALIVE", PATIENCE)
    upstream, _ = _upstream()
    ports: set[int] = set()

    async def wrap(app: Any, scope: Any, receive: Any, send: Any, is_call: bool) -> None:
        if is_call:
            ports.add(scope["client"][1])
        await app(scope, receive, send)

    _around_calls(upstream, wrap)
    with over_http(upstream) as url:
        async with Client(url) as client:
            assert [await _added(client) for _ in range(5)] == [True] * 5
    assert len(ports) == 1
