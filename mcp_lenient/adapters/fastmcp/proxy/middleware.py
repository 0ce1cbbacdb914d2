"""The proxy's middleware: refresh schemas, and turn upstream refusals into envelopes."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar, cast

import anyio
from fastmcp.exceptions import NotFoundError, ToolError
from fastmcp.tools import ToolResult
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    REQUEST_TIMEOUT,
    SERVER_INFO_META_KEY,
    CallToolRequestParams,
    DiscoverResult,
    TextContent,
)
from pydantic import ValidationError as PydanticError

from mcp_lenient.adapters.aside import decide_aside
from mcp_lenient.adapters.dispatchers import DispatcherDecision
from mcp_lenient.adapters.fastmcp import compat
from mcp_lenient.adapters.fastmcp.middleware import LenientMiddleware
from mcp_lenient.adapters.fastmcp.order import Outermost
from mcp_lenient.adapters.fastmcp.proxy.connection import NO_LIMITS, Times
from mcp_lenient.adapters.fastmcp.proxy.learnt import LearntSource, LearntTools
from mcp_lenient.adapters.fastmcp.proxy.sessions import (
    INVALID_ANSWER,
    MALFORMED,
    REFUSED_CREDENTIALS,
    TIMED_OUT,
    UNAVAILABLE,
    UpstreamError,
    credentials_refused,
)
from mcp_lenient.adapters.fastmcp.proxy.trouble import NO_LIST, NOT_SENT, Trouble, of_error
from mcp_lenient.adapters.fastmcp.proxy.upstream import Failures, is_noting, noting_failures
from mcp_lenient.adapters.fastmcp.raw_requests import NOT_RAW
from mcp_lenient.adapters.fastmcp.reentry import current
from mcp_lenient.adapters.fastmcp.results import as_result, refused
from mcp_lenient.adapters.fastmcp.tools import ServerSource, cached_contract
from mcp_lenient.declare.declarations import Declared
from mcp_lenient.refusal.envelope import META_KEY, about_tool, envelope, unavailable_tool
from mcp_lenient.refusal.upstream import refusal_in_text, says_unknown
from mcp_lenient.rules.dispatchers import Dispatcher, dispatcher
from mcp_lenient.types import Repair
from mcp_lenient.values.display import encodable, is_label
from mcp_lenient.values.language import ENGLISH, load_language, marked

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from fastmcp import FastMCP
    from fastmcp.server.middleware import CallNext, MiddlewareContext
    from mcp_types import RequestParams
    from typing_extensions import Unpack

    from mcp_lenient.adapters.fastmcp.proxy.upstream import Upstream
    from mcp_lenient.adapters.fastmcp.reentry import CallContext, Next
    from mcp_lenient.adapters.settings import HostSettings
    from mcp_lenient.adapters.source import ToolSource
    from mcp_lenient.engine.contract import Contract
    from mcp_lenient.engine.tool import HostTool
    from mcp_lenient.rules.policy import Policy, Unrepairable
    from mcp_lenient.telemetry.events import EventName


T = TypeVar("T")
REFUSED_UPSTREAM: Final = "REFUSED_UPSTREAM"
"""The envelope's code when the schema accepts the arguments and the server does not."""
_REFUSED_BECAUSE: Final = marked(
    "Invalid arguments for tool '{tool}': the server does not accept them: {reason} "
    "Correct the call and send it again."
)
_REFUSED: Final = marked(
    "Invalid arguments for tool '{tool}': the server does not accept them. Correct the call and send it again."
)
_LOOKED_AT: Final = 64 * 2**10


def refusal_in(result: object, tool: str) -> str | None:
    """Return :func:`refusal_in_text` of a call's result; None if the result is not an error."""
    if not isinstance(result, ToolResult) or not result.is_error:
        return None
    return refusal_in_text(_text_of(result), tool)


def _text_of(result: ToolResult) -> str:
    first = result.content[0] if result.content else None
    return first.text[:_LOOKED_AT] if isinstance(first, TextContent) else ""


def as_refused(error: BaseException | None) -> ToolResult | None:
    """Convert JSON-RPC error -32602 to the TypeScript SDK's result for it; return None for other errors."""
    if not isinstance(error, MCPError) or error.error.code != INVALID_PARAMS:
        return None
    text = f"MCP error {INVALID_PARAMS}: {error.error.message}"
    return ToolResult(content=[TextContent(type="text", text=text)], is_error=True)


