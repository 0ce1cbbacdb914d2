"""The four kinds of servers with decorated tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from calls import plain
from fastmcp import FastMCP

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
