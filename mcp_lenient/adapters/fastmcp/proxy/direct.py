"""Send calls to a server over HTTP in the task of the caller.

The SDK hands each request to a task, which starts two more, and the answer to a fourth; its HTTP client takes as long
again. Private APIs of the SDK are used to avoid both; where one is gone, its own way remains.
"""

from __future__ import annotations

import json
from contextlib import aclosing, asynccontextmanager
from contextvars import ContextVar, copy_context
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any, Final, TypeGuard
from urllib.request import getproxies

import anyio
import httpx2
from fastmcp.client.transports import StreamableHttpTransport
from fastmcp.client.transports.base import TransportOptions
from mcp import ClientSession
from mcp.client import streamable_http
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import (
    REQUEST_TIMEOUT,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from mcp_lenient.adapters.fastmcp.proxy.posts import Posts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from mcp.shared.dispatcher import CallOptions

    from mcp_lenient.adapters.fastmcp.proxy.posts import Answer, Body

_CALL: Final = "tools/call"
_CANCEL_FOR: Final = 5.0
"""Seconds that telling the server of a timeout may take, as in the SDK."""
_HANDLE_FOR: Final = 5.0
"""Seconds that an answer waits for the notifications before it to be handled."""
_ACCEPTS: Final = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
_LONGEST_EVENT: Final = 2**20
"""The SDK's limit, which it reports."""
CAN_POST: Final = all(
    (
        hasattr(streamable_http.StreamableHTTPTransport, "_handle_post_request"),
        hasattr(streamable_http, "RequestContext"),
        hasattr(JSONRPCDispatcher, "_write"),
        hasattr(JSONRPCDispatcher, "_dispatch"),
        hasattr(JSONRPCDispatcher, "_spawn"),
        "dispatcher" in signature(ClientSession).parameters,
    )
)
"""Whether the SDK has the private APIs used here."""


class DirectTransport(StreamableHttpTransport):
    """A transport whose sessions send calls in the task of the caller."""

    _latest: StreamableHttpTransport | None = None

    @staticmethod
    def fits(transport: object) -> TypeGuard[StreamableHttpTransport]:
        """Return whether a transport can be copied as one of this class."""
        return CAN_POST and type(transport) is StreamableHttpTransport

    @classmethod
    def of(cls, transport: StreamableHttpTransport) -> DirectTransport:
        """Return a copy of a transport."""
        direct = cls.__new__(cls)
        vars(direct).update(vars(transport))
        return direct

    def get_session_id(self) -> str | None:
        """Return the id of the latest session, as FastMCP does."""
        return None if self._latest is None else self._latest.get_session_id()

    @asynccontextmanager
    async def connect_session(
        self, *, transport_options: TransportOptions | None = None, **session_kwargs: Any
    ) -> AsyncIterator[ClientSession]:
        """Connect as FastMCP does, by a transport of the session's own."""
        options = transport_options or TransportOptions()
        connecting = StreamableHttpTransport.__new__(StreamableHttpTransport)
        vars(connecting).update(vars(self))
        poster = _Poster(connecting)
        connecting.httpx_client_factory = poster.capture(self.httpx_client_factory)
        session_class: Any = partial(_session, options.session_class, poster)
        self._latest = connecting
        try:
            async with connecting.connect_session(
                transport_options=replace(options, session_class=session_class), **session_kwargs
            ) as session:
                yield session
        finally:
            poster.close()


def _session(
    session_class: Callable[..., ClientSession], poster: _Poster, read: Any, write: Any, **kwargs: Any
) -> ClientSession:
    return session_class(dispatcher=_DirectDispatcher(read, write, poster), **kwargs)


_direct_timeout: ContextVar[tuple[float | None] | None] = ContextVar(
    "mcp_lenient_direct_timeout", default=None
)
"""The timeout of the call that is about to be written, in a tuple; None for any other message."""


class _DirectDispatcher(JSONRPCDispatcher):
    """Sends calls in the task of the caller, and all else as the SDK does.

    Args:
        read: The messages of the server.
        write: The messages to the server.
        poster: Posts the calls.
    """

    def __init__(self, read: Any, write: Any, poster: _Poster) -> None:
        super().__init__(read, write)
        self._poster = poster
        self._posts: set[anyio.CancelScope] = set()
        self._handlers: tuple[Any, Any] | None = None
        self._notified: _Answers | None = None

    async def run(self, on_request: Any, on_notify: Any, *args: Any, **kwargs: Any) -> None:
        """Receive messages until the connection ends; calls that are still running end with it."""
        self._handlers = on_request, on_notify
        try:
            await super().run(on_request, on_notify, *args, **kwargs)
        finally:
            self._handlers = None
            for scope in self._posts:
                scope.cancel()

    async def send_raw_request(
        self, method: str, params: Any, opts: CallOptions | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Send a request and return its result."""
        timeout = None if opts is None else opts.get("timeout")
        # The SDK's clock stops while a person logs in.
        is_direct = method == _CALL and not kwargs and (timeout is None or not self._poster.has_auth)
        token = _direct_timeout.set((timeout,) if is_direct else None)
        try:
            return await super().send_raw_request(method, params, opts, **kwargs)
        finally:
            _direct_timeout.reset(token)

    async def _write(self, message: JSONRPCMessage, metadata: Any = None) -> None:
        timeout = _direct_timeout.get()
        if timeout is None or not isinstance(message, JSONRPCRequest) or self._handlers is None:
            await super()._write(message, metadata)
        else:
            _direct_timeout.set(None)  # not for what the answer leads to
            await self._post(message, metadata, *timeout)

    async def _post(self, message: JSONRPCRequest, metadata: Any, limit: float | None) -> None:
        with anyio.move_on_after(limit) as scope:
            self._posts.add(scope)
            try:
                await self._poster.post(message, metadata, _Answers(self))
            finally:
                self._posts.discard(scope)
        if scope.cancelled_caught and self._handlers is not None:
            with anyio.move_on_after(_CANCEL_FOR):
                reason = f"timed out after {limit}s"
                await self.notify("notifications/cancelled", {"requestId": message.id, "reason": reason})
            raise MCPError(code=REQUEST_TIMEOUT, message=f"Request {message.method!r} timed out")

    async def dispatch(self, item: Any, answers: _Answers) -> None:
        """Dispatch a message of a response."""
        if self._handlers is None:
            raise anyio.ClosedResourceError
        is_notification = isinstance(getattr(item, "message", None), JSONRPCNotification)
        self._notified = answers if is_notification else None  # notifications are dispatched without waiting
        try:
            await self._dispatch(item, *self._handlers, copy_context())
        finally:
            self._notified = None

    def _spawn(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        handler = fn if self._notified is None else self._notified.tracked(fn)
        super()._spawn(handler, *args, **kwargs)


class _Answers:
    """Takes the messages of a response, like the stream that the SDK writes them to.

    Args:
        dispatcher: Handles the messages.
    """

    def __init__(self, dispatcher: _DirectDispatcher) -> None:
        self._dispatcher = dispatcher
        self._running: set[anyio.Event] = set()

    async def send(self, item: Any) -> None:
        """Handle a message; the result or error of the request only after the notifications before it."""
        if self._running and isinstance(getattr(item, "message", None), (JSONRPCResponse, JSONRPCError)):
            with anyio.move_on_after(_HANDLE_FOR):
                for handled in tuple(self._running):
                    await handled.wait()
        await self._dispatcher.dispatch(item, self)

    def tracked(self, handler: Callable[..., Any]) -> Callable[..., Any]:
        """Return a handler that is known to run until it ends."""
        handled = anyio.Event()
        self._running.add(handled)

        async def handle(*args: Any) -> None:
            try:
                await handler(*args)
            finally:
                self._running.discard(handled)
                handled.set()

        return handle


class _Poster:
    """Posts the calls of one session.

    Args:
        transport: The transport of this session alone.
    """

    def __init__(self, transport: StreamableHttpTransport) -> None:
        self._transport = transport
        self._sdk = streamable_http.StreamableHTTPTransport(transport.url)
        self._url = httpx2.URL(transport.url)
        self._client: Any = None
        self._posts: Posts | None = None
        self._sending: Any = None
        self._headers: dict[str, str] = {}
        self.has_auth = transport.auth is not None

    def capture(self, factory: Any) -> Callable[..., httpx2.AsyncClient]:
        """Return a factory whose client is that of this session."""

        def create(**kwargs: Any) -> httpx2.AsyncClient:
            client: httpx2.AsyncClient = factory(**kwargs)
            self._use(client, factory)
            return client

        return create

    def _use(self, client: httpx2.AsyncClient, sending: Any) -> None:
        self._client = client
        if sending.reach is not None and not self.has_auth and not self._url.userinfo and not getproxies():
            self._posts, self._sending = Posts(self._url, sending.reach), sending
            self._headers = dict(client.headers)

    def close(self) -> None:
        """Close the connections."""
        if self._posts is not None:
            self._posts.close()
        self._posts = None

    async def post(self, message: JSONRPCRequest, metadata: Any, answers: _Answers) -> None:
        """Post a request and dispatch all that its response has."""
        self._sdk.session_id = self._transport.get_session_id()
        known = metadata if isinstance(metadata, ClientMessageMetadata) else None
        # httpx knows cookies.
        if self._posts is None or self._client.cookies:
            await self._read(self._client, message, known, answers)
            return
        headers, content = self._headers_of(known), _encoded(message)
        raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        answer = await self._posts.post(raw, content)
        async with aclosing(answer.body):
            if await _is_answered(answer, message, answers):
                return
            request = httpx2.Request("POST", self._url, headers=headers, content=content)
            response = httpx2.Response(
                answer.status, headers=answer.headers, stream=answer.body, request=request
            )
            self._client.cookies.extract_cookies(response)
            for hook in self._client.event_hooks["response"]:
                await hook(response)
            if not response.has_redirect_location:
                await self._read(_Answered(self._client, response), message, known, answers)
                return
        # A server that redirects a call has not run it.
        self.close()
        await self._read(self._client, message, known, answers)

    def _headers_of(self, metadata: ClientMessageMetadata | None) -> dict[str, str]:
        headers = self._headers | _ACCEPTS
        if self._sdk.session_id is not None:
            headers[streamable_http.MCP_SESSION_ID] = self._sdk.session_id
        if metadata is not None and metadata.headers is not None:
            headers |= metadata.headers
        self._sending.refresh(headers)
        return headers

    async def _read(
        self, client: Any, message: JSONRPCRequest, metadata: ClientMessageMetadata | None, answers: Any
    ) -> None:
        """Have the SDK post a request and read its response."""
        await self._sdk._handle_post_request(  # noqa: SLF001 - see above
            streamable_http.RequestContext(
                client=client,
                session_id=self._sdk.session_id,
                session_message=SessionMessage(message, metadata),
                metadata=metadata,
                read_stream_writer=answers,
            )
        )


class _Answered:
    """A client that has the response to its first request, for the SDK to read.

    Args:
        client: The client for further requests.
        response: The response.
    """

    def __init__(self, client: httpx2.AsyncClient, response: httpx2.Response) -> None:
        self._client = client
        self._response: httpx2.Response | None = response
        self.max_redirects = client.max_redirects

    def build_request(self, *args: Any, **kwargs: Any) -> httpx2.Request:
        if self._response is not None:
            return self._response.request
        return self._client.build_request(*args, **kwargs)

    async def send(self, request: httpx2.Request, **kwargs: Any) -> httpx2.Response:
        response, self._response = self._response, None
        return await self._client.send(request, **kwargs) if response is None else response


def _encoded(message: JSONRPCRequest) -> bytes:
    """Encode a message as the SDK does."""
    sent = message.model_dump(by_alias=True, mode="json", exclude_unset=True)
    return json.dumps(sent, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


async def _is_answered(answer: Answer, request: JSONRPCRequest, answers: _Answers) -> bool:
    """Dispatch the response if it is nothing but the result or error of the request; otherwise leave it unread."""
    if answer.status != httpx2.codes.OK or any(map(answer.header, (b"content-encoding", b"set-cookie"))):
        return False
    kind = answer.header(b"content-type").lower()
    if kind.startswith(b"text/event-stream"):
        received, found = await _first_event(answer.body)
    elif kind.startswith(b"application/json"):
        received = found = b"".join([chunk async for chunk in answer.body])
    else:
        return False
    message = _message(found)
    if not isinstance(message, (JSONRPCResponse, JSONRPCError)):
        answer.body.unread(received)
        return False
    if received is not found:
        message.id = request.id  # an event stream belongs to one request
    await answers.send(SessionMessage(message))
    return True


def _message(data: bytes) -> JSONRPCMessage | None:
    if not data:
        return None
    try:
        return jsonrpc_message_adapter.validate_json(data, by_name=False)
    except ValidationError:
        return None


async def _first_event(body: Body) -> tuple[bytes, bytes]:
    """Return what was read of an event stream, and the message of its first event if that has nothing else."""
    received, end = bytearray(), -1
    while end < 0 and len(received) <= _LONGEST_EVENT and (chunk := await body.read()):
        start = max(0, len(received) - 3)
        received += chunk
        ends = [at for at in (received.find(b"\r\n\r\n", start), received.find(b"\n\n", start)) if at >= 0]
        end = min(ends, default=-1)
    lines = bytes(received[: max(end, 0)]).splitlines()
    if lines[:1] == [b"event: message"]:
        del lines[0]
    is_plain = len(lines) == 1 and lines[0].startswith(b"data: ") and len(lines[0]) <= _LONGEST_EVENT
    return bytes(received), lines[0].removeprefix(b"data: ") if is_plain else b""
