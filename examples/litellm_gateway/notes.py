"""The MCP server behind the gateway, on the official SDK, over HTTP: ``python notes.py PORT``."""

from __future__ import annotations

import sys

from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations

mcp = MCPServer("notes", log_level="ERROR")


@mcp.tool(structured_output=False)
def store(content: str, tags: list[str] | None = None, max_results: int = 10) -> dict[str, object]:
    """Keep a text."""
    return {"content": content, "tags": tags, "max_results": max_results}


@mcp.tool(structured_output=False)
def recent(max_results: int = 10) -> str:
    """List the newest texts."""
    return f"the newest {max_results}"


@mcp.tool(structured_output=False)
def delete_note(number: int) -> str:
    """Remove a text."""
    return f"removed {number}"


@mcp.tool(structured_output=False, annotations=ToolAnnotations(destructive_hint=True))
def clear(keep: int = 0) -> str:
    """Remove all texts but the newest."""
    return f"kept {keep}"


if __name__ == "__main__":
    mcp.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
