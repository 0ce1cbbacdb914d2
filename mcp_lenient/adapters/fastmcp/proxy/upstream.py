"""Manage a server behind a proxy: its protocol era and its tools."""

from __future__ import annotations

import asyncio
import contextvars
import copy
import math
from collections.abc import Awaitable, Callable
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import anyio
from fastmcp import Client
from fastmcp.client.transports import infer_transport
from fastmcp.server import create_proxy
from fastmcp.server.providers.proxy import FastMCPProxy, ProxyProvider
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from mcp_lenient.adapters.fastmcp.proxy.connection import NO_LIMITS, Sending, Times, caller_of, sending_of
from mcp_lenient.adapters.fastmcp.proxy.sessions import (
    BEHIND,
    BROKEN,
    MALFORMED,
    REFUSED_CREDENTIALS,
    UNAVAILABLE,
    Sessions,
    UpstreamClient,
    UpstreamError,
    credentials_refused,
    era_in_front,
    unavailable,
)
from mcp_lenient.adapters.fastmcp.proxy.trouble import LATE, of_error
from mcp_lenient.telemetry import otel as spans

if TYPE_CHECKING:
    from collections.abc import Iterator


class OpeningStream:
    """A client's message stream on which a leading ``server/discover`` opens the older era, for servers of that era.

    The first request on a stream decides its era, by the ``_meta`` that the newer era has in every request. Without it,
    the SDK answers "Method not found", and the client goes on in the older era.

    Args:
        stream: The client's messages.
        older_only: Returns whether the server behind only speaks the older era; called for ``server/discover`` only.
    """

    def __init__(self, stream: Any, older_only: Callable[[], Awaitable[bool]]) -> None:
        self._stream = stream
        self._older_only = older_only
        self._is_open = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __aiter__(self) -> OpeningStream:
        return self

    async def __anext__(self) -> Any:
        item = await anext(self._stream)
        request = item.message if isinstance(item, SessionMessage) else None
        if self._is_open or not isinstance(request, JSONRPCRequest):
            return item
        self._is_open = True
        if request.method == "server/discover" and await self._older_only():
            return replace(item, message=request.model_copy(update={"params": None}))
        return item


_FRESH: Final = 1.0
"""Seconds for which the list of tools is considered fresh."""
_PATIENCE: Final = 5.0
"""Seconds that a server may take to list its tools before calls are validated by the cached list."""
_MOST_CALLERS: Final = 500
"""The number of callers whose lists are kept per server."""
_UNUSABLE: Final = (MCPError, RuntimeError, OSError, ValidationError)
"""Errors raised when a server cannot be reached or does not answer in MCP."""
HEALTH_HOLDS: Final = 5.0
"""Seconds for which a health check is cached."""
Failures = dict[str, UpstreamError]
"""Why servers gave no list, by the name of FastMCP's proxy for each: its first failure, which may lead to others."""
_failures: ContextVar[Failures | None] = ContextVar("mcp_lenient_failures", default=None)


def is_noting() -> bool:
    """Return whether failures are collected, and so not errors."""
    return _failures.get() is not None


@contextmanager
def noting_failures() -> Iterator[Failures]:
    """Collect the lists that fail in this block; they are empty there."""
    failures: Failures = {}
    token = _failures.set(failures)
    try:
        yield failures
    finally:
        _failures.reset(token)


def _failure(error: BaseException, method: str) -> UpstreamError:
    """Return why a list is missing; the message repeats nothing of the server's."""
    loss = error.loss if isinstance(error, UpstreamError) else None
    if loss == REFUSED_CREDENTIALS:
        return credentials_refused()
    if isinstance(error, UpstreamError) and error.trouble is not None:
        return unavailable(error.trouble)
    if loss == MALFORMED or isinstance(error, ValidationError):  # without our client
        return UpstreamError(
            MALFORMED, f"{BEHIND} answered '{method}' with something that is not such a list."
        )
    # FastMCP's proxy turns an error of the transport into its cause.
    if isinstance(error, MCPError) and loss is None and error.code not in BROKEN and error.__cause__ is None:
        return UpstreamError(UNAVAILABLE, f"{BEHIND} answered '{method}' with an error.")
    return unavailable(of_error(error))


@dataclass(slots=True)
class _Lists:
    """The lists that a server gave one caller.

    Attributes:
        provider: Has the lists.
        listed: When the tools were last listed anew.
        failed: Why they were not; None if they were.
    """

    provider: ProxyProvider
    listed: float = -math.inf
    failed: UpstreamError | None = None


def _of_caller(name: str, method: str) -> Any:
    """Return a method of the provider that asks the current caller's lists; a failure is noted, and gives nothing."""
    gives_list = name.startswith("list_")

    async def ask(self: _Provider, *args: Any, **kwargs: Any) -> Any:
        try:
            return await getattr(self.lists.provider, name)(*args, **kwargs)
        except _UNUSABLE as error:
            failures = _failures.get()
            if gives_list and failures is None:
                raise
            if failures is not None:
                failures.setdefault(self.server, _failure(error, method))
            return [] if gives_list else None

    return ask


