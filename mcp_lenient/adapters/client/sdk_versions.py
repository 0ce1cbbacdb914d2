"""Differences between the official SDK 1 and 2 for clients, and between their sessions and FastMCP's client.

FastMCP is imported only where its client is used.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

from mcp import ClientSession
from mcp.shared import exceptions
from mcp.types import PaginatedRequestParams

_SDK_1: Any = exceptions
MCPError = exceptions.MCPError if hasattr(exceptions, "MCPError") else _SDK_1.McpError


def server_name(session: object) -> str | None:
    """Return the name that the server gave when the session began; None where the session of SDK 1 does not keep it."""
    for holder in (session, getattr(session, "initialize_result", None)):
        info = getattr(holder, "server_info", None) or getattr(holder, "serverInfo", None)
        if info is not None:
            return str(info.name)
    return None


def is_fastmcp(session: object) -> bool:
    """Return whether a session is FastMCP's client, which parses results and raises on errors."""
    return hasattr(type(session), "call_tool_mcp")


def errors_of(session: object) -> tuple[type[Exception], ...]:
    """Return the exceptions that a session raises when the server refuses a call."""
    if not is_fastmcp(session):
        return (MCPError,)
    from fastmcp.exceptions import ToolError

    return MCPError, ToolError


async def tools_page(session: Any, cursor: str | None) -> Any:
    """Return a page of ``tools/list``, from a cursor on."""
    sdk_session: Any = session if isinstance(session, ClientSession) else session.session
    if "params" not in signature(sdk_session.list_tools).parameters:  # SDK 1 until 1.22
        return await sdk_session.list_tools(cursor)
    return await sdk_session.list_tools(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
