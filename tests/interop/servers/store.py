"""Serve one lenient tool over HTTP on a port; each URL may ask for a form: ``python store.py PORT``."""

from __future__ import annotations

import sys
from typing import Annotated, Any, Literal

from fastmcp import FastMCP
from pydantic import Field

from mcp_lenient import LenientMiddleware

mcp: FastMCP = FastMCP("notes", middleware=[LenientMiddleware(publish_by_query=True)])


@mcp.tool(output_schema=None)
def store(
    content: str,
    tags: list[str] | None = None,
    numbers: list[int] = [],  # noqa: B006 - never changed
    max_results: Annotated[int, Field(ge=1)] = 10,
    urgency: Literal["low", "high"] = "low",
    *,
    is_open: bool = False,
) -> dict[str, Any]:
    """Store a note."""
    return locals()


if __name__ == "__main__":
    mcp.run("http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
