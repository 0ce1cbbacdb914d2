"""Read arguments that came whole as JSON text, which the SDK refuses before any hook of FastMCP runs."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from fastmcp import Context

from mcp_lenient.adapters.fastmcp import compat
from mcp_lenient.adapters.fastmcp.telemetry import CallInfo
from mcp_lenient.engine.raw_arguments import arguments_in_text, not_an_object
from mcp_lenient.types import Repair, Violation
from mcp_lenient.values.numbers import plain

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from fastmcp import FastMCP
    from fastmcp.server.middleware import MiddlewareContext
    from mcp.server.context import ServerRequestContext

    from mcp_lenient.adapters.fastmcp.telemetry import Telemetry
    from mcp_lenient.rules.policy import Policy

    CallNext = Callable[[ServerRequestContext[Any, Any]], Awaitable[Any]]


@dataclass(slots=True)
class RawArguments:
    """Arguments of a request that were not an object: how they were read, or why they were not.

    With a ``violation``, an object that holds them goes on in their place, so that nothing on the way takes them
    for a call without arguments: the tool must not be run.

    Attributes:
        repairs: How the text was read.
        violation: Why it was not read.
        arguments: What was read, with source spellings; in the request, plain numbers go on.
    """

    repairs: tuple[Repair, ...] = ()
    violation: Violation | None = None
    arguments: dict[str, Any] | None = None

    @property
    def left_out(self) -> bool:
        """Whether the text said that there are no arguments."""
        return any(repair.after == "absent" for repair in self.repairs)


AS_SENT = RawArguments()
"""Arguments that came as an object."""
_raw: ContextVar[RawArguments] = ContextVar("mcp_lenient_raw_arguments", default=AS_SENT)
_hooked_session: ContextVar[object] = ContextVar("mcp_lenient_hooked_session", default=None)


def _no_server() -> None:
    """Stand for a weak reference to no server."""


class RawRequests:
    """Let arguments that are not an object reach ``on_call_tool``, read or with their violation.

    Args:
        policy_for: The policy for a tool name.
        telemetry: Where outcomes are recorded.
    """

    def __init__(self, policy_for: Callable[[str], Policy], telemetry: Telemetry) -> None:
        self._policy_for = policy_for
        self._telemetry = telemetry
        self._seen: weakref.WeakSet[FastMCP] = weakref.WeakSet()
        self._hooked: weakref.WeakSet[FastMCP] = weakref.WeakSet()
        self._last: Callable[[], FastMCP | None] = _no_server

    def claim(self) -> RawArguments:
        """Return how the arguments of this request were read, once: for the call that the client made."""
        raw = _raw.get()
        if raw is not AS_SENT:
            _raw.set(AS_SENT)
        return raw

    def concern(self, context: MiddlewareContext[Any]) -> bool:
        """Return whether ``on_message`` has anything to do with a message."""
        if context.fastmcp_context is None:
            return False
        if context.method == "tools/call" and isinstance(context.message, dict):
            return True
        server = context.fastmcp_context.fastmcp
        return self._last() is not server and self._is_new(server)

    def _is_new(self, server: FastMCP) -> bool:
        self._last = weakref.ref(server)
        return server not in self._seen

    async def on_message(self, context: MiddlewareContext[Any]) -> Any:
        """Install the hook on a server's first message; answer a call that came before the hook.

        Returns:
            The answer, or None where the message goes on.
        """
        if context.fastmcp_context is None:
            return None
        server = context.fastmcp_context.fastmcp
        hook = partial(self._read_request, weakref.ref(server))
        if server not in self._seen:
            self._seen.add(server)
            reason = compat.install(server, hook)
            if reason is None:
                self._hooked.add(server)
            else:
                self._telemetry.log.warn_once("hook_unavailable", server.name, reason)
        if context.method != "tools/call" or not isinstance(context.message, Mapping):
            return None
        # FastMCP shows a call that the SDK refused as the raw parameters; its handler has not run.
        request = compat.raw_request(context.fastmcp_context)
        if request is None or _hooked_session.get() is request.session or server not in self._hooked:
            return None
        return await hook(replace(request, params=context.message), compat.handler(server))

    async def _read_request(
        self, server: weakref.ref[FastMCP], ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> Any:
        """Read the arguments of a raw request, as middleware of the SDK's server, before the SDK validates them."""
        _hooked_session.set(ctx.session)
        params = ctx.params if ctx.method == "tools/call" and ctx.params else {}
        name, sent = params.get("name"), params.get("arguments")
        if sent is None or isinstance(sent, Mapping) or not isinstance(name, str):
            return await call_next(ctx)
        policy, owner = self._policy_for(name), server()
        if policy.mode == "off" or owner is None:
            return await call_next(ctx)
        started = perf_counter_ns()
        read = arguments_in_text(sent, policy)
        if read is None:
            raw, arguments = RawArguments(violation=not_an_object(sent)), {"arguments": sent}
        else:
            raw, arguments = RawArguments((read[1],), None, read[0]), plain(read[0])
        if policy.mode == "observe":
            await self._observed(owner, ctx, name, raw, started)
            return await call_next(ctx)
        token = _raw.set(raw)
        try:
            return await call_next(replace(ctx, params={**params, "arguments": arguments}))
        finally:
            _raw.reset(token)

    async def _observed(
        self,
        server: FastMCP,
        ctx: ServerRequestContext[Any, Any],
        name: str,
        raw: RawArguments,
        started: int,
    ) -> None:
        violations = () if raw.violation is None else (raw.violation,)
        async with Context(fastmcp=server, session=ctx.session) as context:
            exists = await server.get_tool(name) is not None
            info = CallInfo(context, name, started, exists)
            self._telemetry.record("call_observed", info, repairs=raw.repairs, violations=violations)
