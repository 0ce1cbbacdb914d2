"""Try a tool on a connected server, and record what happens to a call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, is_dataclass
from difflib import get_close_matches
from typing import Any, Final, TypeVar

from fastmcp import Client, Context, FastMCP
from fastmcp.server.middleware import CallNext, MiddlewareContext
from fastmcp.tools import Tool, ToolResult
from mcp.types import CallToolRequest, CallToolRequestParams, CallToolResult, TextContent
from pydantic import BaseModel
from typing_extensions import Self

from mcp_lenient.adapters.fastmcp.compat import host
from mcp_lenient.adapters.fastmcp.middleware import LenientMiddleware
from mcp_lenient.adapters.fastmcp.order import Innermost
from mcp_lenient.adapters.fastmcp.standing import standing_before
from mcp_lenient.adapters.fastmcp.tools import find_target
from mcp_lenient.adapters.sdk_caller import field
from mcp_lenient.declare.decorator_metadata import marks_of
from mcp_lenient.engine.schema_validator import PublishedSchemaValidator
from mcp_lenient.engine.tool import HostTool
from mcp_lenient.refusal.envelope import META_KEY
from mcp_lenient.rules.policy import Policy
from mcp_lenient.telemetry.recording import unrecorded
from mcp_lenient.types import Repair, Validator


def identical(one: Any, other: Any) -> bool:
    """Return whether two values are equal and have the same types at every level.

    >>> identical({"a": [1]}, {"a": [1]}), identical(1, 1.0), identical([True], [1])
    (True, False, False)
    """
    if type(one) is not type(other):
        return False
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(identical(value, other[key]) for key, value in one.items())
    if isinstance(one, Sequence) and not isinstance(one, (str, bytes)):
        return len(one) == len(other) and all(map(identical, one, other))
    if isinstance(one, AbstractSet):
        return bool(one == other) and {type(item) for item in one} == {type(item) for item in other}
    if isinstance(one, BaseModel):
        return identical(one.__dict__, other.__dict__) and identical(one.model_extra, other.model_extra)
    if is_dataclass(one) and hasattr(one, "__dict__"):
        return identical(vars(one), vars(other))
    return bool(one == other) or (one != one and other != other)  # noqa: PLR0124 - NaN


_STOPPED: Final = "The call was stopped before the tool by mcp_lenient.testing."
_OPAQUE: Final = object()
_recording: ContextVar[Recorder | None] = ContextVar("mcp_lenient_recording", default=None)


@dataclass(frozen=True, slots=True)
class Reached:
    """What reached a tool: the arguments as JSON, and the values its function is called with, if known."""

    arguments: Mapping[str, Any]
    bound: Any = _OPAQUE

    @property
    def shown(self) -> Mapping[str, Any]:
        """Return the values that the function is called with, including defaults; if unknown, the arguments."""
        if isinstance(self.bound, tuple) and len(self.bound) == 2 and not self.bound[0]:
            keywords: Mapping[str, Any] = self.bound[1] or {}
            return keywords
        return self.arguments

    def is_same(self, other: Reached) -> bool:
        """Return whether the tool receives equal values of the same types."""
        if identical(self.arguments, other.arguments):
            return True
        return self.bound is not _OPAQUE and identical(self.bound, other.bound)


class Recorder(Innermost):
    """Records one call at a time inside :meth:`recording`, and runs or stops it.

    Other concurrent calls are not affected.
    """

    def __init__(self, *, run: bool) -> None:
        self.reached: Reached | None = None
        self.runs = run

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record the calls made in this context and in tasks started from it, and keep them out of the server's file."""
        token = _recording.set(self)
        try:
            with unrecorded():
                yield
        finally:
            _recording.reset(token)

    @contextmanager
    def installed(self, server: FastMCP) -> Iterator[None]:
        """Add this recorder behind all other middleware of a server."""
        server.middleware.append(self)
        try:
            yield
        finally:
            server.middleware.remove(self)

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Record the arguments, and stop the call unless it should run or FastMCP will refuse it."""
        if _recording.get() is not self or self.reached is not None or context.fastmcp_context is None:
            return await call_next(context)
        server = context.fastmcp_context.fastmcp
        arguments = dict(context.message.arguments or {})
        tool = await server.get_tool(context.message.name)
        target = None if tool is None else await find_target(server, tool)
        bound = _OPAQUE if target is None else _bound(target, arguments)
        is_marked = target is not None and marks_of(target.function) is not None
        if bound is not None:
            self.reached = Reached(arguments, bound)
        if self.runs or (bound is None and not is_marked):
            result = await call_next(context)
            return result if is_marked else _without_claims(result)
        # An error result is neither validated against an output schema nor cached.
        return ToolResult(content=_STOPPED, is_error=True)


def _without_claims(result: ToolResult) -> ToolResult:
    """Return a tool's result without an entry of this package in its metadata, which only middleware may make."""
    if not isinstance(result, ToolResult) or META_KEY not in (result.meta or {}):
        return result
    meta = {key: value for key, value in (result.meta or {}).items() if key != META_KEY}
    return result.model_copy(update={"meta": meta or None})


