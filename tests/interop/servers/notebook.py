"""Run a server with several pages of tools over stdio: ``python notebook.py [lenient]``."""

from __future__ import annotations

import sys

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.tools import ToolResult
from pydantic import BaseModel

from mcp_lenient import LenientMiddleware

# Three tools per page, so that some tools are on the second page.
mcp: FastMCP = FastMCP("notebook", list_page_size=3)


class Note(BaseModel):
    """A note as the server stored it."""

    text: str
    tags: list[str]
    priority: int


@mcp.tool(title="Add a note", annotations={"title": "Add", "idempotentHint": True, "destructiveHint": False})
def add_note(text: str, tags: list[str] | None = None, priority: int = 0) -> Note:
    """Add a note. This tool has an output schema."""
    return Note(text=text, tags=tags or [], priority=priority)


@mcp.tool(annotations={"readOnlyHint": True, "openWorldHint": False})
def count_words(words: list[str]) -> ToolResult:
    """Count words. This tool has no output schema."""
    return ToolResult(content=str(len(words)))


@mcp.tool
def ping() -> str:
    """Say that the server is there. This tool has no parameters."""
    return "pong"


@mcp.tool
def find_note(number: int) -> Note:
    """Find a note. There is none."""
    msg = f"There is no note {number}."
    raise ToolError(msg)


@mcp.tool(annotations={"destructiveHint": True}, meta={"shelf": 4})
def remove_notes(numbers: list[int]) -> list[int]:
    """Remove notes. This tool is on the second page."""
    return numbers


if __name__ == "__main__":
    if sys.argv[1:] == ["lenient"]:
        mcp.add_middleware(LenientMiddleware())
    mcp.run(show_banner=False)
