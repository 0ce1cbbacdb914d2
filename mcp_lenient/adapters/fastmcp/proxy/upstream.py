"""A server behind a proxy: its era of the protocol, and its tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import anyio
from fastmcp import Client, Context
from fastmcp.server import create_proxy
from fastmcp.server.dependencies import get_context
from fastmcp.server.providers.proxy import FastMCPProxy, ProxyClient, ProxyProvider
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import METHOD_NOT_FOUND, ErrorData, JSONRPCError, JSONRPCRequest
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError
from typing_extensions import Self

from mcp_lenient.adapters.fastmcp.proxy import compat
from mcp_lenient.telemetry import otel as spans

if TYPE_CHECKING:
    import contextvars
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
"""Seconds that a server has to list its tools before a call is judged by the list that is known."""
_UNUSABLE: Final = (MCPError, RuntimeError, OSError, ValidationError)
"""What is raised when a server cannot be reached, or says what is no MCP."""
OVER_HTTP: Final = ("sse", "streamable-http")


class Upstream:
    """A server behind a proxy, and FastMCP's own proxy for it.

    FastMCP's proxy speaks to the server in the era of the protocol in which it is spoken to. Most servers
    speak the older one only, and a newer client would see no tools; here it is told to speak the older one.

    Args:
        target: What :func:`fastmcp.server.create_proxy` takes.
        settings: Those of the proxy.

    Attributes:
        reached: Whether the server listed its tools when it was last asked.
    """

    def __init__(self, target: Any, **settings: Any) -> None:
        self._latest = compat.LatestCall()
        self._listed = -_FRESH
        self._listing = anyio.Lock()
        self.reached = True
        self._modern: bool | None = None
        self._probing = anyio.Lock()
        self._mirroring: Callable[[], Any] = create_proxy(target).client_factory
        self._older: Callable[[], Any] | None = None
        factory: Callable[[], Any] = self._mirroring
        if not isinstance(target, Client):  # a client of the user's own has its era by itself
            self._older = create_proxy(target, mode="legacy").client_factory
            factory = self._client
        self.proxy = FastMCPProxy(client_factory=factory, **settings)
        self._provider = next(own for own in self.proxy.providers if isinstance(own, ProxyProvider))

    async def speaks_older_only(self) -> bool:
        """Return whether the server is known to speak the older era only; asks it once."""
        if self._older is None:
            return False
        async with self._probing:
            if self._modern is None:
                probe = self._older()
                probe.mode = "auto"
                # Who cannot be reached now is left to FastMCP's proxy, which will say so.
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

    async def close(self) -> None:
        """End the connection; a server that was started for it ends too, within two seconds."""
        for factory in filter(None, (self._mirroring, self._older)):
            with suppress(*_UNUSABLE):
                await factory().transport.close()

    async def _client(self) -> Client[Any]:
        """Return a client for one request, in the era of that request where the server speaks it."""
        client: ProxyClient[Any] = self._mirroring()
        if (
            client.mode in MODERN_PROTOCOL_VERSIONS
            and self._older is not None
            and await self.speaks_older_only()
        ):
            client = self._older()
        context = _serving()
        if context is not None and context.transport not in OVER_HTTP:
            # One client in front: what the server asks it for reaches it, whichever call that is for. Over HTTP
            # there are several, and one must not be asked what is meant for another.
            compat.answer_from_latest(client, self._latest)
        return client


def _serving() -> Context | None:
    try:
        return get_context()
    except RuntimeError:
        return None
