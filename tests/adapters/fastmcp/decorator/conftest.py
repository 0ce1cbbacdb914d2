"""Fixtures for the tests of ``@lenient``: the four kinds of servers, and the published tool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from calls import plain
from fastmcp import Client, FastMCP

from mcp_lenient import LenientMiddleware

Serve = Callable[..., FastMCP]


@pytest.fixture(
    params=[
        pytest.param(
            (strict, middleware),
            id=f"{'strict' if strict else 'lax'}-{where}",
        )
        for strict in (False, True)
        for middleware, where in ((False, "alone"), (True, "middleware"))
    ]
)
def serve(request) -> Serve:
    """Return a function that creates a server with tools: lax or strict, with or without the middleware."""
    strict, middleware = request.param

    def served(*tools: Any) -> FastMCP:
        server = plain(*tools, strict=strict)
        if middleware:
            server.add_middleware(LenientMiddleware())
        return server

    return served


@pytest.fixture
def published() -> Callable[[Any], Awaitable[str]]:
    """Return a function that lists a tool with a client, and returns it as JSON."""

    async def listed(function: Any) -> str:
        async with Client(FastMCP("server", tools=[function])) as client:
            (tool,) = await client.list_tools()
        return tool.model_dump_json(by_alias=True)

    return listed
