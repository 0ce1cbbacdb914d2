"""The proxy's middleware: asks for schemas anew, and reads what the server behind it refuses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final

import anyio
from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import Middleware
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
    ContentBlock,
    DiscoverResult,
    TextContent,
)
from pydantic import ValidationError as PydanticError

from mcp_lenient.adapters.fastmcp.middleware import LenientMiddleware
from mcp_lenient.adapters.fastmcp.proxy.upstream import OVER_HTTP
from mcp_lenient.adapters.fastmcp.results import META_KEY, as_result
from mcp_lenient.adapters.fastmcp.telemetry import CallInfo
from mcp_lenient.adapters.fastmcp.tools import run
from mcp_lenient.refusal.envelope import envelope
from mcp_lenient.types import Repair
from mcp_lenient.values.display import encodable, is_label, sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fastmcp import FastMCP
    from fastmcp.server.middleware import CallNext, MiddlewareContext
    from fastmcp.tools import Tool
    from mcp_types import DiscoverRequest, InitializeRequest, InitializeResult, ListToolsRequest

    from mcp_lenient.adapters.fastmcp.proxy.upstream import Upstream
    from mcp_lenient.adapters.fastmcp.tools import CachedTool, Call, CallContext, Next
    from mcp_lenient.declare.definitions import Definitions
    from mcp_lenient.rules.policy import Policy
    from mcp_lenient.telemetry.events import EventName


LONGEST: Final = 2_000
"""Characters of a server's own text that an envelope carries."""
REFUSED_UPSTREAM: Final = "REFUSED_UPSTREAM"
"""The envelope's code where the schema takes the arguments and the server does not."""
_LOOKED_AT: Final = 64 * 2**10
_CODE: Final = re.compile(r"(?:MCP error -32602: )+")
_NO_ARGUMENTS: Final = re.compile(
    r"(?:unknown tool|no such tool|tool not found|output validation error"
    r"|tool \S{1,200} (?:is )?(?:not found|unknown|disabled|does not exist))\b",
    re.IGNORECASE,
)
_MORE: Final = re.compile(r"^ *For further information visit \S+$", re.MULTILINE)
_FORMS: Final = (
    re.compile(r"Input validation error: "),  # TypeScript, Python 1.x
    re.compile(r"Invalid arguments for tool "),  # TypeScript before 1.20
    re.compile(r"(?:invalid params: )?validating \"arguments\": "),  # Go
    re.compile(r"required argument \"[^\"\n]{1,200}\" not found"),  # mcp-go
    re.compile(r"argument \"[^\"\n]{1,200}\" (?:is not|cannot be) "),  # mcp-go
    re.compile(r"Tool input validation failed: "),  # Java
    re.compile(r"failed to deserialize parameters: "),  # Rust
)
# Pydantic's text is one of arguments only where its title is what an SDK calls the arguments of this very
# tool: a tool's body may leak a text about a model of its own.
_PYDANTIC: Final = (
    r"(?:Error executing tool {tool}: )?\d+ validation errors? for (?:call\[\w+\]|{tool}Arguments)\n"
)


def refusal_in(result: object, tool: str) -> str | None:
    """The text with which a server says that it does not accept the arguments of a call.

    Only the forms that the official SDKs and FastMCP use are known again, and JSON-RPC's own code for it
    (-32602) where the TypeScript SDK writes it into the text. Whatever else went wrong is no refusal of
    arguments.

    Args:
        result: What the server answered.
        tool: The name of the tool.

    Returns:
        The server's text in one line without addresses, at most 2,000 characters; None where the call
        failed for another reason, or did not fail.
    """
    if not isinstance(result, ToolResult) or not result.is_error or not result.content:
        return None
    text = _first_text(result.content[0])
    coded = _CODE.match(text)
    rest = text[coded.end() :] if coded else text
    if coded is not None:
        return None if _NO_ARGUMENTS.match(rest) else _told(rest)
    pydantic = re.compile(_PYDANTIC.format(tool=re.escape(tool)))
    return _told(rest) if any(form.match(rest) for form in (*_FORMS, pydantic)) else None


def as_refused(error: BaseException | None) -> ToolResult | None:
    """JSON-RPC's error -32602 as the result that the TypeScript SDK makes of it; None for any other error."""
    if not isinstance(error, MCPError) or error.error.code != INVALID_PARAMS:
        return None
    text = f"MCP error {INVALID_PARAMS}: {error.error.message}"
    return ToolResult(content=[TextContent(type="text", text=text)], is_error=True)


