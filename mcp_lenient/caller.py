"""Who calls, over which way: what FastMCP's context tells of a call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_lenient.events import CallFacts
from mcp_lenient.spans import trace_ids

if TYPE_CHECKING:
    from fastmcp import Context


def call_facts(context: Context | None, tool: str, *, duration_us: int, mounted: str | None) -> CallFacts:
    """The facts of a call for its event; what is not known, as outside a request, stays None."""
    trace_id, span_id = trace_ids()
    if context is None:
        return CallFacts(
            tool=tool, duration_us=duration_us, mounted=mounted, trace_id=trace_id, span_id=span_id
        )
    request = context.request_context
    client = request.session.client_params.client_info if request and request.session.client_params else None
    return CallFacts(
        tool=tool,
        duration_us=duration_us,
        server=context.fastmcp.name,
        mounted=mounted,
        client_name=client.name if client else None,
        client_version=client.version if client else None,
        session_id=context.session_id if request else None,
        request_id=str(request.request_id) if request and request.request_id is not None else None,
        transport=context.transport,
        trace_id=trace_id,
        span_id=span_id,
    )
