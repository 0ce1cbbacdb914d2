"""LenientMiddleware: one call, from the raw request to the tool or the envelope."""

from __future__ import annotations

import weakref
from collections.abc import Awaitable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, ClassVar, cast

import anyio.to_thread
from fastmcp import FastMCP
from fastmcp.server.middleware import Middleware
from fastmcp.tools import ToolResult
from mcp.types import CallToolRequestParams, RequestParams

from mcp_lenient.adapters.allowance import Allowance
from mcp_lenient.adapters.aside import rehearse
from mcp_lenient.adapters.dispatchers import DispatcherDecision
from mcp_lenient.adapters.fastmcp import compat
from mcp_lenient.adapters.fastmcp.caller import caller_fields, identity
from mcp_lenient.adapters.fastmcp.compat import host
from mcp_lenient.adapters.fastmcp.compat.running import origin
from mcp_lenient.adapters.fastmcp.failures import (
    FAILURES,
    Failures,
    log_as_fastmcp,
    refuses_itself,
)
from mcp_lenient.adapters.fastmcp.listing import as_stated, in_form, may_publish
from mcp_lenient.adapters.fastmcp.order import (
    LastPlace,
    Rewriter,
    answer_last,
    answered_at,
    first_judge,
    is_rewritten_above,
    last_judged,
    not_first,
    put_in_order,
    run_in_order,
)
from mcp_lenient.adapters.fastmcp.raw_requests import NOT_RAW, RawCall, RawRequests, claim
from mcp_lenient.adapters.fastmcp.reentry import Call, Pending, current, entered, pass_on
from mcp_lenient.adapters.fastmcp.results import refused, repaired_result
from mcp_lenient.adapters.fastmcp.tools import Contracts, ServerSource, cached_contract
from mcp_lenient.adapters.gate import RENAMED_TOOL, Gate, HostCall, as_run, renamed
from mcp_lenient.adapters.settings import takes_settings
from mcp_lenient.adapters.snapshot import Snapshot
from mcp_lenient.engine.contract import Contract, Decision
from mcp_lenient.errors import DefinitionError
from mcp_lenient.rules.dispatchers import Via
from mcp_lenient.rules.policy import Face, Policy
from mcp_lenient.telemetry import otel as spans
from mcp_lenient.values.display import shown_name
from mcp_lenient.values.json_values import unshared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastmcp import Context
    from fastmcp.prompts import PromptResult
    from fastmcp.server.middleware import CallNext, MiddlewareContext
    from fastmcp.tools import Tool
    from mcp.types import GetPromptRequestParams, ListToolsRequest
    from typing_extensions import Unpack

    from mcp_lenient.adapters.fastmcp.reentry import CallContext, Next
    from mcp_lenient.adapters.settings import HostSettings
    from mcp_lenient.rules.policy import Unrepairable


