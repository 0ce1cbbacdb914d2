"""LenientMiddleware: one call, from the raw request to the tool or the envelope."""

from __future__ import annotations

import weakref
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from secrets import token_hex
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, ClassVar, Final

import anyio.to_thread
import pydantic
from fastmcp import FastMCP
from fastmcp.exceptions import DisabledError, NotFoundError, ToolError, ValidationError
from fastmcp.server.middleware import Middleware
from mcp.types import CallToolRequestParams, RequestParams

from mcp_lenient.adapters.fastmcp import compat
from mcp_lenient.adapters.fastmcp.caller import caller_fields
from mcp_lenient.adapters.fastmcp.compat import host
from mcp_lenient.adapters.fastmcp.tools import (
    Call,
    Contracts,
    EnvelopeError,
    ServerSource,
    ServerTool,
    as_result,
    current,
    kept_tool,
    may_publish,
    own_tool,
    refused,
    repaired_result,
    version_asked,
)
from mcp_lenient.adapters.gate import RENAMED_TOOL, CompiledTool, Gate, HostCall, Verdict
from mcp_lenient.adapters.settings import takes_settings
from mcp_lenient.engine.raw_arguments import arguments_in_text, not_an_object
from mcp_lenient.engine.schema_validator import PublishedSchemaValidator
from mcp_lenient.errors import DefinitionError
from mcp_lenient.portable.forms import Form
from mcp_lenient.refusal.envelope import about_tool
from mcp_lenient.rules.policy import Policy
from mcp_lenient.schema.compile import readable
from mcp_lenient.telemetry import otel as spans
from mcp_lenient.telemetry.log import CallTelemetry
from mcp_lenient.types import Repair
from mcp_lenient.values.display import shown_name
from mcp_lenient.values.json_values import plain

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from fastmcp.prompts import PromptResult
    from fastmcp.server.middleware import CallNext, MiddlewareContext
    from fastmcp.tools import Tool, ToolResult
    from mcp.server.context import ServerRequestContext
    from mcp.types import GetPromptRequestParams, ListToolsRequest
    from typing_extensions import Unpack

    from mcp_lenient.adapters.fastmcp.tools import CallContext, Next
    from mcp_lenient.adapters.settings import HostSettings
    from mcp_lenient.rules.policy import Unrepairable

    _NextHandler = Callable[[ServerRequestContext[Any, Any]], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class RawCall:
    """What a client sent, where a middleware sees something else.

    Attributes:
        sent: Arguments that are not an object. An object stands for them until the call is decided, so that no
            middleware mistakes this for a call without arguments.
        stand_in: That object.
        read: How their text was read.
        tool: The tool that the call starts again with; None for the call that the client made.
    """

    sent: Any = None
    stand_in: Mapping[str, Any] | None = None
    read: tuple[Repair, ...] = ()
    tool: str | None = None

    def asked(self, seen: Mapping[str, Any] | None) -> tuple[Any, tuple[Repair, ...]]:
        """Return the arguments to decide about, which another middleware may have changed, and repairs made before."""
        renamed = () if self.tool is None else (RENAMED_TOOL,)
        is_changed = self.stand_in is None or seen != self.stand_in
        return (seen, (*renamed, *self.read)) if is_changed else (self.sent, renamed)


AS_SENT = RawCall()
"""A call that is seen as it was sent."""
_raw: ContextVar[RawCall] = ContextVar("mcp_lenient_raw_call", default=AS_SENT)


class RawRequests:
    """Let arguments that are not an object reach ``on_call_tool``, read or with their violation.

    The hook rewrites a request and never answers one. It stands first in the list of the SDK's middleware, so that all
    other middleware sees the arguments that run; where other middleware stands before it, it changes nothing.

    Args:
        policy_for: Returns the policy for a tool name.
        telemetry: Where outcomes are recorded.

    Attributes:
        hooked: Each server that has sent a message on, and whether it has the hook.
    """

    def __init__(self, policy_for: Callable[[str], Policy], telemetry: CallTelemetry) -> None:
        self._policy_for = policy_for
        self._telemetry = telemetry
        self.hooked: weakref.WeakKeyDictionary[FastMCP, bool] = weakref.WeakKeyDictionary()

    def claim(self, tool: str) -> RawCall:
        """Return what this request was sent with, once: for the call that the client made."""
        raw = _raw.get()
        if raw is AS_SENT or raw.tool not in (None, tool):
            return AS_SENT  # also for a call made by another middleware
        _raw.set(AS_SENT)
        return raw

    def install(self, server: FastMCP) -> None:
        """Install the hook on a server that sends its first message on."""
        reason = host.install(server, RawArgumentsHook(server, self._policy_for))
        self.hooked[server] = reason is None
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
            name, sent = params.get("name"), params.get("arguments")
            if context.method == "tools/call" and isinstance(name, str) and _is_raw(sent):
                policy = self._policy_for(name)
                if policy.mode == "observe":
                    read = arguments_in_text(sent, policy)
                    repairs, violations = ((), (not_an_object(sent),)) if read is None else ((read[1],), ())
                    call = HostCall(name, sent, started, partial(caller_fields, context.fastmcp_context))
                    self._telemetry.record(
                        "call_observed", call, None, repairs=repairs, violations=violations
                    )
            raise


def _is_raw(arguments: Any) -> bool:
    """Return whether the arguments of a request are neither absent nor an object."""
    return arguments is not None and not isinstance(arguments, Mapping)


@dataclass(frozen=True, slots=True)
class RawArgumentsHook:
    """Middleware of the SDK's server that reads the arguments of a raw request before the SDK validates them.

    Attributes:
        server: The server whose requests it reads.
        policy_for: Returns the policy for a tool name.
    """

    server: FastMCP
    policy_for: Callable[[str], Policy]

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: _NextHandler) -> Any:
        """Pass a request on, with its arguments read if no other middleware has seen them yet."""
        params = ctx.params if ctx.method == "tools/call" and ctx.params else {}
        name, sent = params.get("name"), params.get("arguments")
        if not (_is_raw(sent) and isinstance(name, str) and host.is_first(self.server, self)):
            return await call_next(ctx)
        policy = self.policy_for(name)
        if policy.mode != "repair":
            return await call_next(ctx)
        read = arguments_in_text(sent, policy)
        arguments = {"arguments": sent} if read is None else plain(read[0])
        token = _raw.set(RawCall(sent, arguments, () if read is None else (read[1],)))
        try:
            return await call_next(replace(ctx, params={**params, "arguments": arguments}))
        finally:
            _raw.reset(token)


