"""``/health`` of a proxy over HTTP, which reports whether the servers behind it answer."""

from __future__ import annotations

import asyncio
import sys

import httpx2
import pytest
from adapters.fastmcp.proxy.fronts import UPSTREAM, Recording, over_http
from fastmcp import Client, FastMCP
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from fastmcp.server.auth.providers.jwt import StaticTokenVerifier
from wire import serving

from mcp_lenient import create_lenient_proxy
from mcp_lenient.adapters.fastmcp.proxy import upstream as upstreams


async def _health(url: str, **headers: str) -> httpx2.Response:
    async with httpx2.AsyncClient() as client:
        return await client.get(url.replace("/mcp", "/health"), headers=headers, timeout=30)


async def test_health_is_ok_while_the_server_answers(monkeypatch):
    """The status is 200 while the server answers, and 503 once it is gone."""
    monkeypatch.setattr(upstreams, "HEALTH_HOLDS", 0.0)
    with serving(FastMCP("behind")) as behind:
        front = create_lenient_proxy(behind)
        with serving(front) as url:
            well = await _health(url)
    with serving(front) as url:
        gone = await _health(url)
    assert (well.status_code, well.json()) == (200, {"status": "ok", "upstreams": 1, "answering": 1})
    assert (gone.status_code, gone.json()) == (503, {"status": "unavailable", "upstreams": 1, "answering": 0})
    assert well.headers["cache-control"] == "no-store"


async def test_health_requires_all_servers():
    """If one of two servers is gone the status is 503; the answer counts servers, and does not name them."""
    with serving(FastMCP("behind")) as behind:
        config = {"mcpServers": {"there": {"url": behind}, "secret": {"url": "http://127.0.0.1:1/mcp"}}}
        with serving(create_lenient_proxy(config)) as url:
            answer = await _health(url)
    assert (answer.status_code, answer.json()["answering"]) == (503, 1)
    assert "secret" not in answer.text
    assert "127.0.0.1" not in answer.text


async def test_concurrent_health_checks_share_one_ping():
    """Within a few seconds the server is pinged once for all checks, without their headers."""
    behind, recording = FastMCP("behind"), Recording()
    behind.add_middleware(recording)
    with over_http(behind) as url:
        answers = await asyncio.gather(*(_health(url, authorization="Bearer watcher") for _ in range(20)))
    assert {answer.status_code for answer in answers} == {200}
    assert len(recording.messages) <= 3
    assert not any("authorization" in headers for headers in recording.headers())


async def test_credentials_do_not_matter():
    """A server that answers 401 is healthy, since it requires the callers' credentials; ``/health`` needs no token."""
    auth = StaticTokenVerifier(tokens={"right": {"client_id": "a", "scopes": []}})
    with over_http(FastMCP("behind", auth=auth), auth=auth) as url:
        assert (await _health(url)).status_code == 200


@pytest.mark.slow
async def test_a_stdio_server_is_checked_too(monkeypatch):
    """The process that serves the calls is pinged; a silent process is unavailable after a timeout."""
    monkeypatch.setattr(upstreams, "HEALTH_HOLDS", 0.0)
    process = StdioTransport(sys.executable, [UPSTREAM])
    with serving(create_lenient_proxy(process)) as url:
        assert (await _health(url)).status_code == 200
        async with Client(StreamableHttpTransport(url)) as client:
            before = (await client.call_tool_mcp("process", {})).structured_content
            assert (await _health(url)).status_code == 200
            assert (await client.call_tool_mcp("process", {})).structured_content == before
    silent = StdioTransport(sys.executable, ["-c", "import time; time.sleep(60)"])
    with serving(create_lenient_proxy(silent, connect_timeout=0.5)) as url:
        assert (await _health(url)).status_code == 503


async def test_a_python_file_server_is_healthy(tmp_path, commanded):
    """A server that runs inside the proxy is always healthy, with no upstream servers."""
    file = tmp_path / "server.py"
    file.write_text("from fastmcp import FastMCP\nmcp = FastMCP('one')\n")
    with serving(await commanded(str(file))) as url:
        answer = await _health(url)
    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "upstreams": 0, "answering": 0})
