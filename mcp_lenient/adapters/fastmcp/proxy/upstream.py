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

from mcp_lenient.adapters.fastmcp.proxy import compat
from mcp_lenient.adapters.fastmcp.proxy.connection import NO_LIMITS, Times
from mcp_lenient.adapters.fastmcp.proxy.sessions import Sessions, UpstreamClient, era_in_front, serving
from mcp_lenient.telemetry import otel as spans

if TYPE_CHECKING:
    from types import TracebackType


OlderOnly = Callable[[], Awaitable[bool]]
"""Whether the server behind the proxy speaks the older era only."""


class OpeningStream:
    """What a client sends, apart from a first question that a server of the older era does not know.

    The first request on a stream settles its era, so that a newer client's ``server/discover`` must be
    answered before the SDK sees it. Told that there is no such method, the client speaks the older era.

    Args:
        stream: The client's messages.
        answers: Where the answers go.
        older_only: Asked where it matters.
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
"""Seconds for which a list of tools that was just asked for is not asked for again."""
_PATIENCE: Final = 5.0
"""Seconds that a server may take to list its tools before calls are validated by the cached list."""
_UNUSABLE: Final = (MCPError, RuntimeError, OSError, ValidationError)
"""What is raised when a server cannot be reached, or says what is no MCP."""
HEALTH_HOLDS: Final = 5.0
"""Seconds for which it is not asked again whether a server answers."""
OVER_HTTP: Final = ("sse", "streamable-http")


class Upstream:
    """A server behind a proxy, and FastMCP's own proxy for it.

    FastMCP's proxy speaks to the server in the era of the protocol in which it is spoken to. Most servers
    speak the older one only, and a newer client would see no tools; here it is told to speak the older one.

    Args:
        target: What :func:`fastmcp.server.create_proxy` takes.
        times: How long the server may take.
        settings: Those of the proxy.

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
        if isinstance(target, Client):  # one of the user's own has its era and its sessions by itself
            factory: Callable[[], Any] = create_proxy(target).client_factory
        else:
            self._own = UpstreamClient(target, times)
            self._sessions = Sessions(self._own)
            factory = self._client
        self._transport = (self._own or target).transport
        self.proxy = FastMCPProxy(client_factory=factory, **settings)
        self._provider = next(own for own in self.proxy.providers if isinstance(own, ProxyProvider))

    async def speaks_older_only(self) -> bool:
        """Return whether the server is known to speak the older era only; asks it once."""
        if self._own is None:
            return False
        async with self._probing:
            if self._modern is None:
                probe = self._own.new()
                probe.mode = "auto"
                # If the server cannot be reached now, FastMCP's proxy will report it.
                with suppress(*_UNUSABLE):
                    async with probe:
                        self._modern = probe.protocol_version in MODERN_PROTOCOL_VERSIONS
                    # A server asks for roots as soon as it is connected, and no client could tell it any yet.
                    await probe.transport.close()
        return self._modern is False

    async def list_anew(self) -> None:
        """Ask the server for its tools unless it was just asked; without an answer the cached ones stay."""
        async with self._listing:
            if monotonic() - self._listed < _FRESH:
                return
            self.reached = False
            with suppress(*_UNUSABLE), spans.aside(), anyio.move_on_after(_PATIENCE):
                await self._provider.list_tools()
                self.reached = True
            self._listed = monotonic()

    async def answers(self) -> bool:
        """Return whether the server answered when it was last asked, a few seconds ago at most."""
        async with self._checking:
            asked, is_there = self._health
            if monotonic() - asked >= HEALTH_HOLDS:
                # In a separate context: nothing of the requester is passed on to the server.
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
            context = serving()
            self._shared.join(client, alone=context is not None and context.transport not in OVER_HTTP)

    async def close(self) -> None:
        """End the connection; a server that was started for it ends too, within two seconds."""
        with suppress(*_UNUSABLE):
            if self._own is not None:
                await self._sessions.close()
            await self._transport.close()

    async def _client(self) -> Client[Any]:
        """Return a client for one request, in the era of that request where the server speaks it."""
        mode = era_in_front()
        if mode in MODERN_PROTOCOL_VERSIONS and await self.speaks_older_only():
            mode = "legacy"
        client = self._sessions.client(mode)
        self._join(client)
        return client
