"""Differences between the official SDK 1 and 2 for clients, and between their sessions and FastMCP's client.

FastMCP is imported only where its client is used.
"""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

from mcp import ClientSession
from mcp.shared import exceptions
from mcp.types import PaginatedRequestParams
from pydantic.alias_generators import to_camel

if TYPE_CHECKING:
    from fastmcp.client.client import CallToolResult as ParsedResult

MCPError = exceptions.MCPError if TYPE_CHECKING or hasattr(exceptions, "MCPError") else exceptions.McpError


def field(model: Any, name: str) -> Any:
    """Return a field of an SDK model by its SDK 2 name."""
    return getattr(model, name) if hasattr(model, name) else getattr(model, to_camel(name))


def is_fastmcp(session: object) -> bool:
    """Return whether a session is FastMCP's client, which parses results and raises on errors."""
    return hasattr(type(session), "call_tool_mcp")


def errors_of(session: object) -> tuple[type[Exception], ...]:
    """Return the exceptions that a session raises when the server refuses a call."""
    return (MCPError, _fastmcps()[0]) if is_fastmcp(session) else (MCPError,)


def raised(text: str) -> Exception:
    """Return the exception that FastMCP's client raises for an error result."""
    error, _ = _fastmcps()
    return error(text)


def parsed(content: list[Any], structured: dict[str, Any] | None, meta: dict[str, Any]) -> ParsedResult:
    """Return an error result as FastMCP's client does with ``raise_on_error=False``."""
    _, result = _fastmcps()
    return result(content, structured, meta, is_error=True)


def _fastmcps() -> tuple[type[Exception], type[ParsedResult]]:
    from fastmcp.client.client import CallToolResult as ParsedResult
    from fastmcp.exceptions import ToolError

    return ToolError, ParsedResult


async def tools_page(session: Any, cursor: str | None) -> Any:
    """Return a page of ``tools/list``, from a cursor on."""
    own: Any = session if isinstance(session, ClientSession) else session.session
    if "params" not in signature(own.list_tools).parameters:  # SDK 1 until 1.22
        return await own.list_tools(cursor)
    return await own.list_tools(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
