"""Connect a proxy to a server."""

from __future__ import annotations

import copy
import hmac
import json
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import httpx2
from fastmcp import Client
from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport
from fastmcp.server.dependencies import get_access_token, get_http_headers, get_http_request
from pydantic import Field, StringConstraints, TypeAdapter, ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
Forwarded = frozenset[str]
"""Names of the caller's headers that are forwarded to one server, in lower case."""
_SECONDS: Final = TypeAdapter(Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)])
_CONNECT: Final = 30.0
_READ: Final = 300.0
"""The SDK's read timeout; a server may take long to answer."""
_KEEP_ALIVE: Final = 2.0
"""Seconds after which an idle connection is not reused; shorter than the keep-alive of servers (uvicorn: 5)."""
_AT_URL: Final = (StreamableHttpTransport, SSETransport)
_OF_ONE_REQUEST: Final = frozenset(
    "traceparent tracestate baggage b3 x-b3-traceid x-b3-spanid x-b3-parentspanid x-b3-sampled x-b3-flags "
    "x-request-id x-correlation-id x-amzn-trace-id x-cloud-trace-context cf-ray".split()
)
"""Per-request headers that identify no caller: W3C Trace Context and Baggage, B3, and request ids of gateways."""
REFUSALS: Final = "mcp_lenient.refusals"
"""Where the ASGI scope of a request has the refusals that it met, if anything answers them."""
OVER_HTTP: Final = ("sse", "streamable-http")
"""FastMCP's names of the transports of several clients."""
_AUTHORIZATION: Final = "authorization"
_KEY: Final = secrets.token_bytes(32)
_NAME: Final = StringConstraints(strict=True, to_lower=True, pattern=r"^[A-Za-z0-9_-]{1,128}$")
_NAMES: Final = TypeAdapter(frozenset[Annotated[str, _NAME]])
_OF_THE_CONNECTION: Final = frozenset(
    "accept connection content-length content-type expect host keep-alive last-event-id proxy-authenticate "
    "proxy-authorization proxy-connection te trailer transfer-encoding upgrade".split()
)


@dataclass(frozen=True, slots=True)
class Times:
    """The timeouts of a server.

    Attributes:
        answer: Seconds for the answer to one request; only the connection's limit if None.
        connect: Seconds for connecting.
    """

    answer: float | None = None
    connect: float | None = None


NO_LIMITS: Final = Times()


def seconds(limit: object, where: str) -> float | None:
    """Validate a time limit given by an operator.

    Args:
        limit: A number of seconds, or None for no limit.
        where: Its name, for the error.

    Raises:
        ValueError: When it is not a number above zero.
    """
    return None if limit is None else _valid(_SECONDS, limit, where, "a number of seconds above 0")


def _valid(expected: TypeAdapter[T], value: object, where: str, what: str) -> T:
    try:
        return expected.validate_python(value)
    except ValidationError:
        msg = f"{where}: this must be {what}"  # nothing given is shown: it may hold a value
        raise ValueError(msg) from None


def is_refusal(response: httpx2.Response) -> bool:
    """Return whether a server asks for credentials, or for others."""
    is_forbidden = response.status_code == httpx2.codes.FORBIDDEN and "www-authenticate" in response.headers
    return is_forbidden or response.status_code == httpx2.codes.UNAUTHORIZED


@dataclass(frozen=True, slots=True)
class Sending:
    """Create the HTTP clients of a transport with the operator's headers and the caller's forwarded ones.

    FastMCP's proxy passes nearly all headers of the caller together with the transport's own.

    Attributes:
        make: Creates a client.
        operators: The operator's headers.
        forwarded: The caller's headers to forward; all that FastMCP's proxy forwards if None.
        url: The address of the server.
        has_auth: Whether the operator has set the server's ``Authorization``.
        watch: Called with each response.
        failed: Called with each error for which there is no response.
    """

    make: Callable[..., httpx2.AsyncClient]
    operators: Mapping[str, str]
    forwarded: Forwarded | None
    url: str
    has_auth: bool
    watch: Callable[[httpx2.Response], None] | None = None
    failed: Callable[[httpx2.HTTPError], None] | None = None

    def __call__(self, **options: Any) -> httpx2.AsyncClient:
        """Create a client; the headers that FastMCP's proxy forwards are not used."""
        client = self.make(**{**options, "headers": {**self.callers(), **self.operators}})
        client.event_hooks["request"].append(self._refresh)
        client.event_hooks["response"].append(self._show)
        if isinstance(client, _Client):
            client.failed = self.failed
        return client

    async def _show(self, response: httpx2.Response) -> None:
        (self.watch or self.note)(response)

    def note(self, response: httpx2.Response) -> None:
        """Have the HTTP request that is being served answered like this one, if its caller's credentials are refused."""
        if is_refusal(response) and self.takes_credentials():
            with suppress(RuntimeError):  # not over HTTP
                get_http_request().scope.get(REFUSALS, []).append(response)

    def callers(self) -> dict[str, str]:
        """Return the headers of the caller that are forwarded."""
        headers, reserved = _passed_on(self.forwarded), self._reserved()
        return {name: value for name, value in headers.items() if name not in reserved}

    def _reserved(self) -> set[str]:
        """Return the names of headers that are not the caller's to send."""
        reserved = {name.lower() for name in self.operators}
        # A token that the proxy's own `auth` accepted was issued for the proxy, not for a server behind it.
        is_for_proxy = self.forwarded is None and get_access_token() is not None
        return reserved | {_AUTHORIZATION} if self.has_auth or is_for_proxy else reserved

    def takes_credentials(self) -> bool:
        """Return whether the server gets the ``Authorization`` of the caller."""
        is_named = self.forwarded is None or _AUTHORIZATION in self.forwarded
        return is_named and _AUTHORIZATION not in self._reserved()

    def lasting(self) -> list[tuple[str, str]]:
        """Return the caller's forwarded headers without the per-request ones."""
        return _lasting(self.callers())

    async def _refresh(self, request: httpx2.Request) -> None:
        """Set the per-request headers to those of the current request."""
        callers = self.callers()
        for name in _OF_ONE_REQUEST - {header.lower() for header in self.operators}:
            request.headers.pop(name, None)
            if name in callers:
                request.headers[name] = callers[name]


