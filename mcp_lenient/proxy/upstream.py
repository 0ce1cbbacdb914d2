"""A server behind a proxy: which era of the protocol it speaks, and which tools it has now."""

from __future__ import annotations

from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import anyio
from fastmcp import Client, Context
from fastmcp.server import create_proxy
from fastmcp.server.dependencies import get_context
from fastmcp.server.providers.proxy import FastMCPProxy, ProxyClient, ProxyProvider
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from mcp_lenient import spans
from mcp_lenient.proxy import fastmcp_private

if TYPE_CHECKING:
    from collections.abc import Callable

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
    """

    def __init__(self, target: Any, **settings: Any) -> None:
        self._latest = fastmcp_private.LatestCall()
        self._listed = -_FRESH
        self._listing = anyio.Lock()
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
        """Whether the server is known to speak the older era only; asks it once."""
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
        """Ask the server for its tools where it was not just asked; who does not answer keeps those known."""
        async with self._listing:
            if monotonic() - self._listed < _FRESH:
                return
            with suppress(*_UNUSABLE), spans.aside(), anyio.move_on_after(_PATIENCE):
                await self._provider.list_tools()
            self._listed = monotonic()

    async def _client(self) -> Client[Any]:
        """A client for one request, in the era of that request where the server speaks it."""
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
            fastmcp_private.answer_from_latest(client, self._latest)
        return client


def _serving() -> Context | None:
    try:
        return get_context()
    except RuntimeError:
        return None
