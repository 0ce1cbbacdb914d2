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
_OF_FORWARDED: Final = frozenset({b"forwarded", b"x-forwarded-for", b"via"})
"""Headers of a request over a connection that others may share; what they say is not read."""


def field(model: Any, name: str) -> Any:
    """Return a field of an SDK model by its SDK 2 name."""
    return getattr(model, name) if hasattr(model, name) else getattr(model, to_camel(name))


def who_called(server: Any, request: Any) -> dict[str, str | None]:
    """Return the event fields that identify the caller; unknown fields are None.

    Args:
        server: The low-level server; None if unknown.
        request: The SDK's request context; None for calls from Python code.
    """
    fields = described(server, request)
    if request is None:
        return fields
    over_http = request.request
    return fields | identity(request) | {"transport": None if over_http is None else _transport(over_http)}


def described(server: Any, request: Any) -> dict[str, str | None]:
    """Return the event fields that say more of a caller than :func:`identity`."""
    meta = None if request is None else request.meta
    # Where MCP keeps OpenTelemetry's baggage.
    baggage = meta.get("baggage") if isinstance(meta, Mapping) else getattr(meta, "baggage", None)
    fields: dict[str, str | None] = {
        "server": getattr(server, "name", None),
        **trace_fields(baggage if isinstance(baggage, str) else None),
    }
    if request is None:
        return fields
    client = _client(request)
    return fields | {
        "client_name": getattr(client, "name", None),
        "client_version": getattr(client, "version", None),
        "request_id": None if request.request_id is None else str(request.request_id),
    }


def identity(request: Any) -> dict[str, str | None]:
    """Return the fields that tell callers apart; where no session does, see :func:`stranger`."""
    over_http = request.request
    # Starlette reads through all headers for each name; as there, the first of several counts.
    headers = {} if over_http is None else dict(reversed(over_http.scope["headers"]))
    session_id = headers.get(b"mcp-session-id")
    fields = {
        "subject": subject(over_http),
        "session_id": None if session_id is None else session_id.decode("latin-1"),
    }
    if session_id is not None and has_session(request):
        return fields
    return fields | _stranger(over_http, headers, getattr(_client(request), "name", None))


def _client(request: Any) -> Any:
    params = request.session.client_params
    # The SDK drops what a client says of itself if its capabilities are malformed.
    return None if params is None else field(params, "client_info")


def has_session(request: Any) -> bool:
    """Return whether the client of a request has opened a session, whose id no other client can choose.

    A stateless server, and every server by the newest protocol, takes any session id in a header.
    """
    version = getattr(request, "protocol_version", None) or ""
    return request.session.client_params is not None and version < _WITHOUT_SESSIONS


def _stranger(over_http: Any, headers: Mapping[bytes, bytes], client: str | None) -> dict[str, str | None]:
    if over_http is None:
        return stranger("", 0, "", client or "", is_direct=True)
    host, port = over_http.scope.get("client") or ("", 0)
    is_direct = bool(port) and _OF_FORWARDED.isdisjoint(headers)
    agent = headers.get(b"user-agent", b"").decode("latin-1")
    return stranger(host, port, agent, client or "", is_direct=is_direct)


def subject(over_http: Any) -> str | None:
    """Return whom the access token of a request is for."""
    # A token may be replaced in the middle of a session, which only the request itself shows.
    user = None if over_http is None else over_http.scope.get("user")
    token = getattr(user, "access_token", None) or get_access_token()
    claim = (getattr(token, "claims", None) or {}).get("sub")
    names = claim, getattr(token, "subject", None), getattr(token, "client_id", None)
    return next((name for name in names if name and isinstance(name, str)), None)


def _transport(over_http: Any) -> str:
    return "sse" if "session_id" in over_http.query_params else "streamable-http"
