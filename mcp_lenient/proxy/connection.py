"""How a server at a URL is connected: with certificates that are read once, not with every request."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import httpx2
from fastmcp.client.transports import SSETransport, StreamableHttpTransport

if TYPE_CHECKING:
    from ssl import SSLContext

_TIMEOUT: Final = httpx2.Timeout(30.0, read=300.0)
"""As the SDK has it; a server may hold an answer back for long."""


def read_certificates_once(transport: object) -> None:
    """Have all connections of a transport share what they trust, where its maker has not chosen by himself.

    FastMCP's proxy opens a connection for each request, and reading the certificates takes most of its time.
    """
    if not isinstance(transport, (StreamableHttpTransport, SSETransport)):
        return
    if transport.verify is None and transport.httpx_client_factory is None:
        transport.httpx_client_factory = partial(_client, httpx2.create_ssl_context())


def _client(
    trusted: SSLContext,
    headers: dict[str, str] | None = None,
    timeout: httpx2.Timeout | None = None,
    auth: httpx2.Auth | None = None,
    **_: Any,
) -> httpx2.AsyncClient:
    # It is asked to follow redirects to wherever they lead; the SDK follows those that stay with the server.
    return httpx2.AsyncClient(headers=headers, timeout=timeout or _TIMEOUT, auth=auth, verify=trusted)
