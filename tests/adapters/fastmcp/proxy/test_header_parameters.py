"""Parameters that a tool of the newer era declares to be in headers too."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Annotated, Any

from adapters.fastmcp.proxy.fronts import Recording, over_http
from fastmcp import Client, FastMCP
from pydantic import Field
from wire import MODERN, Http

_HEADER = "mcp-param-region"


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
    upstream, recording = FastMCP("upstream"), Recording()
    _add_find(upstream, declares=declares)
    upstream.add_middleware(recording)
    with over_http(upstream) as url:
        yield url, upstream, recording


def _requests(recording: Recording, method: str) -> int:
    """Return the number of requests, without the lists that the server's own SDK asks for."""
    return sum(headers.get("mcp-method") == method for headers in recording.headers(method))


def _refused(wire: _Raw, region: str, header: str | None) -> bool:
    """Whether a call is refused for its header."""
    request = wire.prepared("tools/call", {"name": "find", "arguments": {"region": region}})
    if header is not None:
        request.headers[_HEADER] = header
    return "error" in wire.send(request)


class _Raw(Http):
    """Sends requests that are not as the SDK would make them."""

    def send(self, request: Any) -> Any:
        return self._client.send(request).json()


async def test_calls_cost_no_list():
    """Calls of a tool that declares no header make the proxy ask for one list at most; a client's own lists are whole."""
    with _front(declares=False) as (url, _, recording):
        async with Client(url, mode=MODERN) as client:
            await client.call_tool_mcp("find", {"region": "eu"})
            before = _requests(recording, "tools/list")
            for _ in range(5):
                result = await client.call_tool_mcp("find", {"region": "eu"})
                assert result.structured_content == {"result": "eu"}
            assert _requests(recording, "tools/call") == 6
            assert _requests(recording, "tools/list") == before
            for _ in range(2):
                assert [tool.name for tool in await client.list_tools()] == ["find"]
                await client.call_tool_mcp("find", {"region": "eu"})


def test_a_declared_header_is_compared():
    """From the second call of a tool on, a header that differs from its parameter, or is missing, is refused."""
    with _front(declares=True) as (url, _, recording):
        client = _Raw(url, modern=True)
        for _ in range(2):
            assert not _refused(client, "eu", "eu")
            assert _refused(client, "eu", "us")
            assert _refused(client, "eu", None)
        assert _requests(recording, "tools/call") == 2
        client.close()


def test_a_declaration_that_comes_later_applies():
    """A header is compared as soon as the changed tool is listed."""
    with _front(declares=False) as (url, upstream, _):
        client = _Raw(url, modern=True)
        assert not _refused(client, "eu", None)
        upstream.local_provider.remove_tool("find")
        _add_find(upstream, declares=True)
        client.request("tools/list", {})
        assert _refused(client, "eu", "us")
        assert not _refused(client, "eu", "eu")
        client.close()
