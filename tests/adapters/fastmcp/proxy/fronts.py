"""Proxies in front of servers, and what records or changes the messages between the two."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from fastmcp import Client, FastMCP
from fastmcp.client.transports import StdioTransport
from fastmcp.server.dependencies import get_http_headers
from fastmcp.server.middleware import Middleware
from starlette.applications import Starlette
from starlette.routing import Route
from wire import serving

from mcp_lenient import create_lenient_proxy

SERVERS = Path(__file__).parent / "servers"
UPSTREAM = str(SERVERS / "upstream.py")
COMMAND = [sys.executable, "-c", "from mcp_lenient.cli import main; main()", "proxy"]


class Recording(Middleware):
    """Records the method and the headers of each message that reaches a server."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, dict[str, str]]] = []

    async def on_message(self, context, call_next):
        self.messages.append((context.method, get_http_headers(include_all=True)))
        return await call_next(context)

    def headers(self, method: str | None = None) -> list[dict[str, str]]:
        """Return the headers of the messages with this method, or of all."""
        return [headers for asked, headers in self.messages if method in (None, asked)]

    def count(self, method: str) -> int:
        """Return how many messages had this method."""
        return len(self.headers(method))


@contextmanager
def over_http(upstream: Any, *, stateless: bool = False, **settings: Any) -> Iterator[str]:
    """Serve a server and a proxy of it over HTTP, and yield the proxy's URL."""
    with (
        serving(upstream) as behind,
        serving(create_lenient_proxy(behind, **settings), stateless=stateless) as url,
    ):
        yield url


@asynccontextmanager
async def of_process(*arguments: str, front: Any = create_lenient_proxy, mode: str = "legacy", **client: Any):
    """Connect a client to a proxy of a Python program over stdio."""
    transport = StdioTransport(sys.executable, list(arguments))
    async with Client(front(transport), mode=mode, **client) as connected:
        yield connected
    await transport.close()


@contextmanager
def web(*routes: Route) -> Iterator[str]:
    """Serve routes on a free port, and yield their address."""
    plain = FastMCP("plain")
    plain.http_app = lambda **_: Starlette(routes=list(routes))
    with serving(plain) as url:
        yield url.removesuffix("/mcp")


def around(server: FastMCP, wrap: Any) -> None:
    """Let ``wrap(app, scope, receive, send)`` handle the HTTP requests to a server's application."""
    make = server.http_app

    def made(**options: Any) -> Any:
        app = make(**options)

        async def served(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "http":
                await wrap(app, scope, receive, send)
            else:
                await app(scope, receive, send)

        return served

    server.http_app = made
