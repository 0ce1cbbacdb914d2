"""Sessions with an upstream server; each client of the proxy reuses its own."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial, wraps
from time import monotonic
from typing import TYPE_CHECKING, Any, Concatenate, Final, TypeVar, cast

import anyio
import httpx2
from fastmcp.client.transports import StdioTransport
from fastmcp.exceptions import ToolError
from fastmcp.server.dependencies import get_context
from fastmcp.server.providers import proxy
from fastmcp.server.providers.proxy import ProxyClient
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    REQUEST_TIMEOUT,
    CreateMessageRequest,
    CreateMessageResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError
from typing_extensions import ParamSpec, Self

from mcp_lenient.adapters.fastmcp.compat.running import current_context
from mcp_lenient.adapters.fastmcp.proxy import private_fastmcp
from mcp_lenient.adapters.fastmcp.proxy.connection import (
    OVER_HTTP,
    Times,
    is_refusal,
    sending_of,
    watched,
)
from mcp_lenient.adapters.fastmcp.proxy.trouble import (
    ENDED,
    LATE,
    NO_ANSWER,
    NOT_SENT,
    Trouble,
    is_request_in_session,
    of_answer,
    of_error,
)
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
BROKEN: Final = frozenset({CONNECTION_CLOSED, REQUEST_TIMEOUT})
"""The codes of errors that the server did not send."""
BEHIND: Final = "The server behind this proxy"
REFUSED_CREDENTIALS: Final = "CREDENTIALS_REFUSED"
UNAVAILABLE: Final = "UPSTREAM_UNAVAILABLE"
TIMED_OUT: Final = "UPSTREAM_TIMED_OUT"
MALFORMED: Final = "MALFORMED_ANSWER"
INVALID_ANSWER: Final = "The server's answer is not valid."


class UpstreamError(ToolError, MCPError):
    """There is no usable answer of the server. FastMCP logs any other error of a call with a traceback.

    Args:
        loss: The code that is logged for a call.
        message: What the client may read.
        code: The JSON-RPC code.
        trouble: Why there is none, if that is known.
    """

    def __init__(
        self, loss: str, message: str, code: int = INTERNAL_ERROR, trouble: Trouble | None = None
    ) -> None:
        MCPError.__init__(self, code, message)
        self.args = (message,)
        self.log_level = logging.DEBUG
        self.loss = loss
        self.trouble = trouble


def unavailable(trouble: Trouble = NO_ANSWER) -> UpstreamError:
    """Return the error for a server that could not be asked."""
    return UpstreamError(UNAVAILABLE, str(trouble.reason), CONNECTION_CLOSED, trouble)


def credentials_refused() -> UpstreamError:
    """Return the error for a server that does not accept the caller's credentials."""
    return UpstreamError(REFUSED_CREDENTIALS, f"{BEHIND} does not accept the caller's credentials.")


def era_in_front() -> str:
    """Return the client mode for the protocol era of the current request."""
    context = current_context()
    request = None if context is None else context.request_context
    version = None if request is None else request.protocol_version
    return version if version in MODERN_PROTOCOL_VERSIONS else "legacy"


async def _sample(_: Any, params: Any, __: Any) -> Any:
    """Forward a request and its answer whole; FastMCP's proxy before 4.2 only keeps text."""
    context = get_context()
    return await context.session.send_request(
        CreateMessageRequest(params=params.model_copy(update={"meta": None})),
        CreateMessageResult,
        metadata=ServerMessageMetadata(related_request_id=context.origin_request_id),
    )


_HANDLERS: Final = {
    "roots": proxy.default_proxy_roots_handler,
    "sampling_handler": _sample,
    "elicitation_handler": proxy.default_proxy_elicitation_handler,
    "log_handler": proxy.default_proxy_log_handler,
    "progress_handler": proxy.default_proxy_progress_handler,
    # FastMCP 4.2 and newer
    "message_handler": getattr(proxy, "default_proxy_message_handler", None),
}