class LenientMiddleware(Rewriter):
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
        trust_outer: Whether the middleware stays where it is added, since all that stands before it may see a call as it
            was sent; for a server whose own middleware fills in arguments. Otherwise it rewrites calls first of all.

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
        publish: Face | str | None = None,
        publish_by_query: bool = False,
        trust_outer: bool = False,
        **settings: Unpack[HostSettings],
    ) -> None:
        if publish is not None:
            policy = (policy or Policy()).changed(publish=publish)
        self._gate = Gate(
            policy,
            unrepairable=self.unrepairable,
            own_spans=host.SPAN_IS_INSIDE,
            publishes=True,
            **settings,
        )
        self._telemetry = self._gate.telemetry
        self._compiled: Contracts = weakref.WeakKeyDictionary()
        self._by_query = publish_by_query
        self.trusts_outer = trust_outer
        compat.wrap_dispatch(run_in_order, answer_last)
        self._raw_requests = RawRequests(self, self.policy_for, self._telemetry)
        self._failures = Failures(self._gate)
        # Those whose tools the definitions file does not contradict.
        self._started: weakref.WeakSet[FastMCP] = weakref.WeakSet()
        self._warm = warm
        hooks = (type(self).on_message, type(self).on_request)
        overrides_none = hooks == (LenientMiddleware.on_message, Middleware.on_request)
        # A file that may change is checked with every message.
        self._goes_straight = overrides_none and not self._gate.operator.reloads

    def __call__(
        self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]
    ) -> Coroutine[Any, Any, Any]:
        """Dispatch a message; a tool call goes straight to ``on_call_tool``, without the unused hooks."""
        fastmcp_context = context.fastmcp_context
        is_call = type(context.message) is CallToolRequestParams and context.method == "tools/call"
        server = None if fastmcp_context is None else fastmcp_context.fastmcp
        if is_call and self._goes_straight and server in self._started:
            return host.masked(self.on_call_tool(context, call_next))
        return host.masked(super().__call__(context, call_next))

    async def on_message(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """Reload a changed definitions file, and read arguments sent as one text; pass every message on."""
        fastmcp_context = context.fastmcp_context
        if fastmcp_context is None:
            return await call_next(context)
        if self._gate.operator.reloads:
            await self._reload(fastmcp_context.fastmcp)
        if fastmcp_context.fastmcp not in self._raw_requests.servers:
            self._raw_requests.install(fastmcp_context.fastmcp)
            if self._warm:
                await self._warm_up(fastmcp_context.fastmcp)
        if fastmcp_context.fastmcp not in self._started and context.method != "server/discover":
            with self._gate.operator.starting(host.internal_error):
                await self.check_statements(fastmcp_context.fastmcp)
            self._started.add(fastmcp_context.fastmcp)
        return await self._raw_requests.observe(context, call_next)

    async def _reload(self, server: FastMCP) -> None:
        """Load a changed file, if it is valid and does not contradict a tool of this server."""
        if await self._gate.reload(self._source(server, RequestParams())):
            self._compiled.clear()
            # What the file declares of no tool is logged when the tools are listed, and clients that know them do not
            # list them again. What others do to a list must not fail the call that came first after the change.
            with suppress(Exception), spans.aside():
                await server.list_tools()

    async def _warm_up(self, server: FastMCP) -> None:
        self._telemetry.log.warm()
        with spans.aside():
            # Another middleware may refuse a list, and must not refuse the client's first message.
            tools = await server.list_tools(run_middleware=False)
        for tool in tools:
            with suppress(DefinitionError):  # the first list of tools or call raises it
                contract = await self.contract_for(server, tool.name)
                if contract is not None and not (contract.tool.in_thread or contract.normalizers):
                    await anyio.to_thread.run_sync(rehearse, contract)

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
        return [await self._as_listed(tool, context.fastmcp_context) for tool in tools]

    async def _as_listed(self, tool: Tool, context: Context | None) -> Tool:
        """Return a tool as a definitions file states it, in the form of its policy or that the client asks for."""
        policies, form = self._gate.operator.policies, self._requested_form()
        tool = as_stated(tool, policies)
        if context is None or not (form is not None or may_publish(tool, policies.named(tool.name))):
            return tool
        # Its calls must be read back where they are decided, and before what may deny them sees them.
        is_unseen = self.trusts_outer or first_judge(context, tool.name) is None
        if is_rewritten_above(context) or not is_unseen:
            return tool
        return in_form(tool, await self.contract_for(context.fastmcp, tool.name))

    async def on_get_prompt(
        self,
        context: MiddlewareContext[GetPromptRequestParams],
        call_next: CallNext[GetPromptRequestParams, PromptResult],
    ) -> PromptResult:
        """Repair or refuse the arguments of a prompt, by its function or else by what its server lists."""
        from mcp_lenient.adapters.fastmcp.prompts import passed_on

        return await passed_on(context, call_next, self.policy_for, self._telemetry, trusts=self.trusts_outer)

    async def on_call_tool(self, context: CallContext, call_next: Next) -> ToolResult:
        """Decide about one call before other middleware sees it, and pass on what is to run."""
        started = perf_counter_ns()
        fastmcp_context, call = context.fastmcp_context, entered(context, call_next, self.policy_for)
        if fastmcp_context is None or call is None:
            return await call_next(context)
        call.owner, server, message = self, fastmcp_context.fastmcp, context.message
        arguments = message.arguments or {}
        raw = claim(arguments)
        contract = cached_contract(self._compiled, server, message, self._caller())
        is_straight = raw is NOT_RAW and not self._gate.operator.keeps_values and call.code is None
        accepts = contract.accepts_at_once if contract is not None and is_straight else None
        if contract is None or accepts is None or not accepts(arguments):
            rejected_by = None if accepts is None else contract
            return await self._decide_and_run(call, self._host_call(context, raw, started, call), rejected_by)
        # This is the path of every accepted call: no further coroutine, object or look-up.
        token, call.accepted = call.enter(contract), (started, decided := perf_counter_ns())
        others_see_calls = put_in_order(server).others_see_calls
        try:
            return await call_next(context)
        except FAILURES as error:
            if others_see_calls and not call.is_answered_as_unknown(error, message.name):
                raise  # it has seen this
            return _with_repairs(call, await self._accepted_failed(error, call, context, call_next))
        finally:
            current.reset(token)
            if call.pending is not None:
                await call.record(self._gate, call.pending)
            else:
                started += perf_counter_ns() - decided  # the tool's own time does not count
                if self._telemetry.count_accepted(message.name, started, arguments, contract.mode):
                    self._gate.write_accepted(self._host_call(context, NOT_RAW, started), contract)
                if self._gate.repeats.knows(message.name):
                    await self._gate.forget(message.name, partial(identity, fastmcp_context))

    async def _accepted_failed(
        self, error: Exception, call: Call, context: CallContext, call_next: Next
    ) -> ToolResult:
        """Answer what FastMCP raises of a call that has gone straight on."""
        message, (started, decided) = call.context.message, call.accepted
        host_call = self._host_call(call.context, NOT_RAW, started)
        source = self._source(cast("Context", context.fastmcp_context).fastmcp, message)
        decision = cast("Contract", call.contract).accepted(message.arguments or {})
        call.pending = Pending(message, host_call, source, decision, message.name, decided=decided)
        return await self._answer_failure(error, call, context, call_next)

    def _host_call(
        self, context: CallContext, raw: RawCall, started: int, call: Call | None = None
    ) -> HostCall:
        message, who = context.message, partial(caller_fields, context.fastmcp_context)
        if call is not None and call.inside is not None:
            return replace(call.inside, name=message.name, arguments=message.arguments or {}, who=who)
        arguments, repairs = raw.arguments_and_repairs(message.arguments)
        via = None if call is None or call.code is None else Via(call.code.tool)
        return HostCall(message.name, arguments, started, who, repairs, via)

    async def _decide_and_run(
        self, call: Call, host_call: HostCall, rejected_by: Contract | None
    ) -> ToolResult:
        """Decide about a call that the tool does not accept at once, apply a repair, run it, and answer it.

        Other middleware gets a repaired call as it is to run, and a refused one as it was sent; a refusal is answered behind it.
        """
        fastmcp_context, context = cast("Context", call.context.fastmcp_context), call.context
        source = self._source(fastmcp_context.fastmcp, context.message)
        allowance = self._allowance(call, context)
        source.may_rename = allowance.may_rename
        decision = await self._gate.decide_unrecorded(
            host_call, source, rejected_by=rejected_by, allowance=allowance
        )
        if decision.name is not None:
            # Every middleware is to see the tool's own name.
            context = context.copy(message=context.message.model_copy(update={"name": decision.name}))
            host_call = renamed(host_call, decision.name)
            decision = await self._gate.decide_unrecorded(host_call, source, allowance=allowance)
        call.context = context = self._keep_and_apply(call, context, host_call, source, decision, allowance)
        try:
            if not put_in_order(fastmcp_context.fastmcp).others_see_calls:
                result = await self._refuse_or_run(call, context, call.call_next)
            else:
                result = await pass_on(call, decision.contract, context, call.call_next)
        except FAILURES as error:
            if not call.is_answered_as_unknown(error, context.message.name):
                raise
            result = await self._answer_failure(error, call, context, call.call_next)
        finally:
            await call.record(self._gate, cast("Pending", call.pending))
        return _with_repairs(call, result)

    def _keep_and_apply(
        self,
        call: Call,
        context: CallContext,
        host_call: HostCall,
        source: ServerSource,
        decision: Decision,
        allowance: Allowance,
    ) -> CallContext:
        """Keep a decision for the place that answers, and return the call as it is to run."""
        decision = as_run(host_call, decision)
        changed = decision.changed()
        if changed:
            context = context.copy(message=context.message.model_copy(update=changed))
        sent = Snapshot(context.message.arguments) if decision.fate == "refused" else None
        message = context.message
        if self._gate.operator.keeps_values:  # a tool may change its arguments before they are recorded
            with suppress(RecursionError):
                host_call = replace(host_call, arguments=unshared(host_call.arguments))
                decision = replace(decision, arguments=unshared(decision.arguments))
        call.pending = Pending(message, host_call, source, decision, message.name, sent, allowance)
        return context

    def _allowance(self, call: Call, context: CallContext) -> Allowance:
        """Return how far a call may be changed here, by what has seen it and who asks."""
        message, fastmcp_context = context.message, cast("Context", context.fastmcp_context)
        judge = None if self.trusts_outer else first_judge(fastmcp_context, message.name)
        if judge is not None:
            self._telemetry.log.warn_once("not_first", fastmcp_context.fastmcp.name, not_first(judge))
        is_unseen = judge is None and not call.is_below and not call.is_by_code
        return Allowance(message.arguments or {}, is_unseen=is_unseen, header_name=compat.header_name())

    def answer(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Awaitable[Any]:
        """Answer a call or prompt that all other middleware of the server has let pass."""
        if context.method == "prompts/get":
            from mcp_lenient.adapters.fastmcp.prompts import refused_or_passed_on

            return refused_or_passed_on(context, call_next)
        call = current.get()
        is_same = call is not None and call.context.fastmcp_context is context.fastmcp_context
        if call is None or call.owner is not self or not is_same:
            return call_next(context)
        return self._answered_last(call, context, call_next)

    async def _answered_last(self, call: Call, context: CallContext, call_next: Next) -> ToolResult:
        if call.pending is None:
            try:
                return await call_next(context)
            except FAILURES as error:
                return await self._accepted_failed(error, call, context, call_next)
        if call.pending.decision.fate == "refused" and not call.pending.is_as_passed_on(context.message):
            # Another middleware has changed the call, and those before it have not seen a repair of that.
            context = await self._decided_as_seen(call, context, call.pending)
        return await self._refuse_or_run(call, context, call_next)

    async def _refuse_or_run(self, call: Call, context: CallContext, call_next: Next) -> ToolResult:
        """Answer a refused call; run any other, and answer what FastMCP raises of it."""
        pending = cast("Pending", call.pending)
        decision, host_call, source = pending.decision, pending.host_call, pending.source
        place: LastPlace | None = None
        has_plain_name = shown_name(host_call.name) == host_call.name
        if call.is_answered and decision.fate == "refused" and decision.contract is not None:
            if isinstance(host_call.arguments, Mapping):
                place = last_judged(source.server, context.message.name, decision.contract.tool.route)
            if place is None:
                return await self._refused(pending)
        elif call.is_answered and decision.if_unknown is not None and not has_plain_name:
            # FastMCP would write the name, which may contain values, into an exception on its span.
            refusal = decision.if_unknown()
            if refusal is not None:
                pending.is_refused = True
                return refused(refusal)
        call.dispatched = decision if isinstance(decision, DispatcherDecision) else None
        before = perf_counter_ns()
        try:
            with answered_at(place, partial(self._refused_at_last, call)):
                result = await pass_on(call, decision.contract, context, call_next)
        except FAILURES as error:
            return await self._answer_failure(error, call, context, call_next)
        await self._has_run(call, pending, result, perf_counter_ns() - before)
        return result

    async def _has_run(self, call: Call, pending: Pending, result: ToolResult, took: int) -> None:
        """Record the call inside a dispatcher's, and keep the decision about a refused call that another tool has taken."""
        decision = pending.decision
        if isinstance(decision, DispatcherDecision):
            if decision.is_recorded_below:
                await self._ran_inside(call, pending, decision, result, took)
        elif decision.fate == "refused" and not pending.is_refused:
            ran = await self._gate.decide_one(pending.host_call, pending.source, fresh=True)
            if ran.status == "accepted":
                pending.decision = ran

    async def _decided_as_seen(self, call: Call, context: CallContext, pending: Pending) -> CallContext:
        """Decide about a call as other middleware has seen it, and return it as it is to run."""
        host_call = self._host_call(context, NOT_RAW, pending.host_call.started, call)
        host_call = replace(host_call, repairs=(*host_call.repairs, *pending.decision.applied_repairs))
        allowance = Allowance(host_call.arguments, is_unseen=False, header_name=None)
        source = self._source(pending.source.server, context.message)
        source.may_rename = False  # other middleware has let another name pass
        decision = await self._gate.decide_unrecorded(host_call, source, allowance=allowance)
        return self._keep_and_apply(call, context, host_call, source, decision, allowance)

    async def _ran_inside(
        self, call: Call, pending: Pending, decision: DispatcherDecision, result: ToolResult, took: int
    ) -> None:
        """Record a call inside a dispatcher's call that has run, unless that was done where it was refused."""
        inner, is_error = decision.inner, isinstance(result, ToolResult) and result.is_error
        if decision.status == "refused":
            was_decided = call.dispatched is None
            pending.is_refused = was_decided and is_error
            if was_decided or is_error or inner.contract is None:
                return
            inner = replace(inner, certain=False, unrepairable="forward")
        started = decision.call.started + took  # the tool's own time does not count
        await self._gate.recorded(replace(decision.call, started=started), inner)

    async def _refused_at_last(self, call: Call, context: CallContext, call_next: Next) -> ToolResult:
        """Answer a refused call that no other middleware has changed."""
        pending = cast("Pending", call.pending)
        is_call = pending.has_arguments(context.message) and origin() == "client"
        return await (self._refused(pending) if is_call else call_next(context))

    async def _refused(self, pending: Pending) -> ToolResult:
        """Record the refusal of a call, and return its envelope."""
        if pending.is_refused:  # other middleware passes it on again
            return refused(pending.decision.refusal or {})
        contract, arguments = pending.decision.contract, pending.host_call.arguments
        if contract is not None and isinstance(arguments, Mapping) and refuses_itself(contract):
            if contract.tool.in_thread:
                await anyio.to_thread.run_sync(log_as_fastmcp, contract, arguments)
            else:
                log_as_fastmcp(contract, arguments)
        pending.decision = await self._gate.recorded(pending.host_call, pending.decision)
        pending.is_refused = True
        return refused(pending.decision.refusal or {})

    async def _answer_failure(
        self, error: Exception, call: Call, context: CallContext, call_next: Next
    ) -> ToolResult:
        """Answer a call that FastMCP did not answer; decide again if its tool was replaced."""
        pending = cast("Pending", call.pending)
        answer = await self._failures.answer(error, call, pending)
        if answer is not None:
            pending.is_refused = True
            return answer
        if call.is_decided_again:  # a provider may make another tool for each look
            raise error
        call.is_decided_again = True
        if put_in_order(pending.source.server).others_see_calls:
            context = await self._decided_as_seen(call, context, pending)
            return await self._refuse_or_run(call, context, call_next)
        host_call, source = pending.host_call, pending.source
        allowance = pending.allowance or self._allowance(call, context)
        decision = await self._gate.decide_unrecorded(host_call, source, allowance=allowance)
        message = context.message.model_copy(update={"arguments": host_call.sent})
        context = self._keep_and_apply(
            call, context.copy(message=message), host_call, source, decision, allowance
        )
        return await self._refuse_or_run(call, context, call_next)

    def rewrites(self, tool: str) -> bool:
        """Return whether calls of a tool are repaired here, by any rule."""
        policy = self.policy_for(tool)
        names = (RENAMED_TOOL.rule, *(rule.name for rule in policy.rules if rule.certain))
        return policy.mode == "repair" and any(map(policy.allows, names))

    def policy_for(self, tool: str) -> Policy:
        """Return the operator's policy for a tool name, without the author's."""
        return self._gate.policy_for(tool)

    async def contract_for(self, server: FastMCP, tool: str) -> Contract | None:
        """Return a tool as this middleware validates it on a server; None if the server does not have it."""
        source = self._source(server, RequestParams())
        host_tool = await source.tool(tool, fresh=True)
        return None if host_tool is None else self._gate.compiled(host_tool, source.compiled)

    async def similar_tool(self, server: FastMCP, tool: str) -> Contract | None:
        """Return the listed tool that a name in another spelling means, as far as its policy allows."""
        source = self._source(server, RequestParams())
        return await self._gate.similar_tool(tool, await source.names(), source)

    async def check_statements(self, server: FastMCP) -> None:
        """Compare the parameters in a definitions file with the tools of a server.

        Raises:
            DefinitionError: When it contradicts a function; names file and line.
        """
        await self._gate.check(self._source(server, RequestParams()))

    def _source(self, server: FastMCP, message: RequestParams) -> ServerSource:
        """Return the tools of a server, as the sender of a request sees them."""
        logged_as = self._telemetry.names.get(server.name)
        source = self._tools_of(self._compiled, server, message, self._caller(), logged_as)
        source.form = self._requested_form()
        return source

    def _caller(self) -> bytes:
        """Return what distinguishes callers for whom the same name may be another tool."""
        form = self._requested_form()
        return b"" if form is None else form.name.encode()

    def _requested_form(self) -> Face | None:
        """Return the form that the client of the current request asks for, if it may choose one."""
        if not self._by_query:
            return None
        from mcp_lenient.adapters.fastmcp.query import form_in_query

        return form_in_query()


def _with_repairs(call: Call, result: ToolResult) -> ToolResult:
    """Return the result of a call with the repairs that were made last; an envelope as it is, but for a model's code."""
    pending = cast("Pending", call.pending)
    if call.code is not None:
        name = pending.host_call.name
        return call.code.noted(name, pending.decision, result, is_refused=pending.is_refused)
    with_repairs = result if pending.is_refused else repaired_result(result, pending.decision)
    return with_repairs if call.runs is None else call.runs.with_repairs_of_calls(with_repairs)