class _Provider(ProxyProvider):
    """FastMCP's provider of a server's components, with lists for each caller, which notes a list that fails.

    FastMCP has the same lists for all callers. It logs each failure in several lines, and answers with an empty list.

    Args:
        provider: FastMCP's provider, without lists.
        server: The name of FastMCP's proxy for the server.
        caller: Returns a keyed hash of what the server sees of the current caller.
    """

    def __init__(self, provider: ProxyProvider, server: str, caller: Callable[[], bytes]) -> None:
        super().__init__(provider.client_factory)
        self.server = server
        self._caller = caller
        self._lists_of = lru_cache(_MOST_CALLERS)(lambda _: _Lists(copy.copy(provider)))

    @property
    def lists(self) -> _Lists:
        """The lists that the server gave the current caller."""
        return self._lists_of(self._caller())

    list_tools = _of_caller("list_tools", "tools/list")
    list_resources = _of_caller("list_resources", "resources/list")
    list_resource_templates = _of_caller("list_resource_templates", "resources/templates/list")
    list_prompts = _of_caller("list_prompts", "prompts/list")
    get_tool = _of_caller("get_tool", "tools/list")
    get_resource = _of_caller("get_resource", "resources/list")
    get_resource_template = _of_caller("get_resource_template", "resources/templates/list")
    get_prompt = _of_caller("get_prompt", "prompts/list")
    get_tool_by_hash = _of_caller("get_tool_by_hash", "tools/list")


class Upstream:
    """An upstream server and FastMCP's own proxy for it.

    FastMCP's proxy uses the client's protocol era for the upstream server as well. Most servers only speak the older
    era, so a newer client would see no tools; here such a client is told to use the older era.

    Args:
        target: What :func:`fastmcp.server.create_proxy` takes.
        times: The timeouts of the server.
        settings: Settings of FastMCP's proxy.

    Attributes:
        caller: Returns a keyed hash of what the server sees of the current caller.
    """

    def __init__(self, target: Any, times: Times = NO_LIMITS, **settings: Any) -> None:
        self._listing = anyio.Lock()
        self._health: tuple[float, UpstreamError | None] = (-HEALTH_HOLDS, None)
        self._checking = anyio.Lock()
        self._modern: bool | None = None
        self._probing = anyio.Lock()
        self._sessions: Sessions | None = None
        factory: Callable[[], Any] = self._client
        if isinstance(target, Client):  # a client of the user manages its own era and sessions
            self._transport: Any = target.transport
            factory = create_proxy(target).client_factory
        else:
            self._transport = infer_transport(target)
            self._sessions = Sessions(self._transport, times)
        self.proxy = FastMCPProxy(client_factory=factory, **settings)
        self.caller = partial(caller_of, self._transport)
        providers = self.proxy.providers
        provider = next(provider for provider in providers if isinstance(provider, ProxyProvider))
        self._provider = _Provider(provider, self.proxy.name, self.caller)
        providers[providers.index(provider)] = self._provider

    @property
    def sending(self) -> Sending | None:
        """What sends the server's HTTP requests, if that is known."""
        return sending_of(self._transport)

    @property
    def failed(self) -> UpstreamError | None:
        """Why the server did not list its tools for this caller when it was last asked; None if it did."""
        return self._provider.lists.failed

    async def speaks_older_only(self) -> bool:
        """Return whether the server is known to speak only the older era; the answer is cached."""
        if self._sessions is None:
            return False
        async with self._probing:
            if self._modern is None:
                probe = UpstreamClient(self._sessions, "auto")
                # If the server cannot be reached now, FastMCP's proxy will report it.
                with suppress(*_UNUSABLE):
                    async with probe:
                        self._modern = probe.protocol_version in MODERN_PROTOCOL_VERSIONS
                    if not self._modern:
                        # An older server may request roots as soon as it is connected, before any client could answer.
                        await self._transport.close()
        return self._modern is False

    async def list_anew(self) -> None:
        """Refresh the list of tools unless it is fresh; without an answer the cached list stays."""
        async with self._listing:
            lists = self._provider.lists
            if monotonic() - lists.listed < _FRESH:
                return
            lists.failed = unavailable(LATE)
            with (
                suppress(*_UNUSABLE),
                spans.aside(),
                anyio.move_on_after(_PATIENCE),
                noting_failures() as failures,
            ):
                await self._provider.list_tools()
                lists.failed = next(iter(failures.values()), None)
            lists.listed = monotonic()

    async def answers(self) -> bool:
        """Return whether the server answers; the result is cached for a few seconds."""
        failure = await self.failure()
        return failure is None or failure.loss == REFUSED_CREDENTIALS

    async def failure(self) -> UpstreamError | None:
        """Return why the server does not answer, None if it does; the result is cached for a few seconds."""
        async with self._checking:
            checked, failure = self._health
            if monotonic() - checked >= HEALTH_HOLDS:
                # In a separate context, so that nothing of the requester is forwarded to the server.
                failure = await contextvars.Context().run(asyncio.ensure_future, self._checked_now())
                self._health = monotonic(), failure
        return failure

    async def _checked_now(self) -> UpstreamError | None:
        if self._sessions is None:
            client: Any = self.proxy.client_factory()
        else:
            client = UpstreamClient(self._sessions, "legacy" if await self.speaks_older_only() else "auto")
        try:
            with spans.aside(), anyio.fail_after(_PATIENCE):
                async with client:
                    if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
                        await client.list_tools_mcp()
                    else:
                        await client.ping()
        except TimeoutError:
            return unavailable(LATE)
        except _UNUSABLE as error:
            is_refused = isinstance(client, UpstreamClient) and client.is_refused
            return credentials_refused() if is_refused else _failure(error, "tools/list")
        return None

    async def close(self) -> None:
        """Close the connection; a server process started for it ends within two seconds."""
        with suppress(*_UNUSABLE):
            await (self._sessions or self._transport).close()

    async def _client(self) -> Client[Any]:
        """Return a client for one request, in its protocol era if the server supports it."""
        assert self._sessions is not None  # noqa: S101 - see above
        mode = era_in_front()
        if mode in MODERN_PROTOCOL_VERSIONS and await self.speaks_older_only():
            mode = "legacy"
        return self._sessions.client(mode)