class _Callers:
    """The requests that use a session. What the server asks meanwhile is handled as a part of one of them.

    A server does not say which request its own belongs to. While requests of several clients are running, which only
    a server over stdio has to serve at once, its own are refused.

    Args:
        are_several: Whether several clients share the session over HTTP. Otherwise the last request may be used even
            after its end.
    """

    def __init__(self, *, are_several: bool) -> None:
        self._are_several = are_several
        self._running: dict[object, tuple[object, contextvars.Context]] = {}
        self._latest: contextvars.Context | None = None

    def handlers(self) -> dict[str, Any]:
        """Return the handlers of a client, by FastMCP's names."""
        return {name: self._within(handler) for name, handler in _HANDLERS.items() if handler is not None}

    def _within(self, handler: Callable[..., Any]) -> Callable[..., Any]:
        async def handle(*args: Any) -> Any:
            return await self._current().run(asyncio.ensure_future, handler(*args))

        return handle

    def join(self) -> Callable[[], object]:
        """Add the current request; return a function that removes it."""
        key, context, request = object(), contextvars.copy_context(), current_context()
        self._running[key] = private_fastmcp.connection_of(request), context
        if not self._are_several or (request is not None and request.transport not in OVER_HTTP):
            self._latest = context
        return partial(self._running.pop, key, None)

    def _current(self) -> contextvars.Context:
        running = list(self._running.values())
        if len({id(owner) for owner, _ in running}) == 1:
            return running[-1][1]
        if self._latest is None:
            msg = "it is unknown in whose call the server asks"
            raise RuntimeError(msg)
        return self._latest


P = ParamSpec("P")
T = TypeVar("T")
_Send = Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]


def _sent(send: _Send[P, T], capability: str | None = None) -> _Send[P, T]:
    """Retry a request in a new session if the server reports that the session is unknown.

    Args:
        send: Sends the request.
        capability: What a server claims that answers it. Of any other server, an error means "Method not found".
    """

    @wraps(send)
    async def sent(self: Any, *args: P.args, **kwargs: P.kwargs) -> T:
        self.session_is_gone = False
        try:
            return await send(self, *args, **kwargs)
        except MCPError as error:
            # In the newer era, a client may not have asked for the capabilities.
            hello = self.initialize_result
            if capability and hello is not None and getattr(hello.capabilities, capability) is None:
                raise MCPError(code=METHOD_NOT_FOUND, message="Method not found") from error
            if not self.session_is_gone:
                raise
        await self.renew()
        return await send(self, *args, **kwargs)

    return cast("_Send[P, T]", sent)


