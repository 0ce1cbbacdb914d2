"""Read from FastMCP's context who made a call and over which transport, for the event."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_lenient.adapters.sdk_caller import has_session, who_called
from mcp_lenient.telemetry.otel import trace_fields

if TYPE_CHECKING:
    from fastmcp import Context


def caller_fields(context: Context | None) -> dict[str, str | None]:
    """Return the fields of an event that identify the caller; unknown ones are None, as outside of a request."""
    if context is None:
        return trace_fields()
    request = context.request_context
    fields = who_called(context.fastmcp, request) | {
        "session_id": context.session_id if request else None,
        "transport": context.transport,
    }
    # FastMCP gives sessions within a process an id, and each request without a session one of its own.
    return fields | {"near": None} if request and has_session(request) else fields
