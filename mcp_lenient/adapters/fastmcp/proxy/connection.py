"""How a proxy connects to a server."""

from __future__ import annotations

import copy
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import httpx2
from fastmcp import Client
from fastmcp.client.transports import SSETransport, StreamableHttpTransport
from fastmcp.client.transports.base import TransportOptions
from fastmcp.client.transports.config import MCPConfigTransport
from fastmcp.server.dependencies import get_http_headers

if TYPE_CHECKING:
    from collections.abc import Callable
    from ssl import SSLContext

Forwarded = frozenset[str]
"""Names of a caller's headers that go to one server, in lower case."""
_TIMEOUT: Final = httpx2.Timeout(30.0, read=300.0)
"""As the SDK has it; a server may hold an answer back for long."""
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")
_OF_THE_CONNECTION: Final = frozenset(
    "accept connection content-length content-type expect host keep-alive last-event-id proxy-authenticate "
    "proxy-authorization proxy-connection te trailer transfer-encoding upgrade".split()
)


@dataclass(frozen=True, slots=True)
class _Sending:
    """Makes the HTTP clients of a transport, whose headers are the operator's and those of the caller that may go on.

    FastMCP's proxy hands over nearly all headers of the caller together with the transport's own.
    """

    make: Callable[..., httpx2.AsyncClient]
    own: Mapping[str, str]
    forwarded: Forwarded | None

    def __call__(self, headers: dict[str, str] | None = None, **rest: Any) -> httpx2.AsyncClient:
        if self.forwarded is None:
            callers = {name: value for name, value in (headers or {}).items() if name not in self.own}
        else:
            known = get_http_headers(include=set(self.forwarded))
            callers = {name: value for name, value in known.items() if name in self.forwarded}
        owned = {name.lower() for name in self.own}
        kept = {name: value for name, value in callers.items() if name.lower() not in owned}
        return self.make(headers={**kept, **self.own}, **rest)


def connected(target: Any, forwarded: Forwarded | None) -> Any:
    """Return the target so that its connections share certificates and send only these headers of a caller.

    Args:
        target: A transport or a client; any other target is returned as it is.
        forwarded: The headers that go on; all that FastMCP's proxy passes on if None.
    """
    if isinstance(target, (StreamableHttpTransport, SSETransport)):
        target = copy.copy(target)
        target.httpx_client_factory = _factory(target, forwarded)
    elif isinstance(target, Client):
        return _connected_client(target, forwarded)
    return target


def restrict(transport: Any, forwarded: Forwarded | None) -> None:
    """Do the same to a transport that another server already holds."""
    if isinstance(transport, (StreamableHttpTransport, SSETransport)):
        transport.httpx_client_factory = _factory(transport, forwarded)


def _factory(transport: StreamableHttpTransport | SSETransport, forwarded: Forwarded | None) -> Any:
    make = transport.httpx_client_factory
    if make is None:
        # FastMCP's proxy opens a connection for each request, and reading the certificates takes most of its time.
        verify = httpx2.create_ssl_context() if transport.verify is None else transport.verify
        make = partial(_client, verify)
    return _Sending(make, transport.headers, forwarded)


def _connected_client(client: Client[Any], forwarded: Forwarded | None) -> Client[Any]:
    several = isinstance(client.transport, MCPConfigTransport) and len(client.transport.config.mcpServers) > 1
    if client.is_connected() or (forwarded is None and not several):
        return client
    fresh = client.new()
    if several or not forwarded:
        options = getattr(fresh, "_transport_options", None) or TransportOptions()
        fresh._transport_options = replace(options, forward_incoming_headers=False)  # noqa: SLF001
    else:
        fresh.transport = connected(fresh.transport, forwarded)
    return fresh


def header_names(given: object, where: str) -> Forwarded:
    """Return the names of headers that are to be forwarded.

    Args:
        given: What the operator wrote.
        where: Where, for the error.

    Raises:
        ValueError: When it is no list of names of headers that may be forwarded.
    """
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Collection):
        msg = f"{where}: this must be a list of header names"
        raise ValueError(msg)  # noqa: TRY004 - as for every wrong setting
    for name in given:
        if not isinstance(name, str) or not _HEADER_NAME.fullmatch(name):
            msg = f"{where}: an entry is no name of a header"  # not shown: it may hold a value
            raise ValueError(msg)
        if name.lower() in _OF_THE_CONNECTION or name.lower().startswith("mcp-"):
            msg = f"{where}: the header {name} belongs to the connection and cannot be forwarded"
            raise ValueError(msg)
    return frozenset(name.lower() for name in given)


def _client(
    verify: SSLContext | bool | str,  # noqa: FBT001 - as httpx takes it
    headers: dict[str, str] | None = None,
    timeout: httpx2.Timeout | None = None,
    auth: httpx2.Auth | None = None,
    **_: Any,
) -> httpx2.AsyncClient:
    # It is asked to follow redirects to wherever they lead; the SDK follows those that stay with the server.
    return httpx2.AsyncClient(headers=headers, timeout=timeout or _TIMEOUT, auth=auth, verify=verify)
