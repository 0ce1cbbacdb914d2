"""Save the list of tools that the SDK asks for before each call of the newer era."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PARAM_HEADER_PREFIX,
    x_mcp_header_map,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

if TYPE_CHECKING:
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from starlette.datastructures import Headers

KNOWN_FOR: Final = 60.0
"""Seconds for which a tool is known to declare no header; FastMCP's proxy uses its list of tools for 300."""
_MOST_KNOWN: Final = 10_000
_PARAMETER: Final = MCP_PARAM_HEADER_PREFIX.lower()


class HeaderParameters:
    """Answer the list that the SDK asks for to validate the headers of a call, if there is nothing to validate.

    A tool may declare that clients repeat a parameter in an HTTP header. To compare the two, the SDK lists all tools
    before each call, and a proxy asks its servers for that. It is skipped for a tool that recently declared no header,
    when the request has none either.
    """

    def __init__(self) -> None:
        self._plain: dict[str, float] = {}

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Pass every other request on, as middleware of the SDK's server."""
        headers = _headers_of_call(ctx)
        if headers is None:
            return await call_next(ctx)
        name = headers.get(MCP_NAME_HEADER)
        if name is not None and monotonic() < self._plain.get(name, 0.0) and not _has_parameters(headers):
            return {"tools": []}
        try:
            result = await call_next(ctx)
        except MCPError:
            return {"tools": []}  # the error of the call itself gives the reason
        if isinstance(result, dict):
            self._remember(result.get("tools", ()))
        return result

    def _remember(self, tools: Any) -> None:
        if len(self._plain) > _MOST_KNOWN:
            self._plain.clear()
        until = monotonic() + KNOWN_FOR
        for tool in tools:
            if x_mcp_header_map(tool["inputSchema"]):
                self._plain.pop(tool["name"], None)
            else:
                self._plain[tool["name"]] = until


def _headers_of_call(ctx: ServerRequestContext[Any, Any]) -> Headers | None:
    """Return the headers of the call that the SDK asks for a list for; None for any other request."""
    if ctx.method != "tools/list" or ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return None
    headers: Headers | None = getattr(ctx.request, "headers", None)
    # A client's own list has its own method in this header, or it is refused.
    return headers if headers is not None and headers.get(MCP_METHOD_HEADER) == "tools/call" else None


def _has_parameters(headers: Headers) -> bool:
    return any(name.startswith(_PARAMETER) for name in headers)
