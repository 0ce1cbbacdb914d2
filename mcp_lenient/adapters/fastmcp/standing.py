"""The middleware of this package that stands before a server's tools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fastmcp import FastMCP

from mcp_lenient.adapters.fastmcp.middleware import LenientMiddleware

if TYPE_CHECKING:
    from mcp_lenient.engine.contract import Contract
    from mcp_lenient.engine.tool import HostTool


async def check_statements(server: FastMCP) -> None:
    """Compare the definitions files of a server's middleware with its tools.

    Raises:
        DefinitionError: When one contradicts a function; names file and line.
    """
    for middleware in server.middleware:
        if isinstance(middleware, LenientMiddleware):
            await middleware.check_statements(server)


def standing_before(server: FastMCP, target: HostTool) -> Iterator[tuple[LenientMiddleware, FastMCP, str]]:
    """Yield each middleware of this package before a tool, outermost first, with its server and its name for the tool."""
    for below, name in ((server, target.name), *target.route):
        for middleware in below.middleware:
            if isinstance(middleware, LenientMiddleware):
                yield middleware, below, name


async def judged_by(server: FastMCP, target: HostTool) -> list[Contract]:
    """Return a tool as each middleware of this package before it validates it, outermost first.

    Must run where the tool was looked up, as :func:`mcp_lenient.adapters.fastmcp.tools.find_target`.
    """
    contracts = [
        await middleware.contract_for(below, name)
        for middleware, below, name in standing_before(server, target)
    ]
    return [contract for contract in contracts if contract is not None]