_FAILURES: Final = (ToolError, ValidationError, NotFoundError, DisabledError)
"""What FastMCP raises of a call: the first for its tool's body, the others where its tool was replaced or removed."""


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
        publish: The form in which the tools' schemas are published, such as ``"portable"``; as written if left out.
        publish_by_query: Whether an HTTP client may choose the form by the server's URL: ``/mcp?publish=gemini``. A policy
            with ``publish="unchanged"`` keeps its tools as they are written.

    Attributes:
        unrepairable: What happens to a call that cannot be repaired if no policy decides it.

    Raises:
        PolicyError: Where ``MCP_LENIENT_MODE`` is not a mode.
        TypeError: Where ``on_decision`` is not a function, or a coroutine or generator function.
    """

    unrepairable: ClassVar[Unrepairable] = "forward"
    _tools_of: ClassVar[type[ServerSource]] = ServerSource

    @takes_settings
    def __init__(
        self,
        policy: Policy | None = None,
        *,
        warm: bool = False,
        publish: Form | str | None = None,
        publish_by_query: bool = False,
        **settings: Unpack[HostSettings],
    ) -> None:
        if publish is not None:
            policy = (policy or Policy()).changed(publish=publish)
        own_spans = host.SPAN_IS_INSIDE
        self._gate = Gate(
            policy, unrepairable=self.unrepairable, own_spans=own_spans, publishes=True, **settings
        )
        self._telemetry = self._gate.telemetry
        self._compiled: Contracts = weakref.WeakKeyDictionary()
        self._by_query = publish_by_query
        self._raw_requests = RawRequests(self.policy_for, self._telemetry)
        self._warm = warm
        hooks = (type(self).on_message, type(self).on_request)
        overrides_none = hooks == (LenientMiddleware.on_message, Middleware.on_request)
        # A file that may change is checked with every message.
        self._goes_straight = overrides_none and not self._gate.operator.reloads

    def _caller(self) -> bytes:
        """Return what distinguishes callers for whom the same name may be another tool."""
        form = self._asked_form()
        return b"" if form is None else form.name.encode()

    def _asked_form(self) -> Form | None:
        """Return the form that the client of the current request asks for, if it may choose one."""
        if not self._by_query:
            return None
        from mcp_lenient.adapters.fastmcp.query import form_in_query

        return form_in_query()

    def _source(self, server: FastMCP, message: RequestParams) -> ServerSource:
        """Return the tools of a server, as the sender of a request sees them."""
        logged_as = self._telemetry.names.get(server.name)
        source = self._tools_of(self._compiled, server, message, self._caller(), logged_as)
        source.form = self._asked_form()
        return source

    async def _reload(self, server: FastMCP) -> None:
        """Load a changed file, if it is valid and does not contradict a tool of this server."""
        if await self._gate.reload(self._source(server, RequestParams())):
            self._compiled.clear()
            # What the file declares of no tool is logged when the tools are listed, and clients that know them do not
            # list them again. What others do to a list must not fail the call that came first after the change.
            with suppress(Exception), spans.aside():
                await server.list_tools()

    def policy_for(self, tool: str) -> Policy:
        """Return the operator's policy for a tool name, without the author's."""
        return self._gate.policy_for(tool)

    def __call__(
        self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]
    ) -> Coroutine[Any, Any, Any]:
        """Dispatch a message; a tool call goes straight to ``on_call_tool``, without the unused hooks."""
        own = context.fastmcp_context
        is_call = type(context.message) is CallToolRequestParams and context.method == "tools/call"
        if is_call and self._goes_straight and own is not None and own.fastmcp in self._raw_requests.hooked:
            return host.masked(self.on_call_tool(context, call_next))
        return host.masked(super().__call__(context, call_next))

    async def known(self, server: FastMCP, tool: str) -> CompiledTool | None:
        """Return a tool as this middleware validates it on a server; None if the server does not have it."""
        source = self._source(server, RequestParams())
        found = await source.tool(tool, fresh=True)
        return None if found is None else self._gate.compiled(found, source.compiled)

    async def meant(self, server: FastMCP, tool: str) -> CompiledTool | None:
        """Return the listed tool that a name in another spelling means, as far as its policy allows."""
        source = self._source(server, RequestParams())
        return await self._gate.meant(tool, await source.names(), source)

    async def on_message(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """Reload a changed definitions file, and read arguments sent as one text; pass every message on."""
        own = context.fastmcp_context
        if own is None:
            return await call_next(context)
        if self._gate.operator.reloads:
            await self._reload(own.fastmcp)
        if own.fastmcp not in self._raw_requests.hooked:
            self._raw_requests.install(own.fastmcp)
            if self._warm:
                await self._warm_up(own.fastmcp)
        return await self._raw_requests.observe(context, call_next)

    async def _warm_up(self, server: FastMCP) -> None:
        self._telemetry.log.warm()
        with spans.aside():
            # Another middleware may refuse a list, and must not refuse the client's first message.
            tools = await server.list_tools(run_middleware=False)
        for tool in tools:
            with suppress(DefinitionError):  # the first list of tools or call raises it
                compiled = await self.known(server, tool.name)
                if compiled is not None and not (compiled.tool.in_thread or compiled.normalizers):
                    await anyio.to_thread.run_sync(compiled.rehearse)

    async def on_list_tools(
        self,
        context: MiddlewareContext[ListToolsRequest],
        call_next: CallNext[ListToolsRequest, Sequence[Tool]],
    ) -> Sequence[Tool]:
        """Pass the tools on, by the policy with what a definitions file says of them; log its unused names once.

        Raises:
            DefinitionError: When the file contradicts a function, with the line.
        """
        tools = await call_next(context)
        if tools:
            self._gate.operator.warn_of_unused({tool.name: tool.parameters for tool in tools})
            if context.fastmcp_context is not None:
                await self.check_statements(context.fastmcp_context.fastmcp)
        return [await self._in_form(self._as_stated(tool), context) for tool in tools]

    async def _in_form(self, tool: Tool, context: MiddlewareContext[ListToolsRequest]) -> Tool:
        """Return a tool with its schema in the form of its policy."""
        asked = self._asked_form()
        may_differ = asked is not None or may_publish(tool, self.policy_for(tool.name))
        if not may_differ or context.fastmcp_context is None:
            return tool
        known = await self.known(context.fastmcp_context.fastmcp, tool.name)
        published = None if known is None else known.published
        return tool if published is None else tool.model_copy(update={"parameters": dict(published.schema)})

    def _as_stated(self, tool: Tool) -> Tool:
        declared = self._gate.operator.policies.declared(tool.name)
        if not (declared.stated or declared.description) or not self.policy_for(tool.name).publish_statements:
            return tool
        from mcp_lenient.declare.definitions.statements import published

        validator = PublishedSchemaValidator(readable(tool.parameters))
        parameters = dict(published(tool.name, tool.parameters, declared, validator))
        description = declared.description or tool.description
        return tool.model_copy(update={"parameters": parameters, "description": description})

    async def check_statements(self, server: FastMCP) -> None:
        """Compare the parameters in a definitions file with the tools of a server.

        Raises:
            DefinitionError: When it contradicts a function; names file and line.
        """
        await self._gate.check(self._source(server, RequestParams()))

    async def on_get_prompt(
        self,
        context: MiddlewareContext[GetPromptRequestParams],
        call_next: CallNext[GetPromptRequestParams, PromptResult],
    ) -> PromptResult:
        """Repair or refuse the arguments of a prompt, by its function or else by what its server lists."""
        from mcp_lenient.adapters.fastmcp.prompts import repaired_prompt

        return await call_next(await repaired_prompt(context, self.policy_for, self._telemetry))

    async def on_call_tool(self, context: CallContext, call_next: Next) -> ToolResult:
        """Validate one call, repair or refuse it, and log it."""
        started = perf_counter_ns()
        message, own = context.message, context.fastmcp_context
        running = current.get()
        handled, parent = (False, None) if running is None else self._reentry(context, running)
        if own is None or handled:
            return await call_next(context)
        server, arguments = own.fastmcp, message.arguments or {}
        raw = self._raw_requests.claim(message.name)
        call = Call(context, call_next, own.request_context, parent)
        kept = kept_tool(self._compiled, server, message, self._caller())
        is_straight = raw is AS_SENT and self._gate.operator.recording is None
        accepts = kept.accepts_at_once if kept is not None and is_straight else None
        rejected_by = None if accepts is None else kept
        if kept is None or accepts is None or not accepts(arguments):
            asked = self._asked(context, raw, started)
            return await self._decided(call, asked, self._source(server, message), rejected_by)
        if self._telemetry.count_accepted(message.name, started, arguments, kept.mode):
            self._gate.write_accepted(self._asked(context, raw, started), kept)
        if self._gate.repeats.knows(message.name):
            await self._gate.ran(self._asked(context, raw, started))
        # This is the path of every accepted call: no further coroutine, object or look-up.
        try:
            token = call.enter(kept)
            try:
                return await call_next(context)
            finally:
                current.reset(token)
        except _FAILURES as error:
            asked = self._asked(context, raw, started)
            return await self._not_answered(error, call, asked, self._source(server, message), Verdict(kept))

    def _asked(self, context: CallContext, raw: RawCall, started: int) -> HostCall:
        message, who = context.message, partial(caller_fields, context.fastmcp_context)
        arguments, repairs = raw.asked(message.arguments)
        return HostCall(message.name, arguments, started, who, repairs)

    def _reentry(self, context: CallContext, running: Call) -> tuple[bool, Call | None]:
        """Detect re-entry; return (already_handled, parent call)."""
        own = context.fastmcp_context
        if own is None or running.request is not own.request_context:
            return False, None
        name = context.message.name
        if own is not running.context.fastmcp_context and not running.consume_hop(own.fastmcp, name):
            return False, None if running.passes_on() else running
        # A mounted server's own middleware of the same mode has nothing left to do.
        return running.mode in ("repair", self.policy_for(name).mode), None

    async def _decided(
        self, call: Call, asked: HostCall, source: ServerSource, rejected_by: CompiledTool | None = None
    ) -> ToolResult:
        """Act on the verdict about a call that does not go straight."""
        verdict = await self._gate.decide(asked, source, rejected_by=rejected_by)
        if verdict.name is not None:
            return await self._restarted(call, asked, source, verdict.name)
        if verdict.refusal is not None and (verdict.tool is None or call.parent is None):
            return refused(verdict.refusal)
        if verdict.if_unknown is not None and shown_name(asked.name) != asked.name and call.parent is None:
            # FastMCP would write the name, which may contain values, into an exception on its span.
            refusal = verdict.if_unknown()
            if refusal is not None:
                return refused(refusal)
            return await call.call_next(call.context)
        context = call.context
        if verdict.arguments is not None:
            context = context.copy(
                message=context.message.model_copy(update={"arguments": verdict.arguments})
            )
        try:
            result = await _run(call, verdict, context)
        except _FAILURES as error:
            return await self._not_answered(error, call, asked, source, verdict)
        return repaired_result(result, verdict)

    async def _restarted(self, call: Call, asked: HostCall, source: ServerSource, name: str) -> ToolResult:
        """Start a call again under the tool's own name, so that every middleware sees that name."""
        message = call.context.message
        token = _raw.set(RawCall(asked.arguments, message.arguments, tool=name))
        try:
            return await source.server.call_tool(
                name, message.arguments or {}, version=version_asked(message)
            )
        finally:
            _raw.reset(token)

    async def _not_answered(
        self, error: Exception, call: Call, asked: HostCall, source: ServerSource, verdict: Verdict
    ) -> ToolResult:
        """Answer a call that FastMCP refused; raise again what the tool's body raised, or what a nested call raises."""
        judged, parent, is_invalid = verdict.tool, call.parent, isinstance(error, ValidationError)
        if verdict.refusal is not None and parent is not None and is_invalid:
            parent.leaked = error
        if verdict.refusal is not None:
            raise error
        if error is call.leaked or isinstance(error, ToolError):
            return self._failed(error, call, judged, asked)
        if is_invalid and verdict.if_refused is not None and parent is None:
            return refused(verdict.if_refused())
        if judged is not None:
            if judged.mode == "off" or not compat.refused_before_running(error, asked.name):
                return self._failed(error, call, judged, asked)
            sent = call.context.message.arguments or {} if verdict.arguments is None else verdict.arguments
            if is_invalid and await self._is_replaced(source, asked.name, judged, sent):
                return await self._decided(call, asked, source)
            if is_invalid or await source.tool(asked.name, fresh=True) is not None:
                return self._failed(error, call, judged, asked)
            verdict = await self._gate.decide(asked, source)
        refusal = None if verdict.if_unknown is None or parent is not None else verdict.if_unknown()
        if refusal is None:
            raise error
        return refused(refusal)

    def _failed(
        self, error: Exception, call: Call, compiled: CompiledTool | None, asked: HostCall
    ) -> ToolResult:
        """Record what a function raised, and raise it again, or answer with an envelope if the policy says so."""
        is_own = compiled is not None and own_tool(compiled).function is not None
        if compiled is None or not is_own or compiled.mode == "off" or call.parent is not None:
            raise error
        if compiled.mode == "observe" and isinstance(error, ValidationError):
            raise error  # FastMCP refused what was only observed
        unexpected = compat.body_exception(error) if isinstance(error, ToolError) else error
        facts: dict[str, Any] = {"exception": type(unexpected or error).__name__}
        if isinstance(error, EnvelopeError):
            facts = {"code": error.code}
        answers = compiled.mode == "repair" and compiled.policy.body_errors == "envelope"
        if unexpected is None or isinstance(unexpected, host.MCPError) or not answers:
            self._gate.record("call_failed", asked, compiled, **facts)
            raise error
        error_id = token_hex(8)
        self._gate.record("call_failed", asked, compiled, code="TOOL_FAILED", error_id=error_id, **facts)
        told = about_tool("TOOL_FAILED", asked.name, language=compiled.policy.language, error_id=error_id)
        return as_result(told, has_output_schema=compiled.tool.has_output_schema)

    async def _is_replaced(
        self, source: ServerSource, name: str, judged: CompiledTool, arguments: Mapping[str, Any]
    ) -> bool:
        """Return whether the call was refused by another tool that has since taken the name, so that no body ran."""
        fresh = await source.tool(name, fresh=True)
        other = judged if fresh is None else self._gate.compiled(fresh, source.compiled)
        return other is not judged and (await other.decide_aside(arguments)).decision.status != "accepted"


