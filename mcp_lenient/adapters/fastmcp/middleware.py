"""LenientMiddleware: one call, from the arguments as sent to the tool, or to an envelope."""

from __future__ import annotations

from collections.abc import Collection, Coroutine, Iterator, Mapping
from functools import partial
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final

from fastmcp import FastMCP
from fastmcp.exceptions import DisabledError, NotFoundError, ValidationError
from fastmcp.server.middleware import Middleware
from mcp_types import CallToolRequestParams

from mcp_lenient.adapters.fastmcp import compat
from mcp_lenient.adapters.fastmcp.raw_requests import AS_SENT, RawArguments, WholeArguments
from mcp_lenient.adapters.fastmcp.results import as_result, repaired_result
from mcp_lenient.adapters.fastmcp.telemetry import CallInfo, Telemetry
from mcp_lenient.adapters.fastmcp.tools import CachedTool, Call, Target, ToolCache, current, run, run_raising
from mcp_lenient.declare.policies import Policies
from mcp_lenient.engine.raw_arguments import not_an_object
from mcp_lenient.refusal.envelope import unknown_tool
from mcp_lenient.telemetry import spans
from mcp_lenient.values.display import shown_name
from mcp_lenient.values.similarity import near

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fastmcp.server.middleware import CallNext, MiddlewareContext
    from fastmcp.tools import Tool, ToolResult
    from mcp_types import ListToolsRequest

    from mcp_lenient.adapters.fastmcp.tools import CallContext, Next
    from mcp_lenient.declare.definitions import Definitions
    from mcp_lenient.engine.contract import Decision
    from mcp_lenient.rules.policy import Policy
    from mcp_lenient.telemetry.events import EventName
    from mcp_lenient.types import Repair


_NOT_RUN: Final = (ValidationError, NotFoundError, DisabledError)
"""What FastMCP raises of a call that the judge accepted where the tool was replaced or taken away meanwhile."""


