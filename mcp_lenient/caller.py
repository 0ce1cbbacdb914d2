"""Who calls, over which way: what FastMCP's context tells of a call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from fastmcp.server.dependencies import get_access_token

from mcp_lenient.event_fields import CallFacts
from mcp_lenient.spans import trace_ids

if TYPE_CHECKING:
    from fastmcp import Context
    from fastmcp.server.dependencies import FastMCPRequestContext

_CLIENT_IN_META: Final = "io.modelcontextprotocol/clientInfo"


def call_facts(context: Context | None, tool: str, *, duration_us: int, mounted: str | None) -> CallFacts:
    """The facts of a call for its event; what is not known, as outside a request, stays None."""
    trace_id, span_id = trace_ids()
    if context is None:
        return CallFacts(
            tool=tool, duration_us=duration_us, mounted=mounted, trace_id=trace_id, span_id=span_id
        )
    request = context.request_context
    name, version = _client(request) if request is not None else (None, None)
    session_id = context.session_id if request else None
    request_id = str(request.request_id) if request and request.request_id is not None else None
    return CallFacts(
        tool,
        duration_us,
        context.fastmcp.name,
        mounted,
        name,
        version,
        _subject(),
        session_id,
        request_id,
        context.transport,
        trace_id,
        span_id,
    )


def client_name(context: Context | None) -> str | None:
    """What the client calls itself, at the handshake or with the request; None outside of a request."""
    request = context.request_context if context is not None else None
    return None if request is None else _client(request)[0]


def _client(request: FastMCPRequestContext) -> tuple[str | None, str | None]:
    if request.session.client_params is not None:
        client = request.session.client_params.client_info
        return client.name, client.version
    # The SDK drops what a request says of its client where the capabilities beside it are ill-formed.
    told: Any = request.meta.get(_CLIENT_IN_META) if request.meta is not None else None
    return (_text(told, "name"), _text(told, "version")) if isinstance(told, Mapping) else (None, None)


def _text(told: Mapping[str, Any], name: str) -> str | None:
    value = told.get(name)
    return value if isinstance(value, str) else None


def _subject() -> str | None:
    try:
        token = get_access_token()
    except TypeError:  # a token of a kind that FastMCP does not know
        return None
    if token is None:
        return None
    claimed = token.claims.get("sub")
    return claimed if isinstance(claimed, str) and claimed else token.subject or token.client_id
