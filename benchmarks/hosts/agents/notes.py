"""A server without mcp-lenient, on loopback."""

# mypy: ignore-errors

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import Any

from fastmcp import FastMCP
from fastmcp.server.middleware import Middleware
from fastmcp.tools import Tool, ToolResult

from benchmarks.hosts.calls import SCHEMA, store
from benchmarks.ports import free_port, wait_for


class Echo(Tool):
    """A tool that accepts any arguments, and returns them as JSON."""

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Return the arguments."""
        return ToolResult(content=json.dumps(arguments))


def server(middleware: Sequence[Middleware] = ()) -> FastMCP:
    """Return a server with a function, an echo tool, and a destructive tool."""
    mcp = FastMCP("notes", middleware=list(middleware))
    mcp.tool(store, output_schema=None)
    mcp.add_tool(Echo(name="echo", description="Echo.", parameters=dict(SCHEMA)))

    @mcp.tool(annotations={"destructiveHint": True}, output_schema=None)
    def remove(number: int | None = None, keep: int = 1) -> str:
        """Remove a note."""
        return f"removed {number}, kept {keep}"

    return mcp


def started(middleware: Sequence[Middleware] = ()) -> str:
    """Serve it over HTTP in a thread of this process, and return its URL.

    Args:
        middleware: Additional middleware, for tests.

    Raises:
        TimeoutError: If it does not start.
    """
    port = free_port()
    options = {"transport": "http", "host": "127.0.0.1", "port": port}
    options |= {"show_banner": False, "log_level": "ERROR"}
    threading.Thread(target=server(middleware).run, kwargs=options, daemon=True).start()
    wait_for(port)
    return f"http://127.0.0.1:{port}/mcp"
