"""Manage a server behind a proxy: its protocol era and its tools."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, cast

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
from mcp_lenient.adapters.fastmcp.proxy.connection import NO_LIMITS, Sending, Times, caller_of, sending_of
from mcp_lenient.adapters.fastmcp.proxy.credentials import CredentialsRefusedError
from mcp_lenient.adapters.fastmcp.proxy.sessions import BROKEN, Sessions, UpstreamClient, era_in_front
from mcp_lenient.adapters.fastmcp.proxy.utf8 import is_not_utf_8
from mcp_lenient.telemetry import otel as spans

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from fastmcp.prompts import Prompt
    from fastmcp.resources import Resource, ResourceTemplate
    from fastmcp.tools import Tool
    from fastmcp.utilities.versions import VersionSpec

T = TypeVar("T")


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
_MOST_CALLERS: Final = 500
"""The number of callers whose lists are kept per server."""
_UNUSABLE: Final = (MCPError, RuntimeError, OSError, ValidationError)
"""Errors raised when a server cannot be reached or does not answer in MCP."""
HEALTH_HOLDS: Final = 5.0
"""Seconds for which a health check is cached."""
OVER_HTTP: Final = ("sse", "streamable-http")


Reason = Literal["silent", "refused", "invalid", "credentials"]
"""Why a list is missing: no answer, an error, no valid list, or credentials that the server does not accept."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A list that an upstream server did not give.

    Attributes:
        server: The name of FastMCP's proxy for the server.
        method: The list that was asked for.
        reason: Why it is missing.
    """

    server: str
    method: str
    reason: Reason


_failures: ContextVar[list[Failure] | None] = ContextVar("mcp_lenient_failures", default=None)


def is_noting() -> bool:
    """Return whether failures are collected, and so not errors."""
    return _failures.get() is not None


@contextmanager
def noting_failures() -> Iterator[list[Failure]]:
    """Collect the lists that fail in this block; they are empty there."""
    failures: list[Failure] = []
    token = _failures.set(failures)
    try:
        yield failures
    finally:
        _failures.reset(token)


def _reason(error: BaseException) -> Reason:
    if isinstance(error, CredentialsRefusedError):
        return "credentials"
    if isinstance(error, ValidationError):
        return "invalid"
    if isinstance(error, MCPError) and is_not_utf_8(error.error):
        return "invalid"
    # FastMCP's proxy turns an error of the transport into its cause.
    is_answer = isinstance(error, MCPError) and error.error.code not in BROKEN and error.__cause__ is None
    return "refused" if is_answer else "silent"


@dataclass(slots=True)
class _Lists:
    """What a server has told one caller.

    Attributes:
        provider: Has the lists.
        listed: When the tools were last listed anew.
        failed: Why they were not; None if they were.
    """

    provider: ProxyProvider
    listed: float
    failed: Reason | None = None


class _Provider(ProxyProvider):
    """FastMCP's provider of a server's components, with lists for each caller, which notes a list that fails.

    FastMCP has the same lists for all callers. It logs each failure in several lines, and answers with an empty list.
    """

    _server: str
    _notes: bool
    _caller: Callable[[], bytes]
    _lists: dict[bytes, _Lists]
    _fresh: dict[str, Any]

    @classmethod
    def of(
        cls, provider: ProxyProvider, server: str, *, notes: bool, caller: Callable[[], bytes]
    ) -> _Provider:
        """Return a copy of a provider that has no lists yet."""
        own, fresh = cls.__new__(cls), dict(vars(provider))
        vars(own).update(fresh, _server=server, _notes=notes, _caller=caller, _lists={}, _fresh=fresh)
        return own

    @property
    def lists(self) -> _Lists:
        """What the server has told the current caller."""
        caller = self._caller()
        lists = self._lists.pop(caller, None)
        if lists is None:
            provider = ProxyProvider.__new__(ProxyProvider)
            vars(provider).update(self._fresh)
            lists = _Lists(provider, -_FRESH)
            if len(self._lists) >= _MOST_CALLERS:
                del self._lists[next(iter(self._lists))]
        self._lists[caller] = lists  # the last one used is forgotten last
        return lists

    async def list_tools(self) -> Sequence[Tool]:
        return await self._listed(self.lists.provider.list_tools(), "tools/list")

    async def list_resources(self) -> Sequence[Resource]:
        return await self._listed(self.lists.provider.list_resources(), "resources/list")

    async def list_resource_templates(self) -> Sequence[ResourceTemplate]:
        templates = self.lists.provider.list_resource_templates()
        return await self._listed(templates, "resources/templates/list")

    async def list_prompts(self) -> Sequence[Prompt]:
        return await self._listed(self.lists.provider.list_prompts(), "prompts/list")

    async def get_tool(self, name: str, version: VersionSpec | None = None) -> Tool | None:
        return await self._found(self.lists.provider.get_tool(name, version), "tools/list")

    async def get_tool_by_hash(self, tool_hash: str, tool_name: str) -> Tool | None:
        return await self.lists.provider.get_tool_by_hash(tool_hash, tool_name)

    async def get_resource(self, uri: str, version: VersionSpec | None = None) -> Resource | None:
        return await self._found(self.lists.provider.get_resource(uri, version), "resources/list")

    async def get_resource_template(
        self, uri: str, version: VersionSpec | None = None
    ) -> ResourceTemplate | None:
        template = self.lists.provider.get_resource_template(uri, version)
        return await self._found(template, "resources/templates/list")

    async def get_prompt(self, name: str, version: VersionSpec | None = None) -> Prompt | None:
        return await self._found(self.lists.provider.get_prompt(name, version), "prompts/list")

    async def _listed(self, listing: Awaitable[Sequence[T]], method: str) -> Sequence[T]:
        try:
            return await listing
        except _UNUSABLE as error:
            if not self._notes or not is_noting():
                raise
            self._note(method, error)
            return []

    async def _found(self, looking: Awaitable[T | None], method: str) -> T | None:
        try:
            return await looking
        except _UNUSABLE as error:
            if not self._notes:
                raise
            self._note(method, error)
            return None

    def _note(self, method: str, error: BaseException) -> None:
        failures = _failures.get()
        if failures is not None:
            failures.append(Failure(self._server, method, _reason(error)))


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
        self._shared = compat.SharedSession()
        self._listing = anyio.Lock()
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
        providers = self.proxy.providers
        at = next(at for at, own in enumerate(providers) if isinstance(own, ProxyProvider))
        self.caller = partial(caller_of, self._transport)
        self._provider = _Provider.of(
            cast("ProxyProvider", providers[at]),
            self.proxy.name,
            notes=settings.get("provider_error_strategy", "warn") == "warn",
            caller=self.caller,
        )
        providers[at] = self._provider

    @property
    def sending(self) -> Sending | None:
        """What sends the server's HTTP requests, if that is known."""
        return sending_of(self._transport)

    @property
    def failed(self) -> Reason | None:
        """Why the server did not list its tools for this caller when it was last asked; None if it did."""
        return self._provider.lists.failed

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
            lists = self._provider.lists
            if monotonic() - lists.listed < _FRESH:
                return
            lists.failed = "silent"
            with (
                suppress(*_UNUSABLE),
                spans.aside(),
                anyio.move_on_after(_PATIENCE),
                noting_failures() as failures,
            ):
                await self._provider.list_tools()
                lists.failed = failures[0].reason if failures else None
            lists.listed = monotonic()

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
