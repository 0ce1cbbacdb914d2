"""A subclass of the middleware can use all of FastMCP's hooks, although the middleware itself skips some."""

from __future__ import annotations

import pytest
from fastmcp import Client, FastMCP

from mcp_lenient import LenientMiddleware


class HearsMessages(LenientMiddleware):
    """A subclass that records the calls of ``on_message``."""

    heard: list[str]

    async def on_message(self, context, call_next):
        self.heard.append(context.method)
        return await super().on_message(context, call_next)


class HearsRequests(LenientMiddleware):
    """A subclass that records the calls of ``on_request``."""

    heard: list[str]

    async def on_request(self, context, call_next):
        self.heard.append(context.method)
        return await super().on_request(context, call_next)


class HearsCalls(LenientMiddleware):
    """A subclass that records the calls of ``on_call_tool``."""

    heard: list[str]

    async def on_call_tool(self, context, call_next):
        self.heard.append(context.method)
        return await super().on_call_tool(context, call_next)


@pytest.mark.parametrize("kind", [HearsMessages, HearsRequests, HearsCalls])
async def test_a_hook_of_a_subclass_sees_each_call_once(kind):
    """The hook of the subclass is called once, and the call is repaired."""
    server, middleware = FastMCP("notes"), kind()
    middleware.heard = []
    server.add_middleware(middleware)

    @server.tool
    def double(number: int) -> int:
        return 2 * number

    async with Client(server) as client:
        result = await client.call_tool("double", {"number": "4.0"})
    assert result.data == 8
    assert middleware.heard.count("tools/call") == 1