def with_upstream_message(
    envelope: Mapping[str, Any], text: str, *, language: str = ENGLISH
) -> dict[str, Any]:
    """Return the envelope with the server's own text added.

    Args:
        envelope: The envelope of the call. If it has violations, its message is kept.
        text: The server's text; empty if it must not be repeated.
        language: The language of the message.
    """
    details = {**envelope["details"], "upstream_message": text}
    extended = {**envelope, "error_code": REFUSED_UPSTREAM, "details": details}
    if not details["violations"]:
        reason = text if text.endswith((".", "!", "?")) else f"{text}."
        sentence = _REFUSED_BECAUSE if text else _REFUSED
        extended["message"] = load_language(language)(sentence, tool=details["tool"], reason=reason)
    safe: dict[str, Any] = encodable(extended)
    return safe


_NEEDS_CREDENTIALS: Final = "The server behind this proxy answers with HTTP status 401 or 403: it needs credentials, which --header can give it."
_LOSSES: Final = {CONNECTION_CLOSED: "CONNECTION_LOST", REQUEST_TIMEOUT: TIMED_OUT}


class PlainErrors(Outermost):
    """Remove ``structuredContent`` from error results; their text and ``_meta`` stay."""

    async def on_call_tool(self, context: CallContext, call_next: Next) -> ToolResult:
        """Return every other result unchanged."""
        result = await call_next(context)
        if not isinstance(result, ToolResult) or not result.is_error or result.structured_content is None:
            return result
        return result.model_copy(update={"structured_content": None})


@dataclass(slots=True)
class _Exchange:
    """What an upstream server was sent in a call, its answer, and why there is none."""

    arguments: Mapping[str, Any] | None = None
    answer: ToolResult | None = None
    lost: str | None = None
    dispatched: DispatcherDecision | None = None


class UpstreamSource(ServerSource):
    """The tools of a proxy; before a call is changed or refused, its upstream server is asked for them once.

    Attributes:
        proxy: The proxy's middleware.
    """

    proxy: ProxyMiddleware
    _is_new = False

    async def tool(self, name: str, *, fresh: bool) -> HostTool | None:
        """Return a tool; with ``fresh``, from a new list."""
        if fresh and self.is_of_call and not self._is_new:
            self._is_new, contract = True, self.compiled_last(name)
            route = contract.tool.route if contract is not None else ()
            await self.proxy._list_anew(route[-1][0] if route else self.server)  # noqa: SLF001 - one module
        tool = await super().tool(name, fresh=fresh)
        if tool is None or compat.search_tool(tool.record) != "caller":
            return tool
        return replace(tool, declared=Declared(policy={"dispatches": dispatcher()}))

    def inside(self, outer: HostTool, form: Dispatcher) -> ToolSource | None:
        """Return the tools that a dispatcher of a server calls, as far as they are declared or learnt."""
        if form.tools is not None:
            return super().inside(outer, form)
        return LearntSource(self.proxy.learnt, self.proxy.place(outer), self.compiled)

    def unknown(self, name: str, names: Collection[str], language: str) -> dict[str, Any]:
        """Return the envelope for an unknown tool, which may be one of a server that lists none."""
        upstreams = self.proxy._upstream  # noqa: SLF001 - one module
        failures = {server.name: entry.failed for server, entry in upstreams.items() if entry.failed}
        if not failures:
            return super().unknown(name, names, language)
        self.proxy._log_failures(failures)  # noqa: SLF001
        trouble = next(iter(failures.values())).trouble if len(failures) == 1 else None
        return _not_called(name, trouble or NO_LIST, language)


