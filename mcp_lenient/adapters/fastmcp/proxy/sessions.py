"""Sessions with an upstream server; each client of the proxy reuses its own."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from time import monotonic
from typing import TYPE_CHECKING, Any, Concatenate, Final, TypeVar, cast

import anyio
import httpx2
from fastmcp.exceptions import ToolError
from fastmcp.server.providers.proxy import ProxyClient
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, METHOD_NOT_FOUND, REQUEST_TIMEOUT
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from typing_extensions import ParamSpec, Self

from mcp_lenient.adapters.fastmcp.compat.running import current_context
from mcp_lenient.adapters.fastmcp.proxy import compat
from mcp_lenient.adapters.fastmcp.proxy.connection import Sending, Times, is_refusal, sending_of, watching
from mcp_lenient.adapters.fastmcp.proxy.credentials import CredentialsRefusedError
from mcp_lenient.adapters.fastmcp.proxy.utf8 import NOT_UTF_8, is_not_utf_8

if TYPE_CHECKING:
    from types import TracebackType

IDLE: Final = 300.0
"""Seconds after which an idle session is ended."""
MOST_KEPT: Final = 128
"""The number of sessions kept per server; others are opened for one request and ended with it."""
_LONGEST_END: Final = 5.0
"""Seconds that ending a session may take."""
_NOT_AGAIN: Final = 1.0
"""Seconds after a connection timeout in which no new attempt is made: one call makes several requests."""
_UNREACHED: Final = (RuntimeError, OSError, httpx2.HTTPError, anyio.ClosedResourceError, anyio.EndOfStream)
_SESSIONLESS: Final = "the newer era of the protocol, in which a server knows no sessions"
_WANTS_CREDENTIALS: Final = frozenset({httpx2.codes.UNAUTHORIZED, httpx2.codes.FORBIDDEN})
BROKEN: Final = frozenset({CONNECTION_CLOSED, REQUEST_TIMEOUT})
"""The codes of errors that are no answer of the server."""
_CALL: Final = "'tools/call'"
"""How the SDK names a call in its timeout error."""


class NotConnectedError(MCPError):
    """The connection to the server failed, so nothing was sent."""


def era_in_front() -> str:
    """Return the client mode for the protocol era of the current request."""
    context = current_context()
    request = None if context is None else context.request_context
    version = None if request is None else request.protocol_version
    return version if version in MODERN_PROTOCOL_VERSIONS else "legacy"


P = ParamSpec("P")
T = TypeVar("T")
_Send = Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]


def _renewed(send: _Send[P, T]) -> _Send[P, T]:
    """Retry a request in a new session if the server reports that the session is unknown."""

    @wraps(send)
    async def sent(self: Any, *args: P.args, **kwargs: P.kwargs) -> T:
        self.session_is_gone = False
        try:
            return await send(self, *args, **kwargs)
        except MCPError:
            if not self.session_is_gone:
                raise
        await self.renew()
        return await send(self, *args, **kwargs)

    return cast("_Send[P, T]", sent)


def _offered(capability: str, send: _Send[P, T]) -> _Send[P, T]:
    """Answer "Method not found" for a server that does not claim to have such a list, whatever its error is."""

    @wraps(send)
    async def sent(self: Any, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await send(self, *args, **kwargs)
        except MCPError as error:
            # In the newer era, a client may not have asked for the capabilities.
            hello = self.initialize_result
            if hello is None or getattr(hello.capabilities, capability) is not None:
                raise
            raise MCPError(code=METHOD_NOT_FOUND, message="Method not found") from error

    return cast("_Send[P, T]", sent)


def _readable(send: _Send[P, T]) -> _Send[P, T]:
    """Raise a ToolError for a call whose answer is not UTF-8; FastMCP logs any other error with a traceback."""

    @wraps(send)
    async def sent(self: Any, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await send(self, *args, **kwargs)
        except MCPError as error:
            if not is_not_utf_8(error.error):
                raise
            raise ToolError(NOT_UTF_8, log_level=logging.DEBUG) from error

    return cast("_Send[P, T]", sent)


@dataclass(slots=True)
class _Silence:
    """The time of the last connection timeout of a server, shared by its clients."""

    until: float = 0.0


class UpstreamClient(ProxyClient[Any]):
    """A proxy's client of its upstream server, which can stay connected between requests.

    Args:
        target: What :class:`fastmcp.Client` takes.
        times: Its timeouts.

    Attributes:
        kept_for: The key of the requests that may reuse the session; None for a session of one request.
        busy: Whether a request uses the session.
        used_at: When the last request ended.
        session_is_gone: Whether the server reported an unknown session.
        refused_caller: Whether the server refused the credentials.
    """

    def __init__(self, target: Any, times: Times) -> None:
        super().__init__(target, timeout=times.answer)
        self._times = times
        self._silence = _Silence()
        self._reset()

    def _reset(self) -> None:
        self.kept_for: tuple[Any, ...] | None = None
        self._ending: asyncio.Task[None] | None = None
        self.busy = False
        self._began = 0.0
        self.used_at = 0.0
        self.session_is_gone = False
        self.refused_caller = False
        self._refusal: httpx2.Response | None = None

    def new(self) -> UpstreamClient:
        """Return a client of the same server with its own session."""
        client = super().new()
        assert isinstance(client, UpstreamClient)  # noqa: S101 - a copy of this one
        client._reset()  # noqa: SLF001 - its own class
        compat.pass_on_samples(client, client._proxy_rc_ref)  # noqa: SLF001
        return client

    async def __aenter__(self) -> Self:
        """Connect, or reuse the kept session.

        Raises:
            NotConnectedError: When connecting fails or times out.
            CredentialsRefusedError: When the server does not accept the caller's credentials.
        """
        self.busy, self._began, self._refusal = True, monotonic(), None
        try:
            await self._connected_in_time()
        except BaseException as error:
            self.busy = False
            self._check_refusal(error)
            raise
        return self

    async def _connected_in_time(self) -> None:
        limit = self._times.connect
        too_late = "Client failed to connect" + ("" if limit is None else f" within {limit:g} seconds")
        if monotonic() < self._silence.until:
            raise NotConnectedError(code=CONNECTION_CLOSED, message=too_late)
        try:
            with anyio.fail_after(limit):
                await self._hold()
        except TimeoutError:
            self._silence.until = monotonic() + _NOT_AGAIN
            raise NotConnectedError(code=CONNECTION_CLOSED, message=too_late) from None
        except _UNREACHED as error:
            raise NotConnectedError(code=CONNECTION_CLOSED, message=str(error)) from error

    async def _hold(self) -> None:
        """Enter the session for a request, and a second time if it must outlive the request."""
        is_new = not self.is_connected()
        with watching(self._saw):
            await super().__aenter__()  # type: ignore[no-untyped-call]
        if is_new and self.kept_for is not None:
            await super().__aenter__()  # type: ignore[no-untyped-call]

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the session unless it is kept and still usable.

        Raises:
            ToolError: When a call timed out. FastMCP logs any other error of a call with a traceback, and the proxy
                logs this one itself.
            CredentialsRefusedError: When the server does not accept the caller's credentials.
        """
        self.busy, self.used_at = False, monotonic()
        if self.kept_for is None or not _breaks(error):
            await super().__aexit__(kind, error, trace)  # type: ignore[no-untyped-call]
        else:
            # In a separate task, since this one may be canceled.
            self.kept_for, self._ending = None, asyncio.ensure_future(self.end())
        self._check_refusal(error)
        if error is not None and self._is_late_call(error):
            raise ToolError(str(error), log_level=logging.DEBUG) from error

    def _check_refusal(self, error: BaseException | None) -> None:
        """Raise instead of an error that is due to the caller's credentials."""
        if self._refusal is None or not isinstance(error, Exception):
            return
        sending = sending_of(self.transport)
        if sending is not None:
            sending.note(self._refusal)
        raise CredentialsRefusedError from error

    def _is_late_call(self, error: BaseException) -> bool:
        limit = self._times.answer
        if limit is None or not isinstance(error, MCPError) or monotonic() - self._began < limit:
            return False
        return error.error.code == REQUEST_TIMEOUT and _CALL in error.error.message

    async def end(self) -> None:
        """End the session for all its users, without waiting for a hanging server."""
        # What broke the session was reported with the request.
        with anyio.move_on_after(_LONGEST_END), suppress(*_UNREACHED):
            await self.close()  # type: ignore[no-untyped-call]

    async def renew(self) -> None:
        """Replace a session that the server no longer knows."""
        await self.end()
        await self._hold()

    def _saw(self, response: httpx2.Response) -> None:
        if response.status_code == httpx2.codes.NOT_FOUND and _is_in_session(response.request):
            self.session_is_gone = self.kept_for is not None
        self.refused_caller = response.status_code in _WANTS_CREDENTIALS
        # A session has streams besides its requests.
        if response.request.method == "POST" or "mcp-session-id" not in response.request.headers:
            self._refusal = response if is_refusal(response) else None

    call_tool_mcp = _readable(_renewed(ProxyClient.call_tool_mcp))
    list_tools_mcp = _offered("tools", _renewed(ProxyClient.list_tools_mcp))
    list_resources_mcp = _offered("resources", _renewed(ProxyClient.list_resources_mcp))
    list_resource_templates_mcp = _offered("resources", _renewed(ProxyClient.list_resource_templates_mcp))
    list_prompts_mcp = _offered("prompts", _renewed(ProxyClient.list_prompts_mcp))
    read_resource_mcp = _renewed(ProxyClient.read_resource_mcp)
    get_prompt_mcp = _renewed(ProxyClient.get_prompt_mcp)
    ping = _renewed(ProxyClient.ping)