def told_of(envelope: Mapping[str, Any], text: str) -> dict[str, Any]:
    """An envelope that carries what the server itself says.

    Args:
        envelope: What is known of the call; its violations are kept, and stay the message where there are any.
        text: The server's text; empty where it may not be repeated.
    """
    details = {**envelope["details"], "upstream_message": text}
    told = {**envelope, "error_code": REFUSED_UPSTREAM, "details": details}
    if not details["violations"]:
        reason = f": {text}" if text else "."
        told["message"] = (
            f"Invalid arguments for tool '{details['tool']}': the server does not accept them{reason}"
            f"{'' if reason.endswith(('.', '!', '?')) else '.'} Correct the call and send it again."
        )
    safe: dict[str, Any] = encodable(told)
    return safe


def _first_text(block: ContentBlock) -> str:
    return block.text[:_LOOKED_AT] if isinstance(block, TextContent) else ""


def _told(text: str) -> str:
    return sentence(_MORE.sub("", text.removeprefix("Input validation error: ")), LONGEST)


UPSTREAM_KEY: Final = "mcp_lenient_upstream"
"""The metadata key for what the server itself has under ``mcp_lenient``, where this proxy needs that key."""
MALFORMED: Final = "MALFORMED_ANSWER"
_UNREADABLE: Final = "The server's answer is not a valid tool result."
_LOSSES: Final = {CONNECTION_CLOSED: "CONNECTION_LOST", REQUEST_TIMEOUT: "TIMED_OUT"}


class NameMiddleware(Middleware):
    """Hears the name that a server gives itself in the handshake.

    Args:
        hear: Told of it.
    """

    def __init__(self, hear: Callable[[str], None]) -> None:
        self._hear = hear

    async def on_initialize(
        self,
        context: MiddlewareContext[InitializeRequest],
        call_next: CallNext[InitializeRequest, InitializeResult | None],
    ) -> InitializeResult | None:
        """Pass the answer on as it is."""
        result = await call_next(context)
        if result is not None:
            self._hear(result.server_info.name)
        return result

    async def on_discover(
        self,
        context: MiddlewareContext[DiscoverRequest],
        call_next: CallNext[DiscoverRequest, DiscoverResult | dict[str, Any]],
    ) -> DiscoverResult | dict[str, Any]:
        """Pass the answer on as it is."""
        result = await call_next(context)
        told = (result.meta or {}).get(SERVER_INFO_META_KEY) if isinstance(result, DiscoverResult) else None
        if isinstance(told, Mapping) and isinstance(told.get("name"), str):
            self._hear(told["name"])
        return result