class ProxyMiddleware(LenientMiddleware):
    """The middleware of a proxy for upstream servers.

    FastMCP's proxy caches the list of tools for minutes. The tool's schema is refreshed before a call is changed or
    refused; an accepted call costs no extra request.

    Args:
        policy: As for :class:`mcp_lenient.LenientMiddleware`.
        upstream: The upstream of each server that is a proxy.
        times: The timeouts of a server.
        is_nameless: Whether the server is to be logged under the name that it reports.
        publish_by_query: As for :class:`mcp_lenient.LenientMiddleware`.
        **settings: See :class:`mcp_lenient.HostSettings`.
    """

    unrepairable: ClassVar[Unrepairable] = "refuse"
    _tools_of: ClassVar[type[ServerSource]] = UpstreamSource

    def __init__(
        self,
        policy: Policy | None = None,
        *,
        upstream: Mapping[FastMCP, Upstream],
        times: Times = NO_LIMITS,
        is_nameless: bool = False,
        publish_by_query: bool = False,
        **settings: Unpack[HostSettings],
    ) -> None:
        super().__init__(policy, publish_by_query=publish_by_query, **settings)
        self._upstream = upstream
        self._times = times
        self._is_nameless = is_nameless
        self.learnt = LearntTools()

    def place(self, tool: HostTool) -> tuple[bytes, str]:
        """Return the caller and the server of a tool, for what is learnt of other tools there."""
        return self._caller(), tool.route[-1][0].name if tool.route else ""

    def _source(self, server: FastMCP, message: RequestParams) -> UpstreamSource:
        source = cast("UpstreamSource", super()._source(server, message))
        source.proxy = self
        return source

    def _caller(self) -> bytes:
        return b"".join((super()._caller(), *(upstream.caller() for upstream in self._upstream.values())))

    def _rename(self, context: MiddlewareContext[Any], name: object) -> None:
        """Log a server under the first well-formed name that it reports."""
        server_context = context.fastmcp_context
        if self._is_nameless and server_context is not None and isinstance(name, str) and is_label(name):
            self._telemetry.names.setdefault(server_context.fastmcp.name, name)

    def schema_of(self, server: FastMCP, tool: str) -> Mapping[str, Any] | None:
        """Return the schema of a tool that has been called, as it was last listed for this caller."""
        cached = cached_contract(self._compiled, server, CallToolRequestParams(name=tool), self._caller())
        return None if cached is None else cached.tool.record.parameters

    async def speaks_older_only(self) -> bool:
        """Return whether one of the servers only speaks the older protocol era, so that all must use it."""
        for upstream in self._upstream.values():  # one is enough, and another may be silent
            if await upstream.speaks_older_only():
                return True
        return False

    async def on_initialize(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """Return the answer unchanged."""
        result = await call_next(context)
        if result is not None:
            self._rename(context, result.server_info.name)
        return result

    async def on_discover(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """Answer like a server of the older era if the upstream server is one, so that the client uses it.

        Raises:
            MCPError: "Method not found", as a server of the older era answers.
        """
        if await self.speaks_older_only():
            raise MCPError(code=METHOD_NOT_FOUND, message="Method not found")
        result = await call_next(context)
        info = (result.meta or {}).get(SERVER_INFO_META_KEY) if isinstance(result, DiscoverResult) else None
        if isinstance(info, Mapping):
            self._rename(context, info.get("name"))
        return result

    async def on_list_tools(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """Return the tools unchanged; recompile those whose schema has changed.

        Raises:
            MCPError: When no server lists its tools, as for every other list.
        """
        tools = await self._listed(super().on_list_tools(context, call_next))
        if context.fastmcp_context is not None:
            server = context.fastmcp_context.fastmcp
            for tool in tools:
                listed = self.schema_of(server, tool.name)
                if listed is not None and listed != tool.parameters:
                    await self.contract_for(server, tool.name)
        return tools

    async def _list_unchanged(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        return await self._listed(call_next(context))

    on_list_resources = on_list_resource_templates = on_list_prompts = _list_unchanged

    async def on_read_resource(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """Return the resource unchanged."""
        return await self._looked_up(super().on_read_resource(context, call_next))

    async def on_get_prompt(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """Return the prompt unchanged; its arguments are repaired or refused by what its server lists."""
        return await self._looked_up(super().on_get_prompt(context, call_next))

    async def _listed(self, listing: Awaitable[Sequence[T]]) -> Sequence[T]:
        """Return a list of all servers that give it, and log the others."""
        if is_noting():  # part of a call, which has its own answer
            return await listing
        with noting_failures() as failures:
            items = await listing
        self._log_failures(failures)
        if len(failures) < len(self._upstream):
            return items
        raise _missing(failures)

    async def _looked_up(self, answering: Awaitable[T]) -> T:
        """Return the answer; an error says so if a server could not be asked whether it has what is wanted."""
        with noting_failures() as failures:
            try:
                return await answering
            except NotFoundError:
                if not failures:
                    raise
        self._log_failures(failures)
        raise _missing(failures)

    def _log_failures(self, failures: Failures) -> None:
        for server, failure in failures.items():
            name = self._telemetry.names.get(server, server)
            self._telemetry.log.warn_each_time("list_failed", name, str(failure))

    async def on_call_tool(self, context: CallContext, call_next: Next) -> ToolResult:
        """Handle a call like :class:`LenientMiddleware`; turn refusals of the upstream server into envelopes too."""
        exchange = _Exchange()
        try:
            with noting_failures():
                result = await super().on_call_tool(context, partial(self._ask, exchange, call_next))
        except UpstreamError as error:
            exchange.lost = error.loss
            raise
        finally:
            if exchange.lost is not None:
                self._record_upstream("call_unanswered", context, exchange.lost)
        arguments, answer = exchange.arguments, exchange.answer
        if arguments is None or not isinstance(answer, ToolResult) or not isinstance(result, ToolResult):
            return result
        self._learn(context, arguments, answer)
        if exchange.dispatched is not None:
            inside = await self._answered_inside(context, exchange.dispatched, answer, result)
            if inside is not None:
                return inside
        return await self._answered(context, arguments, answer, result)

    def _learn(self, context: CallContext, arguments: Mapping[str, Any], answer: ToolResult) -> None:
        """Remember the tools that the result of a search describes."""
        cached = self._cached(context)
        if answer.is_error or cached is None:
            return
        form = self._gate.operator.policies.finders.get(context.message.name)
        if form is None and compat.search_tool(cached.tool.record) == "finder":
            form = dispatcher()
        if form is not None:
            server = None if form.server is None else arguments.get(form.server)
            self.learnt.learn(self.place(cached.tool), answer, server, form.server)

    async def _answered_inside(
        self, context: CallContext, dispatched: DispatcherDecision, answer: ToolResult, result: ToolResult
    ) -> ToolResult | None:
        """Return the result for what a server answered to a dispatcher's call by the tool inside; None if that says nothing."""
        inner, call, source = dispatched.inner, dispatched.call, dispatched.source
        name, text = call.name.rpartition("/")[2], _text_of(answer)
        is_unknown = answer.is_error and says_unknown(text, name)
        refusal = refusal_in(answer, name) or refusal_in(answer, context.message.name)
        decision = (
            None if inner.contract is None else await decide_aside(inner.contract, dispatched.passed_on)
        )
        is_valid = decision is not None and decision.status == "accepted"
        is_contradicted = is_unknown or is_valid == (refusal is not None)
        if (
            is_contradicted
            and isinstance(source, LearntSource)
            and (is_unknown or refusal or not answer.is_error)
        ):
            source.forget(call.name, is_misled=bool(inner.repairs) and answer.is_error)
        if inner.mode != "repair" or not (is_unknown or refusal):
            return result if inner.contract is not None else None
        if is_unknown:
            unknown = await self._gate.decide_one(call, source)
            answer_inside = None if unknown.if_unknown is None else unknown.if_unknown()
        elif decision is None or is_valid:
            return None
        else:
            certain = replace(decision, certain=True)
            answer_inside = (await self._gate.recorded(call, certain)).refusal
        return None if answer_inside is None else refused(answer_inside)

    async def _ask(self, exchange: _Exchange, call_next: Next, context: CallContext) -> ToolResult:
        """Send a call to the upstream server; return its answer, or an envelope if there is none."""
        exchange.arguments, exchange.answer = context.message.arguments or {}, None
        running = current.get()
        exchange.dispatched = None if running is None else running.dispatched
        try:
            exchange.answer = await call_next(context)
        except ToolError as error:
            exchange.lost = _loss(error)
            trouble = error.trouble if isinstance(error, UpstreamError) else None
            if exchange.lost == MALFORMED and trouble is None:
                raise MCPError(code=INTERNAL_ERROR, message=str(error)) from error
            refusal = self._without_answer(context.message.name, error, exchange.lost, trouble)
            if refusal is not None:
                cached = self._cached(context)
                has_schema = cached is not None and cached.tool.has_output_schema
                return as_result(refusal, has_output_schema=has_schema)
            exchange.answer = as_refused(error.__cause__)
            if exchange.answer is None:
                raise
        except PydanticError as error:
            # The SDK would answer -32602, as if the caller's arguments were wrong.
            exchange.lost = MALFORMED
            raise MCPError(code=INTERNAL_ERROR, message=INVALID_ANSWER) from error
        except anyio.get_cancelled_exc_class():
            exchange.lost = "CANCELLED"
            raise
        return exchange.answer

    def _without_answer(
        self, name: str, error: ToolError, lost: str | None, trouble: Trouble | None
    ) -> dict[str, Any] | None:
        """Return the envelope for a call that was not sent or timed out; None for other errors."""
        limit, language = self._times.answer, self.policy_for(name).language
        if lost == UNAVAILABLE:
            return _not_called(name, trouble or of_error(error), language)
        if lost == TIMED_OUT and limit is not None and isinstance(error, UpstreamError):
            return about_tool("UPSTREAM_TIMED_OUT", name, language=language, timeout_seconds=limit)
        return None

    def _cached(self, context: CallContext) -> Contract | None:
        if context.fastmcp_context is None:
            return None
        server = context.fastmcp_context.fastmcp
        return cached_contract(self._compiled, server, context.message, self._caller())

    async def _answered(
        self, context: CallContext, sent: Mapping[str, Any], answer: ToolResult, result: ToolResult
    ) -> ToolResult:
        """Return the result for what the server answered, with an envelope if it refused the call."""
        cached = self._cached(context)
        if not answer.is_error or cached is None or cached.mode == "off":
            return result
        name = context.message.name
        route = cached.tool.route
        text = refusal_in(answer, route[-1][1] if route else name)
        if text is None:
            return result
        self._record_upstream("call_refused_upstream", context, REFUSED_UPSTREAM)
        if cached.mode == "observe":
            return result
        repairs = _recorded_repairs(answer, result)
        violations = (await decide_aside(cached, sent)).violations
        language = cached.policy.language
        refusal = with_upstream_message(
            envelope(name, cached.top, violations, repairs, language=language),
            text if cached.policy.echo_values else "",
            language=language,
        )
        return as_result(refusal, has_output_schema=cached.tool.has_output_schema)

    async def check_servers(self, *, over_http: bool) -> None:
        """Log each server at a URL that gives no answer.

        Args:
            over_http: Whether the proxy is served over HTTP, so that a caller can log in at the server.
        """

        async def check(proxy: FastMCP, upstream: Upstream) -> None:
            failure, sending = await upstream.failure(), upstream.sending
            if failure is None or sending is None:
                return
            reason = str(failure)
            if failure.loss == REFUSED_CREDENTIALS:
                if over_http and sending.takes_credentials():
                    return
                reason = _NEEDS_CREDENTIALS
            self._telemetry.log.warn_each_time("server_unavailable", proxy.name, reason)

        async with anyio.create_task_group() as tasks:
            for proxy, upstream in self._upstream.items():
                if upstream.sending is not None:  # another one is started by the first request for it
                    tasks.start_soon(check, proxy, upstream)

    async def close(self) -> None:
        """End the connections to all servers."""
        for upstream in self._upstream.values():
            await upstream.close()

    async def _list_anew(self, server: FastMCP) -> None:
        """Ask an upstream server for its tools, or all of them if it is unknown which one has the tool.

        Raises:
            UpstreamError: When that server does not accept the caller's credentials.
        """
        target = self._upstream.get(server)
        for upstream in self._upstream.values() if target is None else (target,):
            await upstream.list_anew()
        if target is not None and target.failed is not None and target.failed.loss == REFUSED_CREDENTIALS:
            raise credentials_refused()

    def _record_upstream(self, event: EventName, context: CallContext, code: str) -> None:
        host_call = self._host_call(context, NOT_RAW, perf_counter_ns())
        self._gate.record_event(event, host_call, self._cached(context), code=code)


def _not_called(tool: str, trouble: Trouble, language: str) -> dict[str, Any]:
    return unavailable_tool(tool, trouble.reason, passes=trouble.passes, language=language)


def _missing(failures: Failures) -> MCPError:
    """Return the error for a request that failed because of these lists."""
    message = "None of the servers behind this proxy answers."
    if len(failures) == 1:
        message = str(*failures.values())
    return MCPError(code=INTERNAL_ERROR, message=message)


def _recorded_repairs(answer: ToolResult, result: ToolResult) -> list[Repair]:
    """Return the repairs that this proxy recorded; repairs claimed by the server are only in ``answer``."""
    if result is answer or result.meta is None:
        return []
    return [Repair(**repair) for repair in result.meta[META_KEY]["repairs"]]


def _loss(error: ToolError) -> str | None:
    """Return why a server did not answer; None if it answered with its own error."""
    if isinstance(error, UpstreamError):
        return error.loss
    cause = error.__cause__
    if isinstance(cause, NOT_SENT):
        return UNAVAILABLE
    if isinstance(cause, MCPError):
        return _LOSSES.get(cause.error.code)
    return None if cause is None else "CONNECTION_LOST"