class UpstreamClient(ProxyClient[Any]):
    """A proxy's client of its upstream server, which can stay connected between requests.

    Args:
        sessions: The sessions with the server.
        mode: As for :class:`fastmcp.Client`.

    Attributes:
        reuse_key: The key of the requests that may reuse the session; None for a session of one request.
        busy: Whether a request uses the session.
        used_at: When the last request ended.
        session_is_gone: Whether the server reported an unknown session.
        answer: The last HTTP response to a message, or to a request outside of a session.
        error: Why there was no HTTP response.
    """

    def __init__(self, sessions: Sessions, mode: str) -> None:
        self._sessions = sessions
        self._callers = sessions.callers or _Callers(are_several=False)
        self._leave: Callable[[], object] = lambda: None
        self.reuse_key: tuple[Any, ...] | None = None
        self.busy = False
        self._began = self.used_at = 0.0
        self.session_is_gone = False
        self.answer: httpx2.Response | None = None
        self.error: httpx2.HTTPError | None = None
        transport, timeout = watched(sessions.transport, self._saw, self._failed), sessions.times.answer
        super().__init__(transport, mode=mode, timeout=timeout, **self._callers.handlers())

    async def __aenter__(self) -> Self:
        """Connect, or reuse the kept session.

        Raises:
            UpstreamError: When connecting fails or times out, or the server does not accept the caller's credentials.
        """
        self.busy, self._began = True, monotonic()
        self.answer = self.error = None
        self._leave = self._callers.join()
        try:
            await self._connected_in_time()
        except BaseException as error:
            self._end_request()
            self._check_refusal(error)
            if isinstance(error, MCPError) and (trouble := self._trouble(error)):
                raise unavailable(trouble) from error
            raise
        return self

    def _end_request(self) -> None:
        self._leave()
        self.busy, self.used_at = False, monotonic()

    async def _connected_in_time(self) -> None:
        if monotonic() < self._sessions.silent_until:
            raise unavailable(LATE)
        try:
            with anyio.fail_after(self._sessions.times.connect):
                await self._hold()
        except TimeoutError:
            self._sessions.silent_until = monotonic() + _NOT_AGAIN
            raise unavailable(LATE) from None
        except _UNREACHED as error:
            raise unavailable(of_error(error)) from error

    async def _hold(self) -> None:
        """Enter the session for a request, and a second time if it must outlive the request."""
        is_new = not self.is_connected()
        await super().__aenter__()  # type: ignore[no-untyped-call]
        if is_new and self.reuse_key is not None:
            await super().__aenter__()  # type: ignore[no-untyped-call]

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the session unless it is kept and still usable.

        Raises:
            UpstreamError: When the server's answer is late, not valid or not UTF-8, or the server does not accept the
                caller's credentials.
        """
        self._end_request()
        if self.reuse_key is None or not _breaks(error):
            await super().__aexit__(kind, error, trace)  # type: ignore[no-untyped-call]
        else:
            self.reuse_key = None
            self._sessions.end_soon(self)
        self._check_refusal(error)
        if isinstance(error, ValidationError):
            # The SDK would answer -32602, as if the caller's arguments were wrong.
            raise UpstreamError(MALFORMED, INVALID_ANSWER) from error
        if not isinstance(error, MCPError):
            return
        if is_not_utf_8(error.error):
            raise UpstreamError(MALFORMED, NOT_UTF_8) from error
        if isinstance(self.error, NOT_SENT):
            raise unavailable(of_error(self.error)) from error
        if self.answer is not None and (trouble := of_answer(self.answer)):
            # The server has got the request, and may have acted on it.
            raise UpstreamError(MALFORMED, str(trouble.reason), trouble=trouble) from error
        if self._is_late(error):
            raise UpstreamError(TIMED_OUT, error.error.message, REQUEST_TIMEOUT) from error

    def _check_refusal(self, error: BaseException | None) -> None:
        """Raise instead of an error that is due to the caller's credentials."""
        sending = sending_of(self.transport)
        if sending and self.answer and is_refusal(self.answer) and isinstance(error, Exception):
            sending.note(self.answer)
            raise credentials_refused() from error

    @property
    def is_refused(self) -> bool:
        """Whether the last answer refuses the credentials, or asks for some."""
        codes = {httpx2.codes.UNAUTHORIZED, httpx2.codes.FORBIDDEN}
        return self.answer is not None and self.answer.status_code in codes

    def _trouble(self, error: MCPError) -> Trouble | None:
        """Return why there is no connection, if that is known."""
        if self.error is not None:
            return of_error(self.error)
        if self.answer is not None:
            return of_answer(self.answer)
        has_ended = isinstance(self.transport, StdioTransport) and error.error.code == CONNECTION_CLOSED
        return ENDED if has_ended and not isinstance(error, UpstreamError) else None

    def _is_late(self, error: MCPError) -> bool:
        limit = self._sessions.times.answer
        is_late = limit is not None and monotonic() - self._began >= limit
        return is_late and error.error.code == REQUEST_TIMEOUT

    async def end(self) -> None:
        """End the session for all its users, without waiting for a hanging server."""
        # What broke the session was reported with the request.
        with anyio.move_on_after(_LONGEST_END), suppress(MCPError, *_UNREACHED):
            await self.close()  # type: ignore[no-untyped-call]

    async def renew(self) -> None:
        """Replace a session that the server no longer knows."""
        await self.end()
        await self._hold()

    def _saw(self, response: httpx2.Response) -> None:
        if response.status_code == httpx2.codes.NOT_FOUND and is_request_in_session(response.request):
            self.session_is_gone = self.reuse_key is not None
        # A session has streams besides its requests.
        if response.request.method == "POST" or "mcp-session-id" not in response.request.headers:
            self.answer, self.error = response, None

    def _failed(self, error: httpx2.HTTPError) -> None:
        self.answer, self.error = None, error

    call_tool_mcp = _sent(ProxyClient.call_tool_mcp)
    list_tools_mcp = _sent(ProxyClient.list_tools_mcp, "tools")
    list_resources_mcp = _sent(ProxyClient.list_resources_mcp, "resources")
    list_resource_templates_mcp = _sent(ProxyClient.list_resource_templates_mcp, "resources")
    list_prompts_mcp = _sent(ProxyClient.list_prompts_mcp, "prompts")
    read_resource_mcp = _sent(ProxyClient.read_resource_mcp)
    get_prompt_mcp = _sent(ProxyClient.get_prompt_mcp)
    ping = _sent(ProxyClient.ping)