class ProxyMiddleware(LenientMiddleware):
    """The middleware of a proxy, whose tools are those of servers elsewhere.

    FastMCP's proxy keeps a list of tools for minutes. What a call is judged by is asked for anew before
    anything is changed or refused; an accepted call costs no further request.

    Args:
        policy: As for :class:`mcp_lenient.LenientMiddleware`.
        tools: As for :class:`mcp_lenient.LenientMiddleware`.
        definitions: As for :class:`mcp_lenient.LenientMiddleware`.
        upstream: For each server that is a proxy, what is behind it.
    """

    def __init__(
        self,
        policy: Policy | None = None,
        *,
        tools: Mapping[str, Policy] | None = None,
        definitions: Definitions | None = None,
        upstream: Mapping[FastMCP, Upstream],
    ) -> None:
        super().__init__(policy, tools=tools, definitions=definitions)
        self._upstream = upstream

    def rename(self, server: FastMCP, name: str) -> None:
        """Log a server under the name that it gives itself, from the first one on that is a name by its form."""
        if name != server.name and is_label(name):
            self._telemetry.names.setdefault(server.name, name)

    async def speaks_older_only(self) -> bool:
        """Whether one of the servers speaks the older era of the protocol only, so that all are to speak it."""
        for upstream in self._upstream.values():
            if await upstream.speaks_older_only():
                return True
        return False

    async def on_discover(
        self,
        context: MiddlewareContext[DiscoverRequest],
        call_next: CallNext[DiscoverRequest, DiscoverResult | dict[str, Any]],
    ) -> DiscoverResult | dict[str, Any]:
        """Answers as a server of the older era where the server elsewhere is one, so that the client speaks it.

        Raises:
            MCPError: There is no such method, as the older era says of it.
        """
        asked = context.fastmcp_context
        if asked is not None and asked.transport in OVER_HTTP and await self.speaks_older_only():
            raise MCPError(code=METHOD_NOT_FOUND, message="Method not found")
        return await call_next(context)

    async def on_list_tools(
        self,
        context: MiddlewareContext[ListToolsRequest],
        call_next: CallNext[ListToolsRequest, Sequence[Tool]],
    ) -> Sequence[Tool]:
        """Passes the tools on as they are; those whose schema has changed are judged by the new one."""
        tools = await super().on_list_tools(context, call_next)
        if context.fastmcp_context is not None:
            server = context.fastmcp_context.fastmcp
            for tool in tools:
                message = CallToolRequestParams(name=tool.name)
                known = self._tools.get(server, message)
                if known is not None and known.tool.parameters != tool.parameters:
                    await self._tools.look_up(server, message)
        return tools

    async def on_call_tool(self, context: CallContext, call_next: Next) -> ToolResult:
        """One call: judged, repaired or refused, logged; and what the server itself refuses, told as well."""
        sent: Mapping[str, Any] | None = None
        answer: ToolResult | None = None
        lost: str | None = None

        async def ask(context: CallContext) -> ToolResult:
            nonlocal sent, answer, lost
            sent, answer = context.message.arguments or {}, None
            try:
                answer = await call_next(context)
            except ToolError as error:
                lost = _loss(error)
                answer = as_refused(error.__cause__)
                if answer is None:
                    raise
            except PydanticError as error:
                # The SDK would answer -32602, as if the caller's arguments were wrong.
                lost = MALFORMED
                raise MCPError(code=INTERNAL_ERROR, message=_UNREADABLE) from error
            except anyio.get_cancelled_exc_class():
                lost = "CANCELLED"
                raise
            return answer

        try:
            result = await super().on_call_tool(context, ask)
        finally:
            if lost is not None:
                self._tell_upstream("call_unanswered", context, self._known(context), lost)
        if sent is None or not isinstance(answer, ToolResult) or not isinstance(result, ToolResult):
            return result
        return (
            await self._failed(context, sent, answer, result) if answer.is_error else _apart(answer, result)
        )

    def _known(self, context: CallContext) -> CachedTool | None:
        if context.fastmcp_context is None:
            return None
        return self._tools.get(context.fastmcp_context.fastmcp, context.message)

    async def _failed(
        self, context: CallContext, sent: Mapping[str, Any], answer: ToolResult, result: ToolResult
    ) -> ToolResult:
        """Return what the caller gets of an error that the server answered."""
        known = self._known(context)
        if known is None or known.mode == "off":
            return result
        name = context.message.name
        text = refusal_in(answer, known.target.route[-1][1] if known.target.route else name)
        if text is None:
            return _apart(answer, result)
        self._tell_upstream("call_refused_upstream", context, known, REFUSED_UPSTREAM)
        if known.mode == "observe":
            return result
        repairs = _own_repairs(answer, result)
        found = () if await known.accepts(sent) else (await known.decide_rejected(sent)).violations
        told = told_of(
            envelope(name, known.plan.root, found, repairs), text if known.policy.echo_values else ""
        )
        return as_result(told, has_output_schema=known.tool.output_schema is not None)

    async def _not_accepted(
        self, call: Call, server: FastMCP, judged: CachedTool, arguments: Mapping[str, Any]
    ) -> ToolResult:
        began = perf_counter_ns()
        await self._list_anew(judged.target.route[-1][0] if judged.target.route else server)
        call.started += perf_counter_ns() - began
        return await super()._not_accepted(call, server, judged, arguments)

    async def _not_found(self, call: Call, server: FastMCP) -> ToolResult:
        """A tool that is not in the list that is kept may be one that the server has had since."""
        await self._list_anew(server)
        known = await self._tools.look_up(server, call.context.message)
        if known is None:
            return await super()._not_found(call, server)
        if known.mode == "off":
            return await run(call, known, call.context)
        arguments = call.context.message.arguments or {}
        if await known.accepts(arguments):
            return await self._accepted(call, server, known, arguments)
        return await self._rejected(call, server, known, arguments)

    async def _list_anew(self, server: FastMCP) -> None:
        """Ask a server elsewhere for its tools; all of them where it is not known which one has the tool."""
        own = self._upstream.get(server)
        for upstream in self._upstream.values() if own is None else (own,):
            await upstream.list_anew()

    def _tell_upstream(
        self, event: EventName, context: CallContext, known: CachedTool | None, code: str
    ) -> None:
        mounted = known.target.mounted if known is not None else None
        told = CallInfo(
            context.fastmcp_context, context.message.name, perf_counter_ns(), known is not None, mounted
        )
        self._telemetry.tell(event, told, code=code)


def _own_repairs(answer: ToolResult, result: ToolResult) -> list[Repair]:
    """Return the repairs that this proxy recorded; those that the server claims are in ``answer`` alone."""
    if result is answer or result.meta is None:
        return []
    return [Repair(**repair) for repair in result.meta[META_KEY]["repairs"]]


def _apart(answer: ToolResult, result: ToolResult) -> ToolResult:
    """Move the server's own entry aside where this proxy's repairs have taken its key."""
    if result is answer or result.meta is None or META_KEY not in (answer.meta or {}):
        return result
    theirs = (answer.meta or {})[META_KEY]
    return result.model_copy(update={"meta": {**result.meta, UPSTREAM_KEY: theirs}})


def _loss(error: ToolError) -> str | None:
    """Why a server did not answer; None where it answered with an error of its own."""
    cause = error.__cause__
    if isinstance(cause, MCPError):
        return _LOSSES.get(cause.error.code)
    return None if cause is None else "CONNECTION_LOST"
