"""A client session that repairs arguments by the server's published schemas before sending them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from copy import copy
from dataclasses import is_dataclass, replace
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

from mcp.types import INVALID_PARAMS, CallToolResult, TextContent
from typing_extensions import Self

from mcp_lenient.adapters.client import sdk_versions
from mcp_lenient.adapters.client.sdk_versions import MCPError
from mcp_lenient.adapters.gate import Gate, HostCall
from mcp_lenient.adapters.listed import ListedTools, ServerTools
from mcp_lenient.adapters.repaired import with_repairs
from mcp_lenient.adapters.sdk_caller import field
from mcp_lenient.adapters.settings import takes_settings
from mcp_lenient.adapters.source import ToolsUnknownError
from mcp_lenient.engine.contract import Contract
from mcp_lenient.engine.raw_arguments import not_an_object
from mcp_lenient.refusal.upstream import refusal_in_text
from mcp_lenient.values.json_values import JSON, container

if TYPE_CHECKING:
    from fastmcp import Client
    from fastmcp.client.client import CallToolResult as ParsedResult
    from mcp import Client as SdkClient
    from mcp import ClientSession
    from mcp.types import Tool
    from typing_extensions import Unpack

    from mcp_lenient.adapters.settings import HostSettings
    from mcp_lenient.rules.policy import Policy

    Session = ClientSession | SdkClient | Client[Any]
    Answer = CallToolResult | ParsedResult


class LenientSession:
    """A session whose calls are repaired by the published schemas; everything else is delegated to the session.

    :func:`lenient_session` creates one. It can be entered instead of the session: ``async with lenient_session(client)``.
    """

    @takes_settings
    def __init__(
        self, session: Session, policy: Policy | None = None, **settings: Unpack[HostSettings]
    ) -> None:
        self._session: Any = session
        self._gate = Gate(policy, **settings)
        self._server_tools = ServerTools()

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the session."""
        if name == "_session":  # while this object is being copied
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
        """Return the server's last listed tools by name, from all pages.

        Args:
            anew: Whether to list them again.

        Raises:
            RuntimeError: When the server lists tools on more than 1,000 pages.
        """
        try:
            listed = await self._source().listed(fresh=anew)
        except ToolsUnknownError as error:
            raise error.__cause__ or error from None
        return {name: tool.record for name, tool in listed.items()}

    def around(self, session: Session | None) -> LenientSession:
        """Return a session around another one with the same server, which shares what is compiled of its tools."""
        shared = copy(self)
        shared._session = session  # noqa: SLF001 - of this class
        return shared

    def _source(self) -> ListedTools:
        return ListedTools(self._server_tools, partial(sdk_versions.tools_page, self._session))

    async def call_tool(self, name: str, arguments: Any = None, *rest: Any, **options: Any) -> Any:
        """Call a tool like the session, with arguments repaired by its schema.

        Args:
            name: The tool.
            arguments: The arguments that a model wrote, as an object or JSON text.
            rest: Other positional arguments of the session's method.
            options: Its keyword arguments.

        Returns:
            The session's result. ``meta["mcp_lenient"]["repairs"]`` lists the repairs; a refusal is an error result with
            the envelope in its text and under ``meta["mcp_lenient"]``.

        Raises:
            ToolError: With the envelope as its text, if a FastMCP client raises on errors.
        """
        answer = await self._call(self._session.call_tool, name, arguments, rest, options)
        if not isinstance(answer, dict):
            return answer
        refused = CallToolResult.model_validate(answer)
        if not sdk_versions.is_fastmcp(self._session):
            return refused
        from fastmcp.client.client import CallToolResult as ParsedResult
        from fastmcp.exceptions import ToolError

        if options.get("raise_on_error", True):
            raise ToolError(_text(refused))
        structured = answer.get("structuredContent")
        return ParsedResult(refused.content, structured, answer["_meta"], is_error=True)

    async def call_tool_mcp(self, name: str, arguments: Any, *rest: Any, **options: Any) -> CallToolResult:
        """Call a tool without raising on errors: by a FastMCP client's ``call_tool_mcp``, else the session's ``call_tool``.

        Arguments that are not an object, which no session sends, are answered with an envelope in every mode.
        """
        session: Any = self._session
        call = session.call_tool_mcp if sdk_versions.is_fastmcp(session) else session.call_tool
        answer = await self._call(call, name, arguments, rest, options, answers=True)
        return CallToolResult.model_validate(answer) if isinstance(answer, dict) else answer

    async def _call(
        self,
        call: Callable[..., Awaitable[Any]],
        name: str,
        arguments: Any,
        rest: tuple[Any, ...],
        options: dict[str, Any],
        *,
        answers: bool = False,
    ) -> Any:
        """Return the session's result, or a refusal as the protocol has it.

        With ``answers`` also what the session itself would raise an error for is refused.
        """
        decision = await self._gate.decide(HostCall(name, arguments), self._source())
        if decision.refusal is not None:
            return decision.refusal
        name, may_refuse = decision.name or name, decision.fate == "forwarded"
        sent, contract = decision.run_with(arguments), decision.contract
        if contract is not None and isinstance(sent, str):
            sent = _object_in(sent, contract)
        if answers and contract is not None and not (sent is None or isinstance(sent, Mapping)):
            return contract.refusal(replace(decision, violations=(not_an_object(sent),)))
        try:
            answer = await call(name, sent, *rest, **options)
        except sdk_versions.errors_of(self._session) as error:
            if not (may_refuse and _refuses(error, name)):
                raise
            return decision.refused()
        if may_refuse and _refuses(answer, name):
            return decision.refused()
        return with_repairs(answer, decision)

    def is_destructive(self, name: str) -> bool:
        """Return whether a listed tool is destructive, by its hint or the policy."""
        tool = (self._server_tools.listed or {})[name]
        return self._gate.compiled(tool, self._server_tools.compiled).plan.destructive

    def language_of(self, name: str) -> str:
        """Return the language of messages about a tool."""
        return self._gate.policy_for(name).language


