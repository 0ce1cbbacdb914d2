"""A server that a command asks or calls, with what goes wrong on the way told in one line."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

from fastmcp import Client, FastMCP
from fastmcp.client.transports import ClientTransport
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.server.providers.proxy import FastMCPProxy
from fastmcp.tools import ToolResult
from httpx2 import HTTPError
from mcp.shared import tool_name_validation
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequestParams
from pydantic import ValidationError

from mcp_lenient.cli.errors import CommandError
from mcp_lenient.cli.targets import target_of
from mcp_lenient.logging_setup import silenced
from mcp_lenient.middleware import LenientMiddleware
from mcp_lenient.proxy.naming import name_of
from mcp_lenient.proxy.server import DEFAULT_POLICY
from mcp_lenient.redaction import shown
from mcp_lenient.tool_results import META_KEY

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
    except BrokenPipeError:  # whoever reads what is printed has left
        raise
    except ValidationError as error:
        msg = f"{named}: the server cannot be asked: its answer is no valid {shown(error.title)}"
        raise CommandError(msg) from error
    except (MCPError, HTTPError, RuntimeError, OSError) as error:
        msg = f"{named}: the server cannot be asked: {_reason(error)}"
        raise CommandError(msg) from error


def _reason(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


@contextmanager
def no_name_warnings() -> Iterator[None]:
    """Keep the SDK's warnings of tool names out of a command's output: they repeat the names unescaped."""
    names = logging.getLogger(tool_name_validation.__name__)
    level = names.level
    names.setLevel(logging.ERROR)
    try:
        yield
    finally:
        names.setLevel(level)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the events of calls that a command makes itself, and FastMCP's notices, out of its output."""
    fastmcp = logging.getLogger("fastmcp")
    level = fastmcp.level
    fastmcp.setLevel(logging.ERROR)
    try:
        with silenced(), no_name_warnings():
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
    front.add_middleware(_NoClaims())
    return front


class _NoClaims(Middleware):
    """Takes out of a server's answers what they claim that this package has done."""

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        result = await call_next(context)
        if not isinstance(result, ToolResult) or META_KEY not in (result.meta or {}):
            return result
        meta = {key: value for key, value in (result.meta or {}).items() if key != META_KEY}
        return result.model_copy(update={"meta": meta or None})


async def served(words: Sequence[str], work: Callable[[FastMCP], Awaitable[T]]) -> T:
    """Do something with the server that a command line names, connected to while it is done."""
    target = target_of(words)
    server = target if isinstance(target, FastMCP) else lenient_front(target)
    async with Client(server):
        return await work(server)
