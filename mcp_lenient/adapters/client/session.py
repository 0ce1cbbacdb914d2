"""A client's session that repairs arguments by the schemas that the server publishes, before they are sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic, perf_counter_ns
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from fastmcp import Client
from fastmcp.client.client import CallToolResult as ParsedResult
from fastmcp.exceptions import ToolError
from mcp import ClientSession
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, CallToolResult, PaginatedRequestParams, TextContent
from typing_extensions import Self

from mcp_lenient.adapters.fastmcp.caller import caller_fields
from mcp_lenient.adapters.fastmcp.compat import host
from mcp_lenient.adapters.fastmcp.proxy.middleware import UPSTREAM_KEY, refusal_in_text
from mcp_lenient.adapters.settings import settings
from mcp_lenient.declare.policies import Policies
from mcp_lenient.engine.contract import ToolContract
from mcp_lenient.engine.raw_arguments import arguments_in_text, not_an_object
from mcp_lenient.refusal.envelope import META_KEY, envelope, repairs_told, written
from mcp_lenient.telemetry.log import CallTelemetry, RecordedCall, shown
from mcp_lenient.types import Repair, Violation

if TYPE_CHECKING:
    from mcp.types import Tool

    from mcp_lenient.rules.policy import Policy
    from mcp_lenient.telemetry.events import EventName

    Session = ClientSession | Client[Any]
    Answer = CallToolResult | ParsedResult

_MOST_PAGES: Final = 1_000
_FRESH: Final = 1.0
"""Seconds for which a list of tools is used to change or refuse a call before it is asked for again."""


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A call before it is sent.

    Attributes:
        name: The tool's name.
        arguments: What is sent.
        repairs: What was changed.
        refusal: The envelope of arguments that the schema forbids.
        held: Whether it is not sent at all.
    """

    name: str
    arguments: Any
    repairs: tuple[Repair, ...] = ()
    refusal: dict[str, Any] | None = None
    held: bool = False


class LenientSession:
    """A session whose calls are repaired by the published schemas; everything else is the session's own.

    :func:`lenient_session` makes one. It may be entered in place of the session: ``async with lenient_session(client)``.
    """

    def __init__(
        self, session: Session, policy: Policy | None = None, *, tools: Mapping[str, Policy] | None = None
    ) -> None:
        self._session = session
        self._policies = Policies(policy, tools or {}, None, bounded=settings().bounded)
        self._telemetry = CallTelemetry(own_spans=host.SPAN_IS_INSIDE)
        self._contracts: dict[str, tuple[Tool, ToolContract]] = {}
        self._listed = -_FRESH

    def __getattr__(self, name: str) -> Any:
        """Return what the session itself has."""
        if name == "_session":  # of a copy that is being made
            raise AttributeError(name)
        return getattr(self._session, name)

    async def __aenter__(self) -> Self:
        await self._session.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._session.__aexit__(kind, error, trace)

    async def tools(self, *, anew: bool = False) -> Mapping[str, Tool]:
        """Return the tools of the server by name, from all pages, as they were last listed.

        Args:
            anew: Whether to ask the server again, at most once a second.

        Raises:
            RuntimeError: When the server lists tools on more than 1,000 pages.
        """
        if not self._contracts or (anew and monotonic() - self._listed >= _FRESH):
            await self._list()
        return {name: tool for name, (tool, _) in self._contracts.items()}

    async def call_tool(self, name: str, arguments: Any = None, *rest: Any, **options: Any) -> Any:
        """Call a tool as the session does, with arguments repaired by its schema.

        Args:
            name: The tool.
            arguments: What a model wrote, also as JSON text.
            rest: As the session takes it.
            options: As the session takes them.

        Returns:
            What the session returns. ``meta["mcp_lenient"]["repairs"]`` names the repairs; an envelope is an error
            result with the envelope in its text and under ``meta["mcp_lenient"]``.

        Raises:
            ToolError: With the envelope as its text, where a FastMCP client raises on errors.
        """
        return await self._call(self._session.call_tool, name, arguments, rest, options)

    async def call_tool_mcp(self, name: str, arguments: Any, *rest: Any, **options: Any) -> CallToolResult:
        """Do the same without raising on errors: a FastMCP client's ``call_tool_mcp``, else the session's ``call_tool``."""
        own = self._session
        call = own.call_tool_mcp if isinstance(own, Client) else own.call_tool
        called: CallToolResult = await self._call(call, name, arguments, rest, options)
        return called

    async def _call(
        self,
        call: Callable[..., Awaitable[Any]],
        name: str,
        arguments: Any,
        rest: tuple[Any, ...],
        options: dict[str, Any],
    ) -> Any:
        prepared = await self._prepared(name, arguments)
        is_parsed = isinstance(self._session, Client) and call == self._session.call_tool
        raises = is_parsed and options.get("raise_on_error", True)
        if prepared.held and prepared.refusal is not None:
            return _refused(prepared.refusal, is_parsed=is_parsed, raises=raises)
        try:
            answer = await call(name, prepared.arguments, *rest, **options)
        except (ToolError, MCPError) as error:
            refusal = _refusal(error, prepared)
            if refusal is None:
                raise
        else:
            refusal = _refusal(answer, prepared)
            if refusal is None:
                return _with_repairs(answer, prepared.repairs)
        return _refused(refusal, is_parsed=is_parsed, raises=raises)

    def language_of(self, name: str) -> str:
        """Return the language of messages about a tool."""
        return self._policies.named(name).language

    async def _prepared(self, name: str, sent: Any) -> _Prepared:
        started = perf_counter_ns()
        policy = self._policies.named(name)
        if policy.mode == "off":
            return _Prepared(name, sent)
        arguments, read = ({} if sent is None else sent), None
        if not isinstance(sent, Mapping | None):
            read = arguments_in_text(sent, policy)
        known = await self._known(name)
        if known is None:
            return _Prepared(name, sent)
        if isinstance(arguments, Mapping) and known.accepts(arguments):
            return _Prepared(name, sent)
        known = await self._known(name, anew=True) or known
        if not isinstance(arguments, Mapping) and read is None:
            return self._outcome(name, known, sent, (), (not_an_object(sent),), started, sent=sent)
        decision = known.decide(arguments) if read is None else known.decide_parsed(read[0])
        repairs = (*(() if read is None else (read[1],)), *decision.repairs)
        return self._outcome(
            name, known, decision.arguments, repairs, decision.violations, started, sent=sent
        )

    def _outcome(
        self,
        name: str,
        known: ToolContract,
        arguments: Any,
        repairs: tuple[Repair, ...],
        violations: tuple[Violation, ...],
        started: int,
        sent: Any,
    ) -> _Prepared:
        """Record what was decided, and return what is sent."""
        policy = known.plan.policy
        is_object = isinstance(sent, Mapping)
        told = shown(policy, known.plan.root, sent if is_object else None)
        info = RecordedCall(
            name, started, partial(caller_fields, None, None), secret=policy.secret, sent=told
        )
        held = not is_object or policy.unrepairable == "refuse"
        event: EventName = "call_rejected" if held else "call_forwarded"
        if policy.mode == "observe":
            self._telemetry.record("call_observed", info, repairs=repairs, violations=violations)
            return _Prepared(name, sent)
        if not violations:
            if repairs:
                self._telemetry.record("call_repaired", info, repairs=repairs)
            return _Prepared(name, arguments, repairs)
        self._telemetry.record(event, info, repairs=repairs, violations=violations)
        refusal = envelope(name, known.plan.root, violations, repairs, language=policy.language)
        return _Prepared(name, sent, refusal=refusal, held=held)

    async def _known(self, name: str, *, anew: bool = False) -> ToolContract | None:
        """Return what is known of a tool; the server is asked where it is unknown, or where that may be old."""
        if (anew or name not in self._contracts) and monotonic() - self._listed >= _FRESH:
            await self._list()
        return self._contracts[name][1] if name in self._contracts else None

    async def _list(self) -> None:
        session = self._session if isinstance(self._session, ClientSession) else self._session.session
        found: dict[str, tuple[Tool, ToolContract]] = {}
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
            found.update((tool.name, (tool, self._contract(tool))) for tool in page.tools)
            cursor = page.next_cursor
            if not cursor:
                self._contracts, self._listed = found, monotonic()
                return
        msg = f"The server lists tools on more than {_MOST_PAGES} pages."
        raise RuntimeError(msg)

    def _contract(self, tool: Tool) -> ToolContract:
        known = self._contracts.get(tool.name)
        if known is not None and known[0] == tool:
            return known[1]
        policy = self._policies.named(tool.name)
        hint = tool.annotations is not None and tool.annotations.destructive_hint is True
        destructive = hint if policy.destructive is None else policy.destructive
        return ToolContract.of_schema(tool.input_schema, policy, destructive=destructive, tool=tool.name)


