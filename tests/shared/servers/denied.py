"""A server whose SDK middleware denies calls: ``python denied.py [deny|hide] [first|last|later|never] [mode]``."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from typing import Any

from fastmcp import Context, FastMCP
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import InputRequiredResult

from mcp_lenient import LenientMiddleware, Policy

Next = Callable[[ServerRequestContext[Any, Any]], Awaitable[Any]]
DENIED = -32001
RAN = "the tool ran with"


async def pay(path: str, ctx: Context) -> str | InputRequiredResult:
    """Run, and say which state the request came with."""
    sys.stderr.write(f"{RAN} {path} {ctx.request_state}\n")
    return f"{RAN} {path} {ctx.request_state}"


async def deny(ctx: ServerRequestContext[Any, Any], call_next: Next) -> Any:
    """Deny every call of a tool."""
    if ctx.method == "tools/call":
        raise MCPError(DENIED, "denied")
    return await call_next(ctx)


async def guard(ctx: ServerRequestContext[Any, Any], call_next: Next) -> Any:
    """Deny paths below /etc, by the arguments as this middleware sees them."""
    arguments = (ctx.params or {}).get("arguments")
    if ctx.method == "tools/call" and isinstance(arguments, dict) and "/etc" in str(arguments.get("path")):
        raise MCPError(DENIED, "denied")
    return await call_next(ctx)


async def hide(ctx: ServerRequestContext[Any, Any], call_next: Next) -> Any:
    """Run a call, and deny its result."""
    answer = await call_next(ctx)
    if ctx.method == "tools/call":
        raise MCPError(DENIED, "denied")
    return answer


def place(server: FastMCP, middleware: Any, position: str) -> None:
    """Put middleware into the SDK's list of a server."""
    listed = server._mcp_server.middleware
    listed.insert(len(listed) if position == "last" else 0, middleware)


def build(*middleware: Any, position: str = "first", mode: str | None = "repair") -> FastMCP:
    """Return the server; without ours if there is no mode."""
    server: FastMCP = FastMCP(
        "denied", middleware=[] if mode is None else [LenientMiddleware(Policy(mode=mode))]
    )  # type: ignore[arg-type]
    server.tool(pay)
    for denying in middleware:
        place(server, denying, position)
    return server


if __name__ == "__main__":
    build(globals()[sys.argv[1]], position=sys.argv[2], mode=sys.argv[3]).run(show_banner=False)
