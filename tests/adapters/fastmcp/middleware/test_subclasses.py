"""A subclass of the middleware can use all of FastMCP's hooks, although the middleware itself skips some."""

from __future__ import annotations

from typing import Any

import pytest
from fastmcp import Client, FastMCP

from mcp_lenient import LenientMiddleware


def _hearing(hook: str) -> type[LenientMiddleware]:
    """Return a subclass that records the calls of a hook."""

    async def hear(self, context, call_next):
        self.heard.append(context.method)
        return await getattr(super(kind, self), hook)(context, call_next)

    kind: type[LenientMiddleware] = type("Hearing", (LenientMiddleware,), {hook: hear})
    return kind


@pytest.mark.parametrize("hook", ["on_message", "on_request", "on_call_tool"])
async def test_a_hook_of_a_subclass_sees_each_call_once(hook):
    """The hook of the subclass is called once, and the call is repaired."""
    middleware: Any = _hearing(hook)()
    middleware.heard = []

    def double(number: int) -> int:
        return 2 * number

    server = FastMCP("notes", middleware=[middleware], tools=[double])

    async with Client(server) as client:
        result = await client.call_tool("double", {"number": "4.0"})
    assert result.data == 8
    assert middleware.heard.count("tools/call") == 1
