"""LenientMiddleware: one call, from the raw request to the tool or the envelope."""

from __future__ import annotations

import weakref
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, ClassVar, Final

from fastmcp import Context, FastMCP
from fastmcp.exceptions import DisabledError, NotFoundError, ValidationError
from fastmcp.server.middleware import Middleware
from mcp.types import CallToolRequestParams

from mcp_lenient.adapters.fastmcp import compat
from mcp_lenient.adapters.fastmcp.caller import caller_fields
from mcp_lenient.adapters.fastmcp.compat import host
from mcp_lenient.adapters.fastmcp.tools import (
    CachedTool,
    Call,
    Target,
    ToolCache,
    as_result,
    current,
    is_visible,
    recorded,
    repaired_result,
    run,
    run_raising,
    version_asked,
)
from mcp_lenient.adapters.settings import Operator, takes_settings
from mcp_lenient.engine.raw_arguments import arguments_in_text, not_an_object
from mcp_lenient.refusal.envelope import note_language, unknown_tool
from mcp_lenient.rules.policy import Policy
from mcp_lenient.telemetry import otel as spans
from mcp_lenient.telemetry.log import CallTelemetry, RecordedCall
from mcp_lenient.types import Repair, Violation
from mcp_lenient.values.display import shown_name
from mcp_lenient.values.json_values import plain
from mcp_lenient.values.names import near, same_tool_name, tool_target

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from os import PathLike

    from fastmcp.prompts import PromptResult
    from fastmcp.resources import ResourceResult
    from fastmcp.server.middleware import CallNext, MiddlewareContext
    from fastmcp.tools import Tool, ToolResult
    from mcp.server.context import ServerRequestContext
    from mcp.types import GetPromptRequestParams, ListToolsRequest, ReadResourceRequestParams
    from typing_extensions import Unpack

    from mcp_lenient.adapters.fastmcp.tools import CallContext, Next
    from mcp_lenient.adapters.settings import HostSettings
    from mcp_lenient.declare.policies import Policies
    from mcp_lenient.engine.contract import Decision
    from mcp_lenient.rules.policy import Unrepairable
    from mcp_lenient.telemetry.events import EventName

    _NextHandler = Callable[[ServerRequestContext[Any, Any]], Awaitable[Any]]


