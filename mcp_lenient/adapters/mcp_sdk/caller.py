"""Event fields for caller and transport, from a request of the official SDK 1 or 2."""

from __future__ import annotations

from typing import Any

from mcp.server.auth.middleware.auth_context import get_access_token

from mcp_lenient.telemetry.otel import trace_fields


def who_called(server: Any, request: Any) -> dict[str, str | None]:
    """Return the event fields that identify the caller; unknown fields are None.

    Args:
        server: The low-level server; None if unknown.
        request: The SDK's request context; None for calls from Python code.
    """
    known: dict[str, str | None] = {"server": getattr(server, "name", None), **trace_fields()}
    if request is None:
        return known
    params, over_http, token = request.session.client_params, request.request, get_access_token()
    client = getattr(params, "client_info" if hasattr(params, "client_info") else "clientInfo", None)
    return known | {
        "client_name": getattr(client, "name", None),
        "client_version": getattr(client, "version", None),
        "subject": None if token is None else getattr(token, "subject", None) or token.client_id,
        "session_id": None if over_http is None else over_http.headers.get("mcp-session-id"),
        "request_id": str(request.request_id),
        "transport": None if over_http is None else _transport(over_http),
    }


def _transport(over_http: Any) -> str:
    return "sse" if "session_id" in over_http.query_params else "streamable-http"
