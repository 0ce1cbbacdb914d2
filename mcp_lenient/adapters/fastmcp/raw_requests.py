"""Arguments that are not an object: what the client sent, and the object that middleware sees in their place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from secrets import token_hex
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

import pydantic
from fastmcp import FastMCP

from mcp_lenient.adapters.fastmcp.caller import caller_fields
from mcp_lenient.adapters.fastmcp.compat import host
from mcp_lenient.adapters.gate import HostCall
from mcp_lenient.engine.contract import Decision
from mcp_lenient.engine.raw_arguments import arguments_in_text, not_an_object
from mcp_lenient.telemetry.log import CallTelemetry
from mcp_lenient.types import Repair
from mcp_lenient.values.json_values import plain

if TYPE_CHECKING:
    from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
    from mcp.server.context import ServerRequestContext

    from mcp_lenient.rules.policy import Policy

    _NextHandler = Callable[[ServerRequestContext[Any, Any]], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class RawCall:
    """The arguments that a client sent, if they are not an object.

    Attributes:
        arguments: The arguments.
        stand_in: The object that replaces them until the call is decided, so that no middleware mistakes this for a
            call without arguments.
        read: The repairs that parsed their text.
    """

    arguments: Any = None
    stand_in: Mapping[str, Any] | None = None
    read: tuple[Repair, ...] = ()

    def arguments_and_repairs(self, seen: Mapping[str, Any] | None) -> tuple[Any, tuple[Repair, ...]]:
        """Return the arguments to decide about, which another middleware may have changed, and the repairs so far."""
        is_changed = self.stand_in is None or seen != self.stand_in
        return (seen, self.read) if is_changed else (self.arguments, ())


NOT_RAW = RawCall()
"""A call that is seen as it was sent."""
_UNREAD: Final = f"arguments-{token_hex(8)}"
"""The key of arguments that could not be read as an object: no tool declares it, and no client can guess it."""
_raw: ContextVar[RawCall] = ContextVar("mcp_lenient_raw_call", default=NOT_RAW)


@contextmanager
def sent_as(raw: RawCall) -> Iterator[None]:
    """Attach what a client sent to the next call of this task."""
    token = _raw.set(raw)
    try:
        yield
    finally:
        _raw.reset(token)


def claim(seen: Mapping[str, Any]) -> RawCall:
    """Return what the client sent for this call, once per request."""
    if _UNREAD in seen:
        return RawCall(seen[_UNREAD], seen)
    raw = _raw.get()
    if raw is not NOT_RAW:
        _raw.set(NOT_RAW)
    return raw


class RawRequests:
    """Let arguments that are not an object reach ``on_call_tool``, read or with their violation.

    The hook rewrites a request and never answers one. It stands first in the list of the SDK's middleware, so that all
    other middleware sees the arguments that run; where other middleware stands before it, it changes nothing.

    Args:
        middleware: The middleware that decides about calls.
        policy_for: Returns the policy for a tool name.
        telemetry: Where outcomes are recorded.

    Attributes:
        servers: The servers that have sent a message on, which have the hook if that is possible.
    """

    def __init__(
        self, middleware: Middleware, policy_for: Callable[[str], Policy], telemetry: CallTelemetry
    ) -> None:
        self._middleware = middleware
        self._policy_for = policy_for
        self._telemetry = telemetry
        self.servers: WeakSet[FastMCP] = WeakSet()

    def install(self, server: FastMCP) -> None:
        """Install the hook on a server that sends its first message on."""
        reason = host.install(server, RawArgumentsHook(server, self._middleware, self._policy_for))
        self.servers.add(server)
        if reason is not None:
            self._telemetry.log.warn_once("hook_unavailable", server.name, reason)

    async def observe(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """Pass a message on; record arguments that are not an object if a policy in observe mode lets the SDK refuse them."""
        started = perf_counter_ns()
        try:
            return await call_next(context)
        except pydantic.ValidationError:
            # FastMCP shows middleware the raw parameters of a call that the SDK refused.
            params = context.message if isinstance(context.message, Mapping) else {}
            name, arguments = params.get("name"), params.get("arguments")
            if context.method == "tools/call" and isinstance(name, str) and _is_raw(arguments):
                policy = self._policy_for(name)
                if policy.mode == "observe":
                    read = arguments_in_text(arguments, policy)
                    decision = Decision("refused", {}, (), (not_an_object(arguments),), policy.mode)
                    if read is not None:
                        decision = Decision("accepted", {}, (read[1],), (), policy.mode)
                    call = HostCall(name, arguments, started, partial(caller_fields, context.fastmcp_context))
                    self._telemetry.record_decision(call, None, decision)
            raise


def _is_raw(arguments: Any) -> bool:
    """Return whether the arguments of a request are neither absent nor an object."""
    return arguments is not None and not isinstance(arguments, Mapping)


@dataclass(frozen=True, slots=True, eq=False)
class RawArgumentsHook:
    """Middleware of the SDK's server that reads the arguments of a raw request before the SDK validates them.

    Attributes:
        server: The server whose requests it reads.
        middleware: The server's middleware that it reads them for.
        policy_for: Returns the policy for a tool name.
    """

    server: FastMCP
    middleware: Middleware
    policy_for: Callable[[str], Policy]

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: _NextHandler) -> Any:
        """Pass a request on, with its arguments read if no other middleware has seen them yet."""
        params = ctx.params if ctx.method == "tools/call" and ctx.params else {}
        name, arguments = params.get("name"), params.get("arguments")
        if not (_is_raw(arguments) and isinstance(name, str) and host.is_first(self.server, self)):
            return await call_next(ctx)
        is_used = any(middleware is self.middleware for middleware in self.server.middleware)
        policy = self.policy_for(name)
        if not is_used or policy.mode != "repair" or host.has_header_parameters(self.server, name):
            return await call_next(ctx)
        read = arguments_in_text(arguments, policy)
        stand_in = {_UNREAD: arguments} if read is None else plain(read[0])
        raw = NOT_RAW if read is None else RawCall(arguments, stand_in, (read[1],))
        with sent_as(raw):
            return await call_next(replace(ctx, params={**params, "arguments": stand_in}))
