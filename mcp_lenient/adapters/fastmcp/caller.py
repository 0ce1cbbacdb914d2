"""Read from FastMCP's context who made a call and over which transport, for the event."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_lenient.adapters import sdk_caller
from mcp_lenient.telemetry.otel import trace_fields

if TYPE_CHECKING:
    from fastmcp import Context


def caller_fields(context: Context | None) -> dict[str, str | None]:
    """Return the fields of an event that identify the caller; unknown ones are None, as outside of a request."""
    if context is None:
        return trace_fields()
    request = context.request_context
    session_id = context.session_id if request else None
    return sdk_caller.described(context.fastmcp, request) | identity(context) | {"session_id": session_id}


def identity(context: Context | None) -> dict[str, str | None]:
    """Return the fields that tell callers apart, without the cost of all others."""
    if context is None:
        return {}
    request = context.request_context
    transport: dict[str, str | None] = {"transport": context.transport}
    if not request:
        return transport
    if sdk_caller.has_session(request):  # FastMCP gives sessions within a process an id as well
        return transport | {
            "subject": sdk_caller.subject(request.request),
            "session_id": context.session_id,
        }
    return sdk_caller.identity(request) | transport
