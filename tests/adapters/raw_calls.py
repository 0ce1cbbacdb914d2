"""Calls whose arguments are sent as they are, also what no client would send."""

from __future__ import annotations

from typing import Any

from mcp.types import CallToolResult, Request


async def raw_call(client: Any, tool: str, arguments: object) -> CallToolResult:
    """Return the result of a call by a client's session."""
    request = Request[dict[str, Any], str](method="tools/call", params={"name": tool, "arguments": arguments})
    result: CallToolResult = await client.session.send_request(request, CallToolResult)
    return result