def lenient_session(
    session: Session, policy: Policy | None = None, *, tools: Mapping[str, Policy] | None = None
) -> LenientSession:
    """Wrap a client's session so that it repairs arguments before it sends them.

    For clients of servers that nothing can be added to or put in front of. The judge is the schema that the server
    publishes: what that accepts is sent as it is, what can be read in exactly one way is repaired, recorded and
    logged. What cannot be repaired is sent as it is, since a server may accept more than it publishes, and its
    refusal is answered with the envelope; with ``Policy(unrepairable="refuse")`` it is not sent.

    Args:
        session: A :class:`mcp.ClientSession` or a :class:`fastmcp.Client`, connected or not.
        policy: What may be repaired; the defaults of :class:`Policy` when left out.
        tools: Policies for tool names that match a pattern, as for :class:`mcp_lenient.LenientMiddleware`.

    Returns:
        A session that is used in place of the other one.
    """
    return LenientSession(session, policy, tools=tools)


def _refusal(answer: Exception | Answer, prepared: _Prepared) -> Mapping[str, Any] | None:
    """Return the envelope where a server does not accept arguments that its schema forbids."""
    if isinstance(answer, MCPError):
        refused = answer.error.code == INVALID_PARAMS
    else:
        refused = refusal_in_text(_error_text(answer), prepared.name) is not None
    return prepared.refusal if refused else None


def _error_text(answer: Exception | Answer) -> str:
    if isinstance(answer, Exception):
        return str(answer)
    first = answer.content[0] if answer.is_error and answer.content else None
    return first.text if isinstance(first, TextContent) else ""


def _refused(refusal: Mapping[str, Any], *, is_parsed: bool, raises: bool) -> Answer:
    told, text = written(refusal)
    if raises:
        raise ToolError(text)
    content = [TextContent(type="text", text=text)]
    meta = {META_KEY: told}
    if is_parsed:
        return ParsedResult(list(content), None, meta, is_error=True)
    return CallToolResult.model_validate({"content": content, "isError": True, "_meta": meta})


def _with_repairs(answer: Answer, repairs: tuple[Repair, ...]) -> Answer:
    """Return the answer with the repairs in ``meta``; what the server itself has there moves aside."""
    if not repairs or not isinstance(answer, CallToolResult | ParsedResult):
        return answer
    meta = dict(answer.meta or {})
    if META_KEY in meta:
        meta[UPSTREAM_KEY] = meta.pop(META_KEY)
    meta[META_KEY] = repairs_told(repairs)
    if isinstance(answer, ParsedResult):
        return replace(answer, meta=meta)
    return answer.model_copy(update={"meta": meta})