def _bound(target: HostTool, arguments: Mapping[str, Any]) -> Any:
    """Return the values that the function is called with; None if it refuses the arguments."""
    validator: Any = target.validator
    if validator is None:
        return _OPAQUE
    try:
        return validator.received(arguments) if validator.accepts(arguments) else None
    except (ValueError, RecursionError):
        return None
    except Exception:  # noqa: BLE001 - whatever an author's validator raises is not about the arguments
        return _OPAQUE


ServerOrTool = FastMCP | Tool | Callable[..., Any]
"""A server, a tool, or a function, decorated or not."""
Sent = Mapping[str, Any] | str
"""Arguments as they are sent; also whole, as a text."""
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Attempt:
    """What happened to one call: what reached the tool, and the answer.

    ``envelope`` is set for a refused call; ``ran`` says whether the tool's body ran.
    """

    sent: Sent
    reached: Reached | None
    repairs: tuple[Repair, ...]
    envelope: Mapping[str, Any] | None
    answer: str
    is_error: bool
    ran: bool = False


class _AnyArguments(CallToolRequestParams):
    arguments: Any = None


class _AnyCall(CallToolRequest):
    params: _AnyArguments


@dataclass(frozen=True, slots=True)
class Trial:
    """One tool of a connected server, with a recorder in front of its body.

    ``validator`` is the tool's own or, where it is not known, that of its published schema. ``rules`` are the names of
    the policy's rules; other repairs come from the author's declarations.
    """

    target: HostTool
    validator: Validator
    client: Client[Any]
    recorder: Recorder
    is_lenient: bool
    rules: frozenset[str]

    async def attempt(self, sent: Sent) -> Attempt:
        """Send one call."""
        self.recorder.reached = None
        params = _AnyArguments(name=self.target.name, arguments=sent)
        try:
            result = await self.client.session.send_request(_AnyCall(params=params), CallToolResult)
            answer = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
            is_error, meta = bool(field(result, "is_error")), (result.meta or {}).get(META_KEY, {})
        except host.MCPError as error:
            answer, is_error, meta = str(error), True, {}
        reached = self.recorder.reached
        return Attempt(
            sent,
            reached,
            repairs=tuple(Repair(**repair) for repair in meta.get("repairs", ())),
            envelope=meta if "error_code" in meta else None,
            answer=answer,
            is_error=is_error,
            ran=self.recorder.runs and reached is not None,
        )