@takes_settings
def lenient_session(
    session: Session, policy: Policy | None = None, **settings: Unpack[HostSettings]
) -> LenientSession:
    """Wrap a client session so that it repairs arguments before it sends them.

    Use it for servers that you cannot change or put a proxy in front of. Calls are validated against the published
    schemas: valid calls are sent unchanged; calls that can be read only one way are repaired, recorded and logged.
    Other calls are sent unchanged, since a server may accept more than it publishes, and a refusal by the server
    becomes an envelope; with ``Policy(unrepairable="refuse")`` they are not sent.

    Args:
        session: A :class:`mcp.ClientSession` of the official SDK 1 or 2, its own client of SDK 2, or a
            :class:`fastmcp.Client`; connected or not.
        policy: What may be repaired; by default :class:`Policy`'s defaults.
        **settings: See :class:`mcp_lenient.HostSettings`.

    Returns:
        A session to use instead of the other one.
    """
    return LenientSession(session, policy, **settings)


def _object_in(text: str, contract: Contract) -> Any:
    """Return the object in arguments as text that are sent on, since no session sends text; the text if there is none.

    Where the policy repairs, it has read the text already; otherwise only JSON is read.
    """
    dialects = () if contract.mode == "repair" else (JSON,)
    value = container(text, contract.policy.limits, *dialects)
    return value if isinstance(value, dict) else text


def _refuses(answer: Exception | Answer, tool: str) -> bool:
    """Return whether the server refused the arguments of a call."""
    if isinstance(answer, MCPError):
        return answer.error.code == INVALID_PARAMS
    return refusal_in_text(str(answer) if isinstance(answer, Exception) else _text(answer), tool) is not None


def _text(answer: Answer) -> str:
    """Return the first text of an error result."""
    # Not a task, nor a request for input.
    is_result = isinstance(answer, CallToolResult) or is_dataclass(answer)
    is_error = is_result and field(answer, "is_error")
    first = answer.content[0] if is_error and answer.content else None
    return first.text if isinstance(first, TextContent) else ""