def _breaks(error: BaseException | None) -> bool:
    """Return whether a session is unusable after this error."""
    return error.error.code in BROKEN if isinstance(error, MCPError) else error is not None


class Sessions:
    """The sessions with one server.

    Over HTTP, each belongs to one client of the proxy and its forwarded headers, and serves one request at a time, so
    that requests and notifications of the server reach the right call. Concurrent requests of a client use several
    sessions; the oldest free one is used first. They end with the client's connection. The newer protocol era has no
    sessions; there, connections are shared by all clients with the same headers. A server over stdio has one session
    for all, which FastMCP's transport keeps.

    Args:
        transport: How to connect.
        times: The timeouts of the server.

    Attributes:
        callers: The requests that use the session of a server over stdio.
        silent_until: After a connection timeout, when to connect again.
    """

    def __init__(self, transport: Any, times: Times) -> None:
        self.transport = transport
        self.times = times
        self.callers = _Callers(are_several=True) if isinstance(transport, StdioTransport) else None
        self.silent_until = 0.0
        self._clients: dict[Any, list[UpstreamClient]] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def client(self, mode: str) -> UpstreamClient:
        """Return a client for a request: a free one kept for requests of its kind, or a new one.

        Args:
            mode: As for :class:`fastmcp.Client`.
        """
        is_modern = mode in MODERN_PROTOCOL_VERSIONS
        owner: Any = _SESSIONLESS if is_modern else private_fastmcp.connection_of(current_context())
        sending = sending_of(self.transport)
        if sending is None or owner is None:
            return UpstreamClient(self, mode)
        reuse_key = (mode, *sorted(sending.lasting()))
        free = [client for client in self._end_unused(owner, reuse_key) if not client.busy]
        client = free[0] if free else UpstreamClient(self, mode)
        client.busy = True
        if not free and sum(map(len, self._clients.values())) < MOST_KEPT:
            client.reuse_key = reuse_key
            if owner is not _SESSIONLESS and owner not in self._clients:
                owner.exit_stack.push_async_callback(self._end, owner)
            self._clients.setdefault(owner, []).append(client)
        return client

    def end_soon(self, client: UpstreamClient) -> None:
        """End a session in a task of its own, since the current one may be canceled."""
        ending = asyncio.ensure_future(client.end())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """End all sessions."""
        for owner in tuple(self._clients):
            await self._end(owner)
        await self.transport.close()

    def _end_unused(self, owner: Any, reuse_key: tuple[Any, ...]) -> list[UpstreamClient]:
        """End closed and idle sessions and those with other headers; return the reusable ones."""
        now = monotonic()
        for holder, clients in self._clients.items():
            for client in tuple(clients):
                is_past = holder is owner and owner is not _SESSIONLESS and client.reuse_key != reuse_key
                if client.busy or (client.is_connected() and not is_past and now - client.used_at < IDLE):
                    continue
                clients.remove(client)
                self.end_soon(client)
        return [client for client in self._clients.get(owner, ()) if client.reuse_key == reuse_key]

    async def _end(self, owner: Any) -> None:
        ended = [client.end() for client in self._clients.pop(owner, ())]
        with anyio.CancelScope(shield=True):
            await asyncio.gather(*ended, return_exceptions=True)
