"""Whole arguments that came as JSON text, which the SDK refuses before any hook of FastMCP's."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from fastmcp import Context

from mcp_lenient import fastmcp_private
from mcp_lenient.caller import call_facts
from mcp_lenient.envelope import as_result, envelope, error_code
from mcp_lenient.events import call_event
from mcp_lenient.types import Repair
from mcp_lenient.whole_text import arguments_in_text, not_an_object

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from fastmcp import FastMCP
    from fastmcp.server.middleware import MiddlewareContext
    from mcp.server.context import ServerRequestContext

    from mcp_lenient.eventlog import EventLog
    from mcp_lenient.events import EventName
    from mcp_lenient.policy import Policy

    CallNext = Callable[[ServerRequestContext[Any, Any]], Awaitable[Any]]


@dataclass(slots=True)
class _Read:
    """How the arguments of the request being served were read; for the first call that asks."""

    repairs: tuple[Repair, ...]
    claimed: bool = False


_read: ContextVar[_Read | None] = ContextVar("mcp_lenient_whole_arguments", default=None)


class WholeArguments:
    """Reads whole arguments that came as text, and refuses what is no object by envelope.

    Args:
        policy_for: The policy for a tool name.
        log: Where events go.
    """

    def __init__(self, policy_for: Callable[[str], Policy], log: EventLog) -> None:
        self._policy_for = policy_for
        self._log = log
        self._seen: weakref.WeakSet[FastMCP] = weakref.WeakSet()
        self._last: FastMCP | None = None

    def repairs(self) -> tuple[Repair, ...]:
        """How the arguments of this request were read, told once: to the call that the client made."""
        read = _read.get()
        if read is None or read.claimed:
            return ()
        read.claimed = True
        return read.repairs

    def is_new(self, context: MiddlewareContext[Any]) -> bool:
        """Whether this is the first message of a server that this sees; asked with every message."""
        if context.fastmcp_context is None:
            return False
        server = context.fastmcp_context.fastmcp
        if server is self._last:
            return False
        self._last = server
        return server not in self._seen

    async def on_first_message(self, context: MiddlewareContext[Any]) -> Any:
        """Install the hook, and answer a message that came too early for it; None where there is no need to."""
        if context.fastmcp_context is None:
            return None
        server = context.fastmcp_context.fastmcp
        self._seen.add(server)
        hook = partial(self._read_request, weakref.ref(server))
        reason = fastmcp_private.install(server, hook)
        if reason is not None:
            self._log.warn_once("hook_unavailable", server.name, reason)
            return None
        request = fastmcp_private.raw_request(context.fastmcp_context)
        if context.method != "tools/call" or not isinstance(context.message, Mapping) or request is None:
            return None
        # FastMCP shows a call that the SDK refused as the raw parameters; its handler has not run.
        return await hook(replace(request, params=context.message), fastmcp_private.handler(server))

    async def _read_request(
        self, server: weakref.ref[FastMCP], ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> Any:
        """Middleware of the SDK's server: the raw request, before it is validated."""
        sent = ctx.params.get("arguments") if ctx.method == "tools/call" and ctx.params else None
        if sent is None or isinstance(sent, Mapping):
            return await call_next(ctx)
        name = str(ctx.params.get("name")) if ctx.params else ""
        policy = self._policy_for(name)
        owner = server()
        if policy.mode == "off" or owner is None:
            return await call_next(ctx)
        started = perf_counter_ns()
        read = arguments_in_text(sent, policy)
        if policy.mode == "observe" or read is None:
            return await self._not_read(owner, ctx, call_next, name, sent, policy, started, read)
        arguments, repair = read
        token = _read.set(_Read((repair,)))
        try:
            return await call_next(replace(ctx, params={**(ctx.params or {}), "arguments": arguments}))
        finally:
            _read.reset(token)

    async def _not_read(
        self,
        server: FastMCP,
        ctx: ServerRequestContext[Any, Any],
        call_next: CallNext,
        name: str,
        sent: Any,
        policy: Policy,
        started: int,
        read: tuple[dict[str, Any], Repair] | None,
    ) -> Any:
        async with Context(fastmcp=server, session=ctx.session) as context:
            tool = await server.get_tool(name)
            found = () if read is not None else (not_an_object(sent),)
            event: EventName = "call_observed" if policy.mode == "observe" else "call_rejected"
            if self._log.wants(event):
                facts = call_facts(
                    context, name, duration_us=(perf_counter_ns() - started) // 1000, mounted=None
                )
                repairs = () if read is None else (read[1],)
                code = error_code(found) if found else None
                self._log.emit(call_event(event, facts, error_code=code, violations=found, repairs=repairs))
            if policy.mode == "observe" or tool is None:
                return await call_next(ctx)
            answer = envelope(name, tool.parameters, found, ())
            return as_result(answer, has_output_schema=tool.output_schema is not None).to_mcp_result()
