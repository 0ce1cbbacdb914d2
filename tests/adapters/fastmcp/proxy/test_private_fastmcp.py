"""The private APIs of FastMCP and the SDK that the proxy uses: each test fails on the day that one is gone."""

from __future__ import annotations

from contextlib import AsyncExitStack

from fastmcp import Client, Context, FastMCP
from fastmcp.client.transports import stdio

from mcp_lenient.adapters.fastmcp.proxy import private_fastmcp, utf8


def test_stdio_clients_of_fastmcp_use_this_encoding():
    """FastMCP's module for stdio takes the SDK's parameters from a name that can be replaced."""
    private_fastmcp.refuse_other_bytes()
    assert stdio.StdioServerParameters(command="any").encoding == utf8.CODEC


async def test_a_server_runs_on_streams_that_can_be_wrapped():
    """FastMCP has the SDK's server under one name, and runs it by its method."""
    server, seen = FastMCP("any"), []

    def wrap(stream):
        seen.append(stream)
        return stream

    private_fastmcp.wrap_streams(server, wrap)
    async with Client(server) as client:
        assert await client.list_tools() == []
    assert len(seen) == 1


async def test_a_connection_is_one_object_that_ends():
    """The requests of a client have one connection, which runs cleanup at its end; those of others have another."""
    server, found, ended = FastMCP("any"), [], []

    @server.tool
    async def look(ctx: Context) -> None:
        found.append(private_fastmcp.connection_of(ctx))

    for _ in range(2):
        async with Client(server, mode="legacy") as client:
            await client.call_tool("look")
            await client.call_tool("look")
            assert isinstance(found[-1].exit_stack, AsyncExitStack)
            found[-1].exit_stack.callback(ended.append, found[-1])
    assert [found[0], found[2]] == ended
    assert found[0] is found[1] is not found[2] is found[3]
    assert private_fastmcp.connection_of(None) is None