class Connection:
    """A server under test, connected while this context is open.

    A server is tested as it is or, with a policy, mounted in a server whose middleware has that policy. A tool or
    function gets a server with the middleware. So does a tool with ``@lenient`` and no middleware, because its
    body could not be stopped otherwise.

    With ``run`` calls run the tools' bodies.
    """

    def __init__(self, subject: ServerOrTool, policy: Policy | None, *, run: bool = False) -> None:
        self._server = _server(subject, policy)
        self._recorder = Recorder(run=run)
        self._clients: dict[FastMCP, Client[Any]] = {}
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._stack.__aenter__()
        self._stack.enter_context(self._recorder.recording())
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    @property
    def server_name(self) -> str:
        """Return the name of the server."""
        return self._server.name

    async def tool_names(self) -> list[str]:
        """Return the tools that a client sees."""
        client = await self._client(self._server)
        return list(dict.fromkeys(tool.name for tool in await client.list_tools()))

    @asynccontextmanager
    async def trial(self, name: str) -> AsyncIterator[Trial]:
        """Try one tool.

        Raises:
            ValueError: When there is no such tool.
        """
        server = self._server
        target = await self._target(server, name)
        policies = _policies(server, target)
        if not policies and marks_of(target.function) is not None:
            server = _mounted(self._server, None)
            target = await self._target(server, name)
            policies = _policies(server, target)
        client = await self._client(server)
        authors = () if target.policy is None else (target.policy,)
        rules = frozenset(rule.name for policy in (Policy(), *authors, *policies) for rule in policy.rules)
        innermost = target.route[-1][0] if target.route else server
        with self._recorder.installed(innermost):
            validator = target.validator or PublishedSchemaValidator(target.record.parameters)
            yield Trial(target, validator, client, self._recorder, is_lenient=bool(policies), rules=rules)

    async def _target(self, server: FastMCP, name: str) -> HostTool:
        async with Context(fastmcp=server):
            tool = await server.get_tool(name)
            if tool is not None:
                return await find_target(server, tool)
        names = await self.tool_names()
        near = get_close_matches(name, names) or names
        msg = f"The server {self.server_name!r} has no tool {name!r}; it has {', '.join(near) or 'none at all'}."
        raise ValueError(msg)

    async def _client(self, server: FastMCP) -> Client[Any]:
        if server not in self._clients:
            self._clients[server] = await self._stack.enter_async_context(Client(server))
        return self._clients[server]


def _policies(server: FastMCP, target: HostTool) -> list[Policy]:
    return [middleware.policy_for(name) for middleware, _, name in standing_before(server, target)]


def _server(subject: ServerOrTool, policy: Policy | None) -> FastMCP:
    if isinstance(subject, FastMCP):
        return subject if policy is None else _mounted(subject, policy)
    server: FastMCP = FastMCP("mcp_lenient.testing")
    server.add_tool(subject)
    server.add_middleware(LenientMiddleware(policy))
    return server


def _mounted(server: FastMCP, policy: Policy | None) -> FastMCP:
    """Put a server with the middleware in front of an unchanged one."""
    outer: FastMCP = FastMCP(server.name)
    outer.mount(server)
    outer.add_middleware(LenientMiddleware(policy))
    return outer


_LONGEST_END: Final = 0.5
"""Seconds to wait for the end of what Ctrl-C has canceled, such as that of another server."""


def in_new_loop(work: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    """Run a coroutine in a separate thread and event loop, so that this can be called from anywhere.

    Ctrl-C cancels it, and does not wait long for its end.
    """
    started: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[_T] | None]] = []

    async def cancellable() -> _T:
        started.append((asyncio.get_running_loop(), asyncio.current_task()))
        return await work()

    pool = ThreadPoolExecutor(1)
    done = pool.submit(lambda: asyncio.run(cancellable()))
    try:
        return done.result()
    except KeyboardInterrupt:
        for loop, task in started:
            if task is not None:
                with suppress(RuntimeError):  # the loop has just ended
                    loop.call_soon_threadsafe(task.cancel)
        wait([done], _LONGEST_END)
        raise
    finally:
        pool.shutdown(wait=False)
