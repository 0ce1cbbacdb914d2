"""Manage a server behind a proxy: its protocol era and its tools."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import anyio
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy
from fastmcp.server.providers.proxy import FastMCPProxy, ProxyProvider
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import METHOD_NOT_FOUND, ErrorData, JSONRPCError, JSONRPCRequest
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError
from typing_extensions import Self

from mcp_lenient.adapters.fastmcp.compat.running import current_context
from mcp_lenient.adapters.fastmcp.proxy import compat
from mcp_lenient.adapters.fastmcp.proxy.connection import NO_LIMITS, Times
from mcp_lenient.adapters.fastmcp.proxy.sessions import Sessions, UpstreamClient, era_in_front
from mcp_lenient.telemetry import otel as spans

if TYPE_CHECKING:
    from types import TracebackType


OlderOnly = Callable[[], Awaitable[bool]]
"""Returns whether the upstream server only speaks the older era."""


class OpeningStream:
    """A client's message stream that answers a leading ``server/discover`` for servers of the older era.

    The first request on a stream decides its era, so a newer client's ``server/discover`` must be answered before
    the SDK sees it. After "Method not found" the client uses the older era.

    Args:
        stream: The client's messages.
        answers: The stream for answers to the client.
        older_only: Called for ``server/discover`` only.
    """

    def __init__(self, stream: Any, answers: Any, older_only: OlderOnly) -> None:
        self._stream = stream
        self._answers = answers
        self._older_only = older_only
        self._settled = False

    @property
    def last_context(self) -> contextvars.Context | None:
        """The context in which the sender of the last message ran, where the stream knows it."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> Any:
        """Return the next message.

        Raises:
            EndOfStream: When the client has closed its end.
        """
        while True:
            item = await self._stream.receive()
            request = item.message if isinstance(item, SessionMessage) else None
            if self._settled or not isinstance(request, JSONRPCRequest):
                return item
            if request.method != "server/discover" or not await self._older_only():
                self._settled = True
                return item
            error = ErrorData(code=METHOD_NOT_FOUND, message="Method not found")
            await self._answers.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=request.id, error=error)))

    def __aiter__(self) -> OpeningStream:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


_FRESH: Final = 1.0
"""Seconds for which the list of tools is considered fresh."""
_PATIENCE: Final = 5.0
"""Seconds that a server may take to list its tools before calls are validated by the cached list."""
_UNUSABLE: Final = (MCPError, RuntimeError, OSError, ValidationError)
"""Errors raised when a server cannot be reached or does not answer in MCP."""
HEALTH_HOLDS: Final = 5.0
"""Seconds for which a health check is cached."""
OVER_HTTP: Final = ("sse", "streamable-http")


class Upstream:
    """An upstream server and FastMCP's own proxy for it.

    FastMCP's proxy uses the client's protocol era for the upstream server as well. Most servers only speak the older
    era, so a newer client would see no tools; here such a client is told to use the older era.

    Args:
        target: What :func:`fastmcp.server.create_proxy` takes.
        times: The timeouts of the server.
        settings: Settings of FastMCP's proxy.

    Attributes:
        reached: Whether the server listed its tools when it was last asked.
    """

    def __init__(self, target: Any, times: Times = NO_LIMITS, **settings: Any) -> None:
        self._shared = compat.SharedSession()
        self._listed = -_FRESH
        self._listing = anyio.Lock()
        self.reached = True
        self._health = (-HEALTH_HOLDS, False)
        self._checking = anyio.Lock()
        self._modern: bool | None = None
        self._probing = anyio.Lock()
        self._own: UpstreamClient | None = None
        if isinstance(target, Client):  # a client of the user manages its own era and sessions
            factory: Callable[[], Any] = create_proxy(target).client_factory
        else:
            self._own = UpstreamClient(target, times)
            self._sessions = Sessions(self._own)
            factory = self._client
        self._transport = (self._own or target).transport
        self.proxy = FastMCPProxy(client_factory=factory, **settings)
        self._provider = next(own for own in self.proxy.providers if isinstance(own, ProxyProvider))

    async def speaks_older_only(self) -> bool:
        """Return whether the server is known to speak only the older era; the answer is cached."""
        if self._own is None:
            return False
        async with self._probing:
            if self._modern is None:
                probe = self._own.new()
                probe.mode = "auto"
                self._join(probe)
                # If the server cannot be reached now, FastMCP's proxy will report it.
                with suppress(*_UNUSABLE):
                    async with probe:
                        self._modern = probe.protocol_version in MODERN_PROTOCOL_VERSIONS
                    if not self._modern:
                        # An older server may request roots as soon as it is connected, before any client could answer.
                        await probe.transport.close()
        return self._modern is False

    async def list_anew(self) -> None:
        """Refresh the list of tools unless it is fresh; without an answer the cached list stays."""
        async with self._listing:
            if monotonic() - self._listed < _FRESH:
                return
            self.reached = False
            with suppress(*_UNUSABLE), spans.aside(), anyio.move_on_after(_PATIENCE):
                await self._provider.list_tools()
                self.reached = True
            self._listed = monotonic()

    async def answers(self) -> bool:
        """Return whether the server answers; the result is cached for a few seconds."""
        async with self._checking:
            asked, is_there = self._health
            if monotonic() - asked >= HEALTH_HOLDS:
                # In a separate context, so that nothing of the requester is forwarded to the server.
                is_there = await contextvars.Context().run(asyncio.ensure_future, self._is_there())
                self._health = monotonic(), is_there
        return is_there

    async def _is_there(self) -> bool:
        client: Any = self.proxy.client_factory() if self._own is None else self._own.new()
        if isinstance(client, UpstreamClient):
            client.mode = "legacy" if await self.speaks_older_only() else "auto"
            self._join(client)
        with suppress(*_UNUSABLE), spans.aside(), anyio.move_on_after(_PATIENCE):
            async with client:
                if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
                    await client.list_tools_mcp()
                else:
                    await client.ping()
                return True
        return isinstance(client, UpstreamClient) and client.refused_caller

    def _join(self, client: UpstreamClient) -> None:
        if isinstance(client.transport, StdioTransport):
            context = current_context()
            self._shared.join(client, alone=context is not None and context.transport not in OVER_HTTP)

    async def close(self) -> None:
        """Close the connection; a server process started for it ends within two seconds."""
        with suppress(*_UNUSABLE):
            if self._own is not None:
                await self._sessions.close()
            await self._transport.close()

    async def _client(self) -> Client[Any]:
        """Return a client for one request, in its protocol era if the server supports it."""
        mode = era_in_front()
        if mode in MODERN_PROTOCOL_VERSIONS and await self.speaks_older_only():
            mode = "legacy"
        client = self._sessions.client(mode)
        self._join(client)
        return client
