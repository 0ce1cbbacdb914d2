"""Servers and tools for the tests of the testing tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from fastmcp import FastMCP
from fastmcp.tools import Tool, ToolResult

from mcp_lenient import LenientMiddleware, Policy


def store(content: str, tags: list[str] | None = None, limit: int = 5) -> list[str]:
    """Store a text. The body must not run."""
    raise SystemError(content, tags, limit)


def mode(mode: Literal["read", "write"], count: int) -> str:
    """Take a mode. The body must not run."""
    raise SystemError(mode, count)


def lenient(*tools: Tool | Callable[..., Any], policy: Policy | None = None, strict: bool = False) -> FastMCP:
    """Return a server with these tools and the middleware."""
    server = plain(*tools, strict=strict)
    server.add_middleware(LenientMiddleware(policy))
    return server


def plain(*tools: Tool | Callable[..., Any], strict: bool = False) -> FastMCP:
    """Return a server with these tools and no middleware."""
    server: FastMCP = FastMCP("server", strict_input_validation=strict)
    for tool in tools:
        server.add_tool(tool)
    return server


class Published(Tool):
    """A tool of an author's own class that is known only by its schema."""

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Raise an error, because the body must not run."""
        raise SystemError(arguments)


def published(**properties: Any) -> Published:
    """Return a tool that publishes these parameters, all of them required."""
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return Published(name="published", parameters=schema)