def sending_of(transport: Any) -> Sending | None:
    """Return the object that sends requests for a transport made by :func:`connected`."""
    factory = getattr(transport, "httpx_client_factory", None)
    return factory if isinstance(factory, Sending) else None


def watched(
    transport: Any, watch: Callable[[httpx2.Response], None], failed: Callable[[httpx2.HTTPError], None]
) -> Any:
    """Return a copy of an HTTP transport that shows its responses and errors; any other is returned as it is.

    Args:
        transport: A transport made by :func:`connected`.
        watch: Called with each response.
        failed: Called with each error for which there is no response, which the SDK may turn into one without a cause.
    """
    sending = sending_of(transport)
    if sending is None:
        return transport
    transport = copy.copy(transport)
    transport.httpx_client_factory = replace(sending, watch=watch, failed=failed)
    return transport


def caller_of(transport: Any) -> bytes:
    """Return a keyed hash of what a server behind this transport sees of the current caller."""
    if isinstance(transport, StdioTransport):
        return b""
    sending = sending_of(transport)
    headers = _lasting(_passed_on()) if sending is None else sending.lasting()
    return hmac.digest(_KEY, json.dumps(sorted(headers)).encode(), "sha256") if headers else b""


def _lasting(headers: Mapping[str, str]) -> list[tuple[str, str]]:
    return [item for item in headers.items() if item[0] not in _OF_ONE_REQUEST]


def _passed_on(named: Forwarded | None = None) -> dict[str, str]:
    """Return these headers of the caller; those that FastMCP's proxy forwards if None."""
    headers = get_http_headers(include={_AUTHORIZATION} if named is None else set(named))
    if named is None:
        named = frozenset(name for name in headers if not name.startswith("mcp-")) - {"last-event-id"}
    return {name: value for name, value in headers.items() if name in named}


def connected(target: Any, forwarded: Forwarded | None, times: Times = NO_LIMITS) -> Any:
    """Return the target with shared certificates and only these headers of the caller forwarded.

    Args:
        target: A transport or a client; any other target is returned as it is.
        forwarded: The headers to forward; all that FastMCP's proxy forwards if None.
        times: The timeouts for connecting and for an answer.
    """
    if isinstance(target, Client):
        return _connected_client(target, forwarded)
    if not isinstance(target, _AT_URL):
        return target
    transport = copy.copy(target)
    make: Any = transport.httpx_client_factory
    if make is None:
        # Loading the certificates takes most of the time of opening a connection.
        verify = httpx2.create_ssl_context() if transport.verify is None else transport.verify
        # The timeout of the answer must end first.
        read = _READ if times.answer is None else times.answer + 10
        timeout = httpx2.Timeout(_CONNECT, connect=times.connect or _CONNECT, read=read)
        make = partial(_client, verify, timeout)
    sending: Any = Sending(make, transport.headers, forwarded, transport.url, transport.auth is not None)
    transport.httpx_client_factory = sending
    return transport


class _Client(httpx2.AsyncClient):
    """An HTTP client that shows its errors.

    Attributes:
        failed: Called with each error for which there is no response.
    """

    failed: Callable[[httpx2.HTTPError], None] | None = None

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request."""
        try:
            return await super().send(request, **options)
        except httpx2.HTTPError as error:
            if self.failed is not None:
                self.failed(error)
            raise


def _client(
    verify: Any, timeout: httpx2.Timeout, /, *, headers: Any, auth: Any = None, **_: Any
) -> httpx2.AsyncClient:
    # FastMCP follows all redirects; the SDK follows only those within the same server.
    limits = httpx2.Limits(keepalive_expiry=_KEEP_ALIVE)
    return _Client(headers=headers, timeout=timeout, auth=auth, verify=verify, limits=limits)


def _connected_client(client: Client[Any], forwarded: Forwarded | None) -> Client[Any]:
    if client.is_connected() or forwarded is None:
        return client
    fresh = client.new()
    fresh.transport = connected(fresh.transport, forwarded)
    return fresh


def header_names(setting: object, where: str) -> Forwarded:
    """Validate the names of headers to forward.

    Args:
        setting: The operator's setting.
        where: Its name, for the error.

    Raises:
        ValueError: When it is not a list of header names that may be forwarded.
    """
    names = _valid(_NAMES, setting, where, "a list of header names")
    for name in sorted(names):
        if name in _OF_THE_CONNECTION or name.startswith("mcp-"):
            msg = f"{where}: the header {name} belongs to the connection and cannot be forwarded"
            raise ValueError(msg)
    return names