def _is_in_session(request: httpx2.Request) -> bool:
    """Return whether this is a JSON-RPC request in a session, not a response, a notification or a new stream."""
    if request.method != "POST" or "mcp-session-id" not in request.headers:
        return False
    message = json.loads(request.content)
    return isinstance(message, dict) and message.keys() >= {"id", "method"}


def _breaks(error: BaseException | None) -> bool:
    """Return whether a session is unusable after this error."""
    if isinstance(error, MCPError):
        return error.error.code in BROKEN
    return error is not None


class Sessions:
    """The sessions with one server over HTTP.

    Each belongs to one client of the proxy and its forwarded headers, and serves one request at a time, so that
    requests and notifications of the server reach the right call. Concurrent requests of a client use several
    sessions; the oldest free one is used first. They end with the client's connection. The newer protocol era has no
    sessions; there, connections are shared by all clients with the same headers.

    Args:
        base: The client that is copied for each session.
    """

    def __init__(self, base: UpstreamClient) -> None:
        self._base = base
        sending = getattr(base.transport, "httpx_client_factory", None)
        self._sending = sending if isinstance(sending, Sending) else None
        self._kept: dict[Any, list[UpstreamClient]] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def client(self, mode: str) -> UpstreamClient:
        """Return a client for a request: a free one kept for requests of its kind, or a new one.

        Args:
            mode: As for :class:`fastmcp.Client`.
        """
        owner: Any = (
            _SESSIONLESS if mode in MODERN_PROTOCOL_VERSIONS else compat.connection_of(current_context())
        )
        if self._sending is None or owner is None:
            return self._new(mode)
        kept_for = (mode, *sorted(self._sending.lasting()))
        mine = self._end_unused(owner, kept_for)
        for client in mine:
            if not client.busy:
                client.busy = True
                return client
        client = self._new(mode)
        if sum(map(len, self._kept.values())) < MOST_KEPT:
            client.kept_for, client.busy = kept_for, True
            if owner is not _SESSIONLESS and owner not in self._kept:
                owner.exit_stack.push_async_callback(self._end, owner)
            self._kept.setdefault(owner, []).append(client)
        return client

    async def close(self) -> None:
        """End all sessions."""
        for owner in tuple(self._kept):
            await self._end(owner)

    def _new(self, mode: str) -> UpstreamClient:
        client = self._base.new()
        client.mode = mode
        return client

    def _end_unused(self, owner: Any, kept_for: tuple[Any, ...]) -> list[UpstreamClient]:
        """End closed and idle sessions and those with other headers; return the reusable ones."""
        now = monotonic()
        for each, clients in self._kept.items():
            for client in tuple(clients):
                is_past = each is owner and owner is not _SESSIONLESS and client.kept_for != kept_for
                if client.busy or (client.is_connected() and not is_past and now - client.used_at < IDLE):
                    continue
                clients.remove(client)
                ending = asyncio.ensure_future(client.end())
                self._ending.add(ending)
                ending.add_done_callback(self._ending.discard)
        return [client for client in self._kept.get(owner, ()) if client.kept_for == kept_for]

    async def _end(self, owner: Any) -> None:
        with anyio.CancelScope(shield=True):
            await asyncio.gather(
                *(client.end() for client in self._kept.pop(owner, ())), return_exceptions=True
            )
