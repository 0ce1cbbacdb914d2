"""Parameters that a tool of the newer era declares to be in headers too."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from typing import Annotated, Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.server.dependencies import get_http_headers
from fastmcp.server.middleware import Middleware
from pydantic import Field
from wire import MODERN, Http, serving

from mcp_lenient import create_lenient_proxy

_HEADER = "mcp-param-region"


class _Counting(Middleware):
    """Counts the requests by method, without the lists that the server's own SDK asks for."""

    def __init__(self) -> None:
        self.methods: Counter[str] = Counter()

    async def on_message(self, context, call_next):
        if get_http_headers(include={"mcp-method"}).get("mcp-method") == context.method:
            self.methods[context.method] += 1
        return await call_next(context)


def find(region: str) -> str:
    """Find what is in a region."""
    return region


def find_by_header(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
    """Find what is in a region, which is in a header too."""
    return region


def _add_find(server: FastMCP, *, declares: bool) -> None:
    server.tool(find_by_header if declares else find, name="find")


@contextmanager
def _front(*, declares: bool):
    upstream, counting = FastMCP("upstream"), _Counting()
    _add_find(upstream, declares=declares)
    upstream.add_middleware(counting)
    with serving(upstream) as behind, serving(create_lenient_proxy(behind)) as url:
        yield url, upstream, counting.methods


def _refused(wire: Http, region: str, header: str | None) -> bool:
    """Whether a call is refused for its header."""
    request = wire.prepared("tools/call", {"name": "find", "arguments": {"region": region}})
    if header is not None:
        request.headers[_HEADER] = header
    answer = wire.send(request)
    return "error" in answer


@pytest.fixture
def wire():
    """Make connections that are closed in the end."""
    made: list[Http] = []

    def make(url: str) -> Http:
        made.append(_Raw(url, modern=True))
        return made[-1]

    yield make
    for each in made:
        each.close()


class _Raw(Http):
    def send(self, request: Any) -> Any:
        return self._client.send(request).json()


async def test_calls_cost_no_list():
    """Calls of a tool that declares no header make the proxy ask for one list at most."""
    with _front(declares=False) as (url, _, methods):
        async with Client(url, mode=MODERN) as client:
            await client.call_tool_mcp("find", {"region": "eu"})
            before = methods["tools/list"]
            for _ in range(5):
                result = await client.call_tool_mcp("find", {"region": "eu"})
                assert result.structured_content == {"result": "eu"}
            assert methods["tools/call"] == 6
            assert methods["tools/list"] == before


async def test_a_clients_own_list_is_whole():
    """A client that lists the tools between its calls sees them all."""
    with _front(declares=False) as (url, _, _):
        async with Client(url, mode=MODERN) as client:
            for _ in range(2):
                await client.call_tool_mcp("find", {"region": "eu"})
                assert [tool.name for tool in await client.list_tools()] == ["find"]


def test_a_declared_header_is_compared(wire):
    """From the second call of a tool on, a header that differs from its parameter, or is missing, is refused."""
    with _front(declares=True) as (url, _, methods):
        client = wire(url)
        for _ in range(2):
            assert not _refused(client, "eu", "eu")
            assert _refused(client, "eu", "us")
            assert _refused(client, "eu", None)
        assert methods["tools/call"] == 2


def test_a_declaration_that_comes_later_applies(wire):
    """A header is compared as soon as the changed tool is listed."""
    with _front(declares=False) as (url, upstream, _):
        client = wire(url)
        assert not _refused(client, "eu", None)
        upstream.local_provider.remove_tool("find")
        _add_find(upstream, declares=True)
        client.request("tools/list", {})
        assert _refused(client, "eu", "us")
        assert not _refused(client, "eu", "eu")
