"""Which middleware stands before a tool, down through mounted servers."""

from __future__ import annotations

from collections.abc import Iterator

from fastmcp import FastMCP

from mcp_lenient.middleware import LenientMiddleware
from mcp_lenient.targets import Target
from mcp_lenient.tools import KnownTool


def standing_before(server: FastMCP, target: Target) -> Iterator[tuple[LenientMiddleware, FastMCP, str]]:
    """Each middleware of this package before a tool, the outermost first, with its server and its name for the tool."""
    for below, name in ((server, target.tool.name), *target.route):
        for middleware in below.middleware:
            if isinstance(middleware, LenientMiddleware):
                yield middleware, below, name


async def judged_by(server: FastMCP, target: Target) -> list[KnownTool]:
    """A tool as each middleware of this package judges it that stands before it, the outermost first.

    Must run where the tool was looked up, as :func:`mcp_lenient.targets.find_target`.
    """
    found = [
        await middleware.known(below, name) for middleware, below, name in standing_before(server, target)
    ]
    return [known for known in found if known is not None]