class LenientMiddleware(Middleware):
    """Makes every tool of a server lenient: ``mcp.add_middleware(LenientMiddleware())``.

    Arguments that the tool accepts go on untouched. Where it does not, they are repaired if there is
    exactly one reading that it accepts; otherwise the caller gets an envelope that says what is wrong and
    how to write it right, and the tool is not run. Both are logged, without values.

    >>> from fastmcp import FastMCP
    >>> from mcp_lenient import LenientMiddleware, Policy
    >>> mcp = FastMCP("notes")
    >>> mcp.add_middleware(LenientMiddleware(tools={"delete_*": Policy.strict()}))

    Args:
        policy: What may be repaired; the defaults of :class:`Policy` when left out.
        tools: Policies for tool names that match a pattern (``*``, ``?``, ``[..]``; the first match wins).
            In a server with mounted ones the name is the one that this server publishes. They come before
            a policy that ``@lenient`` gives a tool, and that comes before ``policy``.
        definitions: What a file declares of tools, see :meth:`from_file`.
        clients: Names of clients that metrics tell apart, besides the well-known ones.

    Raises:
        PolicyError: Where a policy is built that names what does not exist.
    """

    def __init__(
        self,
        policy: Policy | None = None,
        *,
        tools: Mapping[str, Policy] | None = None,
        definitions: Definitions | None = None,
        clients: Collection[str] = (),
    ) -> None:
        self._definitions = definitions
        self._policies = Policies(policy, tools or {}, definitions)
        self._telemetry = Telemetry(clients)
        self._tools = ToolCache(self._policies, partial(self._telemetry.log.warn_once, "tool_not_compiled"))
        self._whole = WholeArguments(self.policy_for, self._telemetry)
        own = (type(self).on_message, type(self).on_request)
        self._goes_straight = own == (LenientMiddleware.on_message, Middleware.on_request)

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        *,
        policy: Policy | None = None,
        tools: Mapping[str, Policy] | None = None,
        clients: Collection[str] = (),
    ) -> LenientMiddleware:
        """A middleware with definitions from a YAML or TOML file: aliases, normalizers and policies by tool.

        Args:
            path: The file; its suffix tells the format.
            policy: As for :class:`LenientMiddleware`; the file's own policy is laid over it.
            tools: As for :class:`LenientMiddleware`.
            clients: As for :class:`LenientMiddleware`.

        Raises:
            DefinitionError: When the file is wrong; names file, line or path, and field.
        """
        # A server without such a file does not pay for a YAML parser.
        from mcp_lenient.declare.definitions import load_definitions

        return cls(policy, tools=tools, definitions=load_definitions(path), clients=clients)

    def policy_for(self, tool: str) -> Policy:
        """The operator's policy for a tool name, apart from what the tool's author says of it."""
        return self._policies.named(tool)

    def __call__(
        self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]
    ) -> Coroutine[Any, Any, Any]:
        """FastMCP's dispatch; a tool's call goes straight to ``on_call_tool``, past hooks that only call on."""
        is_call = type(context.message) is CallToolRequestParams and context.method == "tools/call"
        if is_call and self._goes_straight and not self._whole.concerns(context):
            return self.on_call_tool(context, call_next)
        return super().__call__(context, call_next)

    async def known(self, server: FastMCP, tool: str) -> CachedTool | None:
        """A tool as this middleware judges it on a server; None where there is no such tool."""
        return await self._tools.look_up(server, CallToolRequestParams(name=tool))

    async def on_message(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """Sees to it that whole arguments which came as text are read; everything else goes on."""
        if self._whole.concerns(context):
            answer = await self._whole.on_message(context)
            if answer is not None:
                return answer
        return await call_next(context)

    async def on_list_tools(
        self,
        context: MiddlewareContext[ListToolsRequest],
        call_next: CallNext[ListToolsRequest, Sequence[Tool]],
    ) -> Sequence[Tool]:
        """Passes the tools on as they are; says once which names in a definitions file none of them has."""
        tools = await call_next(context)
        if self._definitions is not None and tools:
            from mcp_lenient.declare.definitions import unknown_names

            published = {tool.name: tool.parameters.get("properties", {}) for tool in tools}
            for sentence in unknown_names(self._definitions, published):
                self._telemetry.log.warn_once("definition_unused", sentence, sentence)
        return tools

    async def on_call_tool(self, context: CallContext, call_next: Next) -> ToolResult:
        """One call: judged, repaired or refused, logged."""
        started = perf_counter_ns()
        message, own = context.message, context.fastmcp_context
        passes_by, within = self._met(context)
        if own is None or passes_by:
            return await call_next(context)
        server = own.fastmcp
        whole = self._whole.claim()
        call = Call(context, call_next, own.request_context, within, started, whole.repairs, whole.arguments)
        if whole is not AS_SENT and (whole.fault is not None or whole.left_out):
            answer = await self._no_object(call, server, whole)
            if answer is not None:
                return answer
        known = self._tools.get(server, message)
        if known is None or known.normalizers:
            # What another tool's author declared must not run on this one's arguments.
            known = await self._tools.look_up(server, message)
        if known is None:
            return await self._not_found(call, server)
        if known.mode == "off":
            return await run(call, known, context)
        arguments = message.arguments or {}
        if not (await known.accepts(arguments) if known.in_thread else known.judge.accepts(arguments)):
            return await self._not_accepted(call, server, known, arguments)
        if known.normalizers or call.sent_as_text:
            return await self._accepted(call, server, known, arguments)
        self._telemetry.accepted(call, known, arguments)
        # As in `run`, without another coroutine: here goes every call that was right.
        try:
            token = call.enters(known)
            try:
                return await call_next(context)
            finally:
                current.reset(token)
        except _NOT_RUN as error:
            return await self._not_run(error, call, server, known, arguments)

    def _met(self, context: CallContext) -> tuple[bool, Call | None]:
        """Whether the call was met before and is seen to; and where another call's body makes it, that call."""
        running, own = current.get(), context.fastmcp_context
        if running is None or own is None or running.request is not own.request_context:
            return False, None
        name = context.message.name
        if not running.is_here(context, own.fastmcp, name):
            return False, running
        return running.is_seen_to(self.policy_for(name).mode), None

    async def _no_object(self, call: Call, server: FastMCP, whole: RawArguments) -> ToolResult | None:
        """Refuse whole arguments that are no object, or a text for none at all in a destructive tool."""
        known = await self._tools.look_up(server, call.context.message)
        if known is None:
            return await self._unknown(call, server)
        fault = whole.fault or (not_an_object("") if known.plan.destructive else None)
        if fault is None:
            return None
        self._tell("call_rejected", call, known, found=(fault,))
        return known.refusal(call.name, (fault,))

    async def _not_accepted(
        self, call: Call, server: FastMCP, judged: CachedTool, arguments: Mapping[str, Any]
    ) -> ToolResult:
        # Nothing is changed or refused by what a tool of this name once accepted.
        known = await self._tools.look_up(server, call.context.message)
        if known is None:
            return await self._not_found(call, server)
        if known is not judged and await known.accepts(arguments):
            return await self._accepted(call, server, known, arguments)
        return await self._rejected(call, server, known, arguments)

    async def _accepted(
        self,
        call: Call,
        server: FastMCP,
        known: CachedTool,
        arguments: Mapping[str, Any],
        decision: Decision | None = None,
    ) -> ToolResult:
        """Run the tool with what it accepts: the arguments, or what a repair made of them."""
        taken, repairs = (arguments, ()) if decision is None else (decision.arguments, decision.repairs)
        try:
            return await self._go_on(call, known, taken, repairs)
        except _NOT_RUN as error:
            return await self._not_run(error, call, server, known, arguments, taken)

    async def _not_run(
        self,
        error: Exception,
        call: Call,
        server: FastMCP,
        known: CachedTool,
        arguments: Mapping[str, Any],
        taken: Mapping[str, Any] | None = None,
    ) -> ToolResult:
        """Answer where another tool stands now, or none; what the tool's body raised is raised again."""
        if not compat.refused_before_running(error, call.name) or error is call.leaked:
            raise error
        if isinstance(error, ValidationError):
            given = arguments if taken is None else taken
            if not await self._tools.is_replaced(server, call.context.message, known, given):
                raise error
            return await self._not_accepted(call, server, known, arguments)
        gone = await self._tools.look_up(server, call.context.message) is None
        if not gone or not self._answers_unknown(call):
            raise error
        return await self._unknown(call, server)

    async def _rejected(
        self, call: Call, server: FastMCP, known: CachedTool, arguments: Mapping[str, Any]
    ) -> ToolResult:
        decision = await known.decide_rejected(call.parsed or arguments)
        if known.mode == "observe":
            return await self._observed(call, known, decision)
        if decision.status == "repaired":
            return await self._accepted(call, server, known, arguments, decision)
        if not known.certain and known.policy.unrepairable == "forward":
            return await self._forwarded(call, known, decision)
        return await self._refused(call, known, decision)

    async def _go_on(
        self, call: Call, known: CachedTool, arguments: Mapping[str, Any], repairs: tuple[Repair, ...]
    ) -> ToolResult:
        """Run the tool with arguments that it accepts, after the normalizers that its author declared."""
        context = call.context
        if known.normalizers:
            final = known.settled(arguments)
            arguments, repairs = final.arguments, (*repairs, *final.repairs)
        if repairs and known.mode == "observe":
            self._tell("call_observed", call, known, repairs=repairs)
            return await run(call, known, context)
        if repairs:
            context = context.copy(message=context.message.model_copy(update={"arguments": dict(arguments)}))
        repairs = (*call.sent_as_text, *repairs)
        if repairs:
            self._tell("call_repaired", call, known, repairs=repairs, kept_in=(known.plan.root, arguments))
            return repaired_result(await run(call, known, context), repairs)
        self._telemetry.accepted(call, known, arguments)
        return await run(call, known, context)

    async def _refused(self, call: Call, known: CachedTool, decision: Decision) -> ToolResult:
        found = decision.violations
        repairs = (*call.sent_as_text, *decision.repairs)
        self._tell("call_rejected", call, known, repairs=repairs, found=found)
        if call.within is not None:
            # To a tool's body an envelope would look like success: it gets what FastMCP raises.
            return await run_raising(call, known, call.within)
        return known.refusal(call.name, found, repairs)

    async def _forwarded(self, call: Call, known: CachedTool, decision: Decision) -> ToolResult:
        found = decision.violations
        self._tell("call_forwarded", call, known, found=found)
        try:
            return await run(call, known, call.context)
        except ValidationError as error:
            if call.nested or error is call.leaked:
                raise
            return known.refusal(call.name, found)

    async def _observed(self, call: Call, known: CachedTool, decision: Decision) -> ToolResult:
        self._tell("call_observed", call, known, repairs=decision.repairs, found=decision.violations)
        return await run(call, known, call.context)

    async def _not_found(self, call: Call, server: FastMCP) -> ToolResult:
        if shown_name(call.name) != call.name and self._answers_unknown(call):
            # FastMCP would write the name, which may hold values, into an exception on its span.
            return await self._unknown(call, server)
        try:
            return await call.call_next(call.context)
        except (NotFoundError, DisabledError):
            if not self._answers_unknown(call):
                raise
            return await self._unknown(call, server)

    def _answers_unknown(self, call: Call) -> bool:
        """Whether the caller of a tool that is not there gets an envelope; tells of it where that is observed."""
        mode = self.policy_for(call.name).mode
        if mode == "observe":
            self._tell("call_observed", call, None, code="UNKNOWN_TOOL")
        return mode == "repair" and not call.nested

    async def _unknown(self, call: Call, server: FastMCP) -> ToolResult:
        name = call.name
        with spans.aside():
            names = {tool.name for tool in await server.list_tools()}
        answer = unknown_tool(name, near(name, names - {name}), has_versions=name in names)
        self._tell("call_rejected", call, None, code=answer["error_code"])
        return as_result(answer, has_output_schema=False)

    def _tell(self, event: EventName, call: Call, known: CachedTool | None, **found: Any) -> None:
        """Tell the log, the span and the metrics what becomes of a call."""
        mounted = known.target.mounted if known is not None else None
        context, name = call.context.fastmcp_context, call.name
        secret = known.policy.secret if known is not None else frozenset[str]()
        told = CallInfo(context, name, call.started, known is not None, mounted, secret)
        self._telemetry.tell(event, told, **found)


def standing_before(server: FastMCP, target: Target) -> Iterator[tuple[LenientMiddleware, FastMCP, str]]:
    """Each middleware of this package before a tool, the outermost first, with its server and its name for the tool."""
    for below, name in ((server, target.tool.name), *target.route):
        for middleware in below.middleware:
            if isinstance(middleware, LenientMiddleware):
                yield middleware, below, name


async def judged_by(server: FastMCP, target: Target) -> list[CachedTool]:
    """A tool as each middleware of this package judges it that stands before it, the outermost first.

    Must run where the tool was looked up, as :func:`mcp_lenient.adapters.fastmcp.tools.find_target`.
    """
    found = [
        await middleware.known(below, name) for middleware, below, name in standing_before(server, target)
    ]
    return [known for known in found if known is not None]
