"""A server that a command asks or calls, with what goes wrong on the way told in one line."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

from fastmcp import Client, FastMCP
from fastmcp.client.transports import ClientTransport
from fastmcp.server.providers.proxy import FastMCPProxy
from httpx2 import HTTPError
from mcp.shared.exceptions import MCPError

from mcp_lenient.cli.errors import CommandError
from mcp_lenient.cli.targets import target_of
from mcp_lenient.logging_setup import silenced
from mcp_lenient.middleware import LenientMiddleware
from mcp_lenient.proxy.naming import name_of
from mcp_lenient.proxy.server import DEFAULT_POLICY

T = TypeVar("T")


@contextmanager
def told(named: str) -> Iterator[None]:
    """Tell in one line why a server cannot be asked.

    Args:
        named: The server, as the command line names it.

    Raises:
        CommandError: When the server cannot be started, reached or asked.
    """
    try:
        yield
    except (MCPError, HTTPError, RuntimeError, OSError) as error:
        msg = f"{named}: the server cannot be asked: {_reason(error)}"
        raise CommandError(msg) from error


def _reason(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the events of calls that a command makes itself, and FastMCP's notices, out of its output."""
    fastmcp = logging.getLogger("fastmcp")
    level = fastmcp.level
    fastmcp.setLevel(logging.ERROR)
    try:
        with silenced():
            yield
    finally:
        fastmcp.setLevel(level)


def lenient_front(target: ClientTransport | FastMCP) -> FastMCP:
    """A server with the middleware before another one, to which one connection is held while it is in use.

    What cannot be repaired is refused: nothing that the other server's schema forbids reaches it.
    """
    client: Client[Any] = Client(target)

    @asynccontextmanager
    async def connected(_: Any) -> AsyncIterator[None]:
        async with client:
            yield

    front = FastMCPProxy(client_factory=lambda: client, lifespan=connected, name=name_of(target))
    front.add_middleware(LenientMiddleware(DEFAULT_POLICY))
    return front


async def served(words: Sequence[str], work: Callable[[FastMCP], Awaitable[T]]) -> T:
    """Do something with the server that a command line names, connected to while it is done."""
    target = target_of(words)
    server = target if isinstance(target, FastMCP) else lenient_front(target)
    async with Client(server):
        return await work(server)
