"""``mcp-lenient demo``: nearly right calls to a real server over stdio, with and without this package."""

from __future__ import annotations


def demo() -> int:
    """Show nearly right calls run: FastMCP alone beside FastMCP with mcp-lenient, over stdio."""
    from mcp_lenient.devtools.demo import main

    return main()
