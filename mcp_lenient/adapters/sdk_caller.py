"""Event fields for caller and transport, from a request of the official SDK 1 or 2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcp.server.auth.middleware.auth_context import get_access_token
from pydantic.alias_generators import to_camel

from mcp_lenient.adapters.repeats import stranger
from mcp_lenient.telemetry.otel import trace_fields

_WITHOUT_SESSIONS: Final = "2026-07-28"
"""The first version of the protocol without sessions."""
_OF_FORWARDED: Final = ("forwarded", "x-forwarded-for", "via")
"""Headers of a request over a connection that others may share; what they say is not read."""


def field(model: Any, name: str) -> Any:
    """Return a field of an SDK model by its SDK 2 name."""
    return getattr(model, name) if hasattr(model, name) else getattr(model, to_camel(name))


def who_called(server: Any, request: Any) -> dict[str, str | None]:
    """Return the event fields that identify the caller; unknown fields are None. Where no session does, see :func:`stranger`.

    Args:
        server: The low-level server; None if unknown.
        request: The SDK's request context; None for calls from Python code.
    """
    meta = None if request is None else request.meta
    # Where MCP keeps OpenTelemetry's baggage.
    baggage = meta.get("baggage") if isinstance(meta, Mapping) else getattr(meta, "baggage", None)
    known: dict[str, str | None] = {
        "server": getattr(server, "name", None),
        **trace_fields(baggage if isinstance(baggage, str) else None),
    }
    if request is None:
        return known
    over_http, params = request.request, request.session.client_params
    # The SDK drops what a client says of itself if its capabilities are malformed.
    client = None if params is None else field(params, "client_info")
    session_id = None if over_http is None else over_http.headers.get("mcp-session-id")
    if session_id is None or not has_session(request):
        known |= _stranger(over_http, getattr(client, "name", None))
    return known | {
        "client_name": getattr(client, "name", None),
        "client_version": getattr(client, "version", None),
        "subject": _subject(over_http),
        "session_id": session_id,
        "request_id": None if request.request_id is None else str(request.request_id),
        "transport": None if over_http is None else _transport(over_http),
    }


def has_session(request: Any) -> bool:
    """Return whether the client of a request has opened a session, whose id no other client can choose.

    A stateless server, and every server by the newest protocol, takes any session id in a header.
    """
    version = getattr(request, "protocol_version", None) or ""
    return request.session.client_params is not None and version < _WITHOUT_SESSIONS


def _stranger(over_http: Any, client: str | None) -> dict[str, str | None]:
    if over_http is None:
        return stranger("", 0, "", client or "", is_direct=True)
    headers, (host, port) = over_http.headers, over_http.scope.get("client") or ("", 0)
    is_direct = bool(port) and not any(name in headers for name in _OF_FORWARDED)
    return stranger(host, port, headers.get("user-agent", ""), client or "", is_direct=is_direct)


def _subject(over_http: Any) -> str | None:
    """Return whom the access token of a request is for."""
    # A token may be replaced in the middle of a session, which only the request itself shows.
    user = None if over_http is None else over_http.scope.get("user")
    token = getattr(user, "access_token", None) or get_access_token()
    claimed = (getattr(token, "claims", None) or {}).get("sub")
    said = claimed, getattr(token, "subject", None), getattr(token, "client_id", None)
    return next((each for each in said if each and isinstance(each, str)), None)


def _transport(over_http: Any) -> str:
    return "sse" if "session_id" in over_http.query_params else "streamable-http"