@dataclass(slots=True)
class RawArguments:
    """Arguments of a request that were not an object: how they were read, or why they could not be.

    With a ``violation``, an object that contains them is passed on instead, so that no middleware mistakes this for
    a call without arguments. The tool must not be run.

    Attributes:
        repairs: How the text was read.
        violation: Why it could not be read.
        arguments: What was read, with source spellings; the request gets plain numbers.
        tool: The tool that the call starts again with; None for the call that the client made.
    """

    repairs: tuple[Repair, ...] = ()
    violation: Violation | None = None
    arguments: dict[str, Any] | None = None
    tool: str | None = None

    @property
    def left_out(self) -> bool:
        """Whether the text means that there are no arguments."""
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
        policy_for: Returns the policy for a tool name.
        telemetry: Where outcomes are recorded.

    Attributes:
        last: The server of the latest message, as a weak reference.
    """

    def __init__(self, policy_for: Callable[[str], Policy], telemetry: CallTelemetry) -> None:
        self._policy_for = policy_for
        self._telemetry = telemetry
        self._seen: weakref.WeakSet[FastMCP] = weakref.WeakSet()
        self._hooked: weakref.WeakSet[FastMCP] = weakref.WeakSet()
        self.last: Callable[[], FastMCP | None] = _no_server

    def claim(self, tool: str) -> RawArguments:
        """Return how the arguments of this request were read, once: for the call that the client made."""
        raw = _raw.get()
        if raw is AS_SENT:
            return raw
        if raw.tool is not None and raw.tool != tool:
            return AS_SENT  # a call made by another middleware
        _raw.set(AS_SENT)
        return raw

    def concern(self, context: MiddlewareContext[Any]) -> bool:
        """Return whether ``on_message`` must handle a message."""
        if context.fastmcp_context is None:
            return False
        if context.method == "tools/call" and isinstance(context.message, dict):
            return True
        server = context.fastmcp_context.fastmcp
        return self.last() is not server and self._is_new(server)

    def _is_new(self, server: FastMCP) -> bool:
        if server not in self._seen:
            return True
        self.last = weakref.ref(server)
        return False

    async def on_message(self, context: MiddlewareContext[Any]) -> Any:
        """Install the hook on a server's first message; answer a call that came before the hook.

        Returns:
            The answer, or None if the message is passed on.
        """
        if context.fastmcp_context is None:
            return None
        server = context.fastmcp_context.fastmcp
        hook = partial(self._read_request, weakref.ref(server))
        if server not in self._seen:
            self._seen.add(server)
            reason = host.install(server, hook)
            if reason is None:
                self._hooked.add(server)
            else:
                self._telemetry.log.warn_once("hook_unavailable", server.name, reason)
        if context.method != "tools/call" or not isinstance(context.message, Mapping):
            return None
        # For a call that the SDK refused, FastMCP gives the raw parameters; its handler has not run.
        request = host.raw_request(context.fastmcp_context)
        if request is None or _hooked_session.get() is request.session or server not in self._hooked:
            return None
        return await hook(replace(request, params=context.message), host.handler(server))

    async def _read_request(
        self, server: weakref.ref[FastMCP], ctx: ServerRequestContext[Any, Any], call_next: _NextHandler
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
            info = RecordedCall(name, started, partial(caller_fields, context, None), exists)
            self._telemetry.record("call_observed", info, repairs=raw.repairs, violations=violations)


RENAMED_TOOL: Final = Repair("rename_tool", "", "string", "string")
_NOT_RUN: Final = (ValidationError, NotFoundError, DisabledError)
"""What FastMCP raises of an accepted call whose tool was replaced or removed meanwhile."""


class LenientMiddleware(Middleware):
    """Makes every tool of a server lenient: ``mcp.add_middleware(LenientMiddleware())``.

    Arguments that the tool accepts are passed on unchanged. Others are repaired if they can be read in exactly one way
    that it accepts; otherwise the caller gets an envelope that says what is wrong and how to correct it, and the
    tool is not run. Both are logged, without values.

    >>> from fastmcp import FastMCP
    >>> from mcp_lenient import LenientMiddleware, Policy
    >>> mcp = FastMCP("notes")
    >>> mcp.add_middleware(LenientMiddleware(tools={"delete_*": Policy.strict()}))

    All other settings are those of :class:`mcp_lenient.HostSettings`.

    Args:
        policy: What may be repaired; by default :class:`Policy` without arguments.
        warm: Whether all tools are compiled at a server's first message, so that the first wrong call is as fast as
            the second. It takes a few milliseconds for each tool.

    Attributes:
        unrepairable: What happens to a call that cannot be repaired if no policy decides it.

    Raises:
        PolicyError: Where ``MCP_LENIENT_MODE`` is not a mode.
        TypeError: Where ``on_decision`` is not a function, or a coroutine or generator function.
    """

    unrepairable: ClassVar[Unrepairable] = "forward"

    @takes_settings
    def __init__(
        self, policy: Policy | None = None, *, warm: bool = False, **settings: Unpack[HostSettings]
    ) -> None:
        self._operator = Operator(
            policy, unrepairable=self.unrepairable, own_spans=host.SPAN_IS_INSIDE, **settings
        )
        self._telemetry = self._operator.telemetry
        self._tools = self._cache(self._operator.policies)
        self._raw_requests = RawRequests(self.policy_for, self._telemetry)
        self._warm: weakref.WeakSet[FastMCP] | None = weakref.WeakSet() if warm else None
        hooks = (type(self).on_message, type(self).on_request)
        overrides_none = hooks == (LenientMiddleware.on_message, Middleware.on_request)
        # A file that may change is checked with every message.
        self._goes_straight = overrides_none and not self._operator.reloads

    @classmethod
    @takes_settings
    def from_file(
        cls,
        path: str | PathLike[str],
        policy: Policy | None = None,
        *,
        warm: bool = False,
        **settings: Unpack[HostSettings],
    ) -> LenientMiddleware:
        """Return a middleware with definitions from a YAML or TOML file: aliases, normalizers and policies by tool.

        Args:
            path: The file; its suffix determines the format.
            policy: As for :class:`LenientMiddleware`, as all that follows.
            warm: Whether all tools are compiled at a server's first message.
            **settings: See :class:`mcp_lenient.HostSettings`; ``definitions`` is the path.

        Raises:
            DefinitionError: When the file is wrong; names file, line or path, and field.
        """
        settings["definitions"] = path
        return cls(policy, warm=warm, **settings)

    def _cache(self, policies: Policies) -> ToolCache:
        return ToolCache(policies, self._telemetry.log.warn_once)

    async def _reload(self, server: FastMCP) -> None:
        """Load a changed file, if it is valid and does not contradict a tool of this server."""
        if await self._operator.reload(partial(self._check, server)):
            self._tools = self._cache(self._operator.policies)
            # What the file declares of no tool is logged when the tools are listed, and clients that know them do not
            # list them again. What others do to a list must not fail the call that came first after the change.
            with suppress(Exception), spans.aside():
                await server.list_tools()

    async def _check(self, server: FastMCP, policies: Policies) -> None:
        """Raise a DefinitionError where a changed file contradicts a function of a server."""
        tools = self._cache(policies)
        for name in policies.stated:
            await tools.look_up(server, CallToolRequestParams(name=name))

    def policy_for(self, tool: str) -> Policy:
        """Return the operator's policy for a tool name, without the author's."""
        return self._operator.policies.named(tool)

    def __call__(
        self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]
    ) -> Coroutine[Any, Any, Any]:
        """Dispatch a message; a tool call goes straight to ``on_call_tool``, without the unused hooks."""
        own = context.fastmcp_context
        is_call = type(context.message) is CallToolRequestParams and context.method == "tools/call"
        if is_call and self._goes_straight and own is not None and self._raw_requests.last() is own.fastmcp:
            return host.masked(self.on_call_tool(context, call_next))
        return host.masked(super().__call__(context, call_next))

    async def known(self, server: FastMCP, tool: str) -> CachedTool | None:
        """Return a tool as this middleware validates it on a server; None if the server does not have it."""
        return await self._tools.look_up(server, CallToolRequestParams(name=tool))

    async def on_message(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """Reload a changed definitions file, and read arguments sent as one text; pass every message on."""
        if self._operator.reloads and context.fastmcp_context is not None:
            await self._reload(context.fastmcp_context.fastmcp)
        if self._raw_requests.concern(context):
            await self._warm_up(context)
            answer = await self._raw_requests.on_message(context)
            if answer is not None:
                return answer
        return await call_next(context)

    async def _warm_up(self, context: MiddlewareContext[Any]) -> None:
        own = context.fastmcp_context
        if self._warm is not None and own is not None and own.fastmcp not in self._warm:
            self._warm.add(own.fastmcp)
            self._telemetry.log.warm()
            await self._tools.warm(own.fastmcp)

    async def on_list_tools(
        self,
        context: MiddlewareContext[ListToolsRequest],
        call_next: CallNext[ListToolsRequest, Sequence[Tool]],
    ) -> Sequence[Tool]:
        """Pass the tools on unchanged; log once the names in a definitions file that no tool has.

        Raises:
            DefinitionError: When the file contradicts a function, with the line.
        """
        tools = await call_next(context)
        if tools:
            self._operator.warn_of_unused({tool.name: tool.parameters for tool in tools})
            if context.fastmcp_context is not None:
                await self.check_statements(context.fastmcp_context.fastmcp)
        return tools

    async def check_statements(self, server: FastMCP) -> None:
        """Compare the parameters in a definitions file with the tools of a server.

        Raises:
            DefinitionError: When it contradicts a function; names file and line.
        """
        for name in self._operator.policies.stated:
            await self._tools.look_up(server, CallToolRequestParams(name=name))

    async def on_get_prompt(
        self,
        context: MiddlewareContext[GetPromptRequestParams],
        call_next: CallNext[GetPromptRequestParams, PromptResult],
    ) -> PromptResult:
        """Repair or refuse the arguments of a prompt that is a function of this server."""
        from mcp_lenient.adapters.fastmcp.prompts import repaired_prompt, serving

        context = await repaired_prompt(context, self.policy_for, self._telemetry)
        with serving(context):
            return await call_next(context)

    async def on_read_resource(
        self,
        context: MiddlewareContext[ReadResourceRequestParams],
        call_next: CallNext[ReadResourceRequestParams, ResourceResult],
    ) -> ResourceResult:
        """Refuse a URI whose parameters the function of its template cannot take."""
        from mcp_lenient.adapters.fastmcp.prompts import check_resource, serving

        await check_resource(context, self.policy_for, self._telemetry)
        with serving(context):
            return await call_next(context)

    async def on_call_tool(self, context: CallContext, call_next: Next) -> ToolResult:
        """Validate one call, repair or refuse it, and log it."""
        started = perf_counter_ns()
        message, own = context.message, context.fastmcp_context
        running = current.get()
        handled, parent = (False, None) if running is None else self._reentry(context, running)
        if own is None or handled:
            return await call_next(context)
        server = own.fastmcp
        raw = self._raw_requests.claim(message.name)
        call = Call(context, call_next, own.request_context, parent, started, raw.repairs, raw.arguments)
        answer = None if raw is AS_SENT else await self._not_an_object(call, server, raw)
        if answer is not None:
            return answer
        cached = self._tools.get(server, message)
        if cached is None or cached.normalizers:
            # Another tool's normalizers must not run on this tool's arguments.
            cached = await self._tools.look_up(server, message)
        if cached is None:
            return await self._not_found(call, server)
        if cached.mode == "off":
            return await run(call, cached, context)
        arguments = message.arguments or {}
        if not (await cached.accepts(arguments) if cached.in_thread else cached.validator.accepts(arguments)):
            return await self._not_accepted(call, server, cached, arguments)
        if cached.normalizers or call.sent_as_text:
            return await self._accepted(call, server, cached, arguments)
        if self._telemetry.count_accepted(message.name, started, arguments, cached.mode):
            self._log_accepted(call, cached, arguments)
        # Like `run`, but without another coroutine: this is the path of every accepted call.
        try:
            token = call.enter(cached)
            try:
                return await call_next(context)
            finally:
                current.reset(token)
        except _NOT_RUN as error:
            return await self._not_run(error, call, server, cached, arguments)

    def _reentry(self, context: CallContext, running: Call) -> tuple[bool, Call | None]:
        """Detect re-entry; return (already_handled, parent call)."""
        own = context.fastmcp_context
        if own is None or running.request is not own.request_context:
            return False, None
        name = context.message.name
        if own is not running.context.fastmcp_context and not running.consume_hop(own.fastmcp, name):
            return False, running
        return running.handles_mode(self.policy_for(name).mode), None

    async def _not_an_object(self, call: Call, server: FastMCP, raw: RawArguments) -> ToolResult | None:
        """Refuse arguments that are not an object, or in a destructive tool a text that leaves them out."""
        if raw.violation is None and not raw.left_out:
            return None
        cached = await self._tools.look_up(server, call.context.message)
        if cached is None:
            return await self._unknown(call, server)
        violation = raw.violation or (not_an_object("") if cached.plan.destructive else None)
        if violation is None:
            return None
        self._record("call_rejected", call, cached, violations=(violation,))
        return cached.refusal(call.name, (violation,))

    async def _not_accepted(
        self, call: Call, server: FastMCP, judged: CachedTool, arguments: Mapping[str, Any]
    ) -> ToolResult:
        decision: Decision | None = None
        if judged.mode == "repair" and await self._tools.is_current(server, judged):
            decision = await judged.decide_rejected(call.parsed or arguments)
            if decision.status == "repaired" or await is_visible(judged):
                return await self._rejected(call, server, judged, arguments, decision)
        return await self._judged_anew(call, server, judged, arguments, decision)

    async def _judged_anew(
        self,
        call: Call,
        server: FastMCP,
        judged: CachedTool,
        arguments: Mapping[str, Any],
        decision: Decision | None = None,
    ) -> ToolResult:
        # Never change a call by the schema of a replaced tool, nor refuse one by a schema that its client may not see.
        cached = await self._tools.look_up(server, call.context.message)
        if cached is None:
            return await self._not_found(call, server)
        if cached is not judged and await cached.accepts(arguments):
            return await self._accepted(call, server, cached, arguments)
        return await self._rejected(call, server, cached, arguments, decision if cached is judged else None)

    async def _accepted(
        self,
        call: Call,
        server: FastMCP,
        cached: CachedTool,
        arguments: Mapping[str, Any],
        decision: Decision | None = None,
    ) -> ToolResult:
        """Run the tool with arguments that it accepts, as sent or repaired."""
        accepted, repairs = (arguments, ()) if decision is None else (decision.arguments, decision.repairs)
        try:
            return await self._run(call, cached, accepted, repairs)
        except _NOT_RUN as error:
            return await self._not_run(error, call, server, cached, arguments, accepted)

    async def _not_run(
        self,
        error: Exception,
        call: Call,
        server: FastMCP,
        cached: CachedTool,
        arguments: Mapping[str, Any],
        accepted: Mapping[str, Any] | None = None,
    ) -> ToolResult:
        """Answer a call whose tool was replaced or removed; raise again what the tool's body raised."""
        if not compat.refused_before_running(error, call.name) or error is call.leaked:
            raise error
        if isinstance(error, ValidationError):
            accepted = arguments if accepted is None else accepted
            if not await self._tools.is_replaced(server, call.context.message, cached, accepted):
                raise error
            return await self._judged_anew(call, server, cached, arguments)
        gone = await self._tools.look_up(server, call.context.message) is None
        if not gone or not self._answers_unknown(call):
            raise error
        return await self._unknown(call, server)

    async def _rejected(
        self,
        call: Call,
        server: FastMCP,
        cached: CachedTool,
        arguments: Mapping[str, Any],
        decision: Decision | None = None,
    ) -> ToolResult:
        decision = decision or await cached.decide_rejected(call.parsed or arguments)
        if cached.mode == "observe":
            return await self._observed(call, cached, decision)
        if decision.status == "repaired":
            return await self._accepted(call, server, cached, arguments, decision)
        if not cached.certain and cached.policy.unrepairable == "forward":
            return await self._forwarded(call, cached, decision)
        return await self._refused(call, cached, decision)

    async def _run(
        self, call: Call, cached: CachedTool, arguments: Mapping[str, Any], repairs: tuple[Repair, ...]
    ) -> ToolResult:
        """Run the tool with arguments that it accepts, after the normalizers that its author declared."""
        context = call.context
        if cached.normalizers:
            final = cached.settled(arguments)
            arguments, repairs = final.arguments, (*repairs, *final.repairs)
        if repairs and cached.mode == "observe":
            self._record("call_observed", call, cached, repairs=repairs)
            return await run(call, cached, context)
        if repairs:
            context = context.copy(message=context.message.model_copy(update={"arguments": dict(arguments)}))
        repairs = (*call.sent_as_text, *repairs)
        if repairs:
            self._record("call_repaired", call, cached, repairs=repairs, kept_in=(cached.plan.top, arguments))
            note = note_language(cached.policy)
            return repaired_result(await run(call, cached, context), repairs, note_language=note)
        if self._telemetry.count_accepted(call.name, call.started, arguments, cached.mode):
            self._log_accepted(call, cached, arguments)
        return await run(call, cached, context)

    async def _refused(self, call: Call, cached: CachedTool, decision: Decision) -> ToolResult:
        violations, repairs = decision.violations, (*call.sent_as_text, *decision.repairs)
        self._record("call_rejected", call, cached, repairs=repairs, violations=violations)
        if call.parent is not None:
            # An envelope would look like success to a tool's body, so raise FastMCP's error.
            return await run_raising(call, cached, call.parent)
        return cached.refusal(call.name, violations, repairs)

    async def _forwarded(self, call: Call, cached: CachedTool, decision: Decision) -> ToolResult:
        self._record("call_forwarded", call, cached, violations=decision.violations)
        try:
            return await run(call, cached, call.context)
        except ValidationError as error:
            if call.parent is not None or error is call.leaked:
                raise
            return cached.refusal(call.name, decision.violations)

    async def _observed(self, call: Call, cached: CachedTool, decision: Decision) -> ToolResult:
        self._record("call_observed", call, cached, repairs=decision.repairs, violations=decision.violations)
        return await run(call, cached, call.context)

    async def _not_found(self, call: Call, server: FastMCP) -> ToolResult:
        meant = await self.meant(server, call.context.message)
        if meant is not None and meant.mode == "repair":
            return await self._restarted(call, server, meant)
        if meant is not None:
            self._record("call_observed", call, meant, repairs=(RENAMED_TOOL,))
            return await call.call_next(call.context)
        if shown_name(call.name) != call.name and self._answers_unknown(call):
            # FastMCP would write the name, which may contain values, into an exception on its span.
            return await self._unknown(call, server)
        try:
            return await call.call_next(call.context)
        except (NotFoundError, DisabledError):
            if not self._answers_unknown(call):
                raise
            return await self._unknown(call, server)

    async def meant(self, server: FastMCP, message: CallToolRequestParams) -> CachedTool | None:
        """Return the tool in this client's list that a differently spelled name means, as far as its policy allows."""
        with spans.aside():
            listed = {tool.name for tool in await server.list_tools()}
        names = {server.name, self._telemetry.names.get(server.name, server.name)}
        target = None if message.name in listed else tool_target(message.name, listed, names)
        if target is None:
            return None
        cached = await self._tools.look_up(server, message.model_copy(update={"name": target.name}))
        if cached is None or cached.mode == "off" or cached.plan.destructive:
            return None
        behind = cached.target.route[0][0].name if cached.target.route else ""
        is_there = target.upstream is None or same_tool_name(target.upstream, behind)
        return cached if is_there and cached.policy.allows(RENAMED_TOOL.rule) else None

    async def _restarted(self, call: Call, server: FastMCP, meant: CachedTool) -> ToolResult:
        """Start a call again under the tool's own name, so that every middleware sees that name."""
        message, name = call.context.message, meant.tool.name
        token = _raw.set(RawArguments((*call.sent_as_text, RENAMED_TOOL), None, call.parsed, name))
        try:
            return await server.call_tool(name, message.arguments or {}, version=version_asked(message))
        finally:
            _raw.reset(token)

    def _answers_unknown(self, call: Call) -> bool:
        """Return whether the caller of an unknown tool gets an envelope; in observe mode, record it."""
        mode = self.policy_for(call.name).mode
        if mode == "observe":
            self._record("call_observed", call, None, code="UNKNOWN_TOOL")
        return mode == "repair" and call.parent is None

    async def _unknown(self, call: Call, server: FastMCP) -> ToolResult:
        name = call.name
        with spans.aside():
            names = {tool.name for tool in await server.list_tools()}
        similar, language = near(name, names - {name}), self.policy_for(name).language
        answer = unknown_tool(name, similar, has_versions=name in names, language=language)
        self._record("call_rejected", call, None, code=answer["error_code"])
        return as_result(answer, has_output_schema=False)

    def _log_accepted(self, call: Call, cached: CachedTool, arguments: Mapping[str, Any]) -> None:
        own = recorded(call.context, cached, call.started)
        self._telemetry.write_accepted(own, cached.plan.top, arguments)

    def _record(self, event: EventName, call: Call, cached: CachedTool | None, **outcome: Any) -> None:
        """Record in the log, on the span and in the metrics what becomes of a call."""
        self._telemetry.record(event, recorded(call.context, cached, call.started), **outcome)


async def check_statements(server: FastMCP) -> None:
    """Compare the definitions files of a server's middleware with its tools.

    Raises:
        DefinitionError: When one contradicts a function; names file and line.
    """
    for middleware in server.middleware:
        if isinstance(middleware, LenientMiddleware):
            await middleware.check_statements(server)


def standing_before(server: FastMCP, target: Target) -> Iterator[tuple[LenientMiddleware, FastMCP, str]]:
    """Yield each middleware of this package before a tool, outermost first, with its server and its name for the tool."""
    for below, name in ((server, target.tool.name), *target.route):
        for middleware in below.middleware:
            if isinstance(middleware, LenientMiddleware):
                yield middleware, below, name


async def judged_by(server: FastMCP, target: Target) -> list[CachedTool]:
    """Return a tool as each middleware of this package before it validates it, outermost first.

    Must run where the tool was looked up, as :func:`mcp_lenient.adapters.fastmcp.tools.find_target`.
    """
    found = [
        await middleware.known(below, name) for middleware, below, name in standing_before(server, target)
    ]
    return [cached for cached in found if cached is not None]