async def _run(call: Call, verdict: Verdict, context: CallContext) -> ToolResult:
    """Run the tool with the arguments in the context."""
    if verdict.tool is None:
        return await call.call_next(context)
    token = call.enter(verdict.tool)
    try:
        return await call.call_next(context)
    finally:
        current.reset(token)


async def check_statements(server: FastMCP) -> None:
    """Compare the definitions files of a server's middleware with its tools.

    Raises:
        DefinitionError: When one contradicts a function; names file and line.
    """
    for middleware in server.middleware:
        if isinstance(middleware, LenientMiddleware):
            await middleware.check_statements(server)


def standing_before(server: FastMCP, target: ServerTool) -> Iterator[tuple[LenientMiddleware, FastMCP, str]]:
    """Yield each middleware of this package before a tool, outermost first, with its server and its name for the tool."""
    for below, name in ((server, target.name), *target.route):
        for middleware in below.middleware:
            if isinstance(middleware, LenientMiddleware):
                yield middleware, below, name


async def judged_by(server: FastMCP, target: ServerTool) -> list[CompiledTool]:
    """Return a tool as each middleware of this package before it validates it, outermost first.

    Must run where the tool was looked up, as :func:`mcp_lenient.adapters.fastmcp.tools.find_target`.
    """
    found = [
        await middleware.known(below, name) for middleware, below, name in standing_before(server, target)
    ]
    return [cached for cached in found if cached is not None]
