"""A server over stdio: with the middleware and a definitions file, with the decorator alone, or strict."""

from __future__ import annotations

import sys
from pathlib import Path

from fastmcp import FastMCP

from mcp_lenient import LenientMiddleware, lenient


def store(content: str, tags: list[str] | None = None, max_size: int = 10) -> dict[str, object]:
    """Keep a note."""
    return {"content": content, "tags": tags, "max_size": max_size}


def build(kind: str) -> FastMCP:
    """Return the server of one kind."""
    server: FastMCP = FastMCP("smoke", strict_input_validation=True) if kind == "strict" else FastMCP("smoke")
    if kind == "decorator":
        server.tool(lenient(store))
        return server
    server.tool(store)
    server.tool(store, name="purge", annotations={"destructiveHint": True})
    server.add_middleware(LenientMiddleware(definitions=Path(__file__).with_name("definitions.yaml")))
    return server


mcp = build(sys.argv[1] if len(sys.argv) > 1 and __name__ == "__main__" else "middleware")

if __name__ == "__main__":
    mcp.run(show_banner=False)
