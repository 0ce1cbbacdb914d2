"""The server: forty tools, made lenient by ``tools.yaml``.

Run it over stdio, from the folder ``examples``::

    python -m agent_platform.server
"""

from __future__ import annotations

from pathlib import Path

from fastmcp import FastMCP

from agent_platform import browser_use, deepsearch, microsandbox, search_tool
from mcp_lenient import LenientMiddleware

DEFINITIONS = Path(__file__).with_name("tools.yaml")
GROUPS = (microsandbox, browser_use, deepsearch, search_tool)


def build_server(*, definitions: Path | None = DEFINITIONS, strict: bool = False) -> FastMCP:
    """The platform as one MCP server.

    Args:
        definitions: What callers may say otherwise; None for leniency without it.
        strict: Whether FastMCP validates arguments in Pydantic's strict mode.
    """
    mcp = FastMCP("agent-platform", strict_input_validation=strict)
    mcp.add_middleware(
        LenientMiddleware() if definitions is None else LenientMiddleware.from_file(definitions)
    )
    for group in GROUPS:
        for function in group.TOOLS:
            mcp.tool(function)
    return mcp


if __name__ == "__main__":
    build_server().run(show_banner=False)
