"""From a model's answer to its tools' results: find the calls and the tools, call, and write the results."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Hashable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal
from weakref import WeakKeyDictionary

from mcp import ClientSession
from mcp.types import CallToolResult, EmbeddedResource, ImageContent, TextContent, TextResourceContents

from mcp_lenient.adapters.client.sdk_versions import MCPError, server_name
from mcp_lenient.adapters.client.session import LenientSession, lenient_session
from mcp_lenient.adapters.sdk_caller import field
from mcp_lenient.refusal.envelope import error_envelope, refusal_result, unknown_tool
from mcp_lenient.text_calls.responses import (
    Message,
    Requested,
    RequestedCall,
    ToolAnswer,
    requested_calls,
    result_messages,
)
from mcp_lenient.text_calls.scan import Prose
from mcp_lenient.values.display import shown_name
from mcp_lenient.values.language import Language, load_language
from mcp_lenient.values.names import near

if TYPE_CHECKING:
    from fastmcp import FastMCP
    from mcp.types import ContentBlock

    from mcp_lenient.adapters.client.session import Session

    Target = FastMCP | Session | LenientSession

UNREADABLE: Final = "UNREADABLE_CALL"
"""The envelope's code for a text that holds a call which cannot be read, or is in a tag of no known server."""
NOT_ALONE: Final = "CALL_NOT_ALONE"
"""The envelope's code for a call that text beside it may quote."""
CUT_OFF: Final = "CUT_OFF"
"""The envelope's code for the last call of an answer that was cut off."""
FAILED: Final = "CALL_FAILED"
"""The envelope's code where a server answers a call with a protocol error."""
_RUNS_BESIDE: Final[Mapping[str, frozenset[Prose]]] = {
    "before": frozenset({"none", "before"}),
    "refuse": frozenset({"none"}),
    "run": frozenset({"none", "before", "around"}),
}
"""The text that calls are run beside, by the option ``prose``."""
_SEPARATOR: Final = re.compile(r"[_./:-]+")


@dataclass(frozen=True, slots=True)
class DispatchedCall:
    """One call and its result.

    Attributes:
        tool: The tool as the server lists it; as the model named it where there is none.
        arguments: What the model sent.
        result: The tool's result, or an envelope as an error result.
        id: The id that the model gave the call.
    """

    tool: str
    arguments: Any
    result: CallToolResult
    id: str | None = None

    @property
    def repairs(self) -> list[dict[str, str]]:
        """What was repaired, by this client or by the server."""
        return list((self.result.meta or {}).get("mcp_lenient", {}).get("repairs", []))


@dataclass(frozen=True, slots=True)
class Dispatched:
    """The calls of one model answer; false if there are none, so that the answer is the last one.

    Attributes:
        calls: The calls with their results, in order.
        messages: The next messages of the conversation, in the format of the model's calls.
    """

    calls: tuple[DispatchedCall, ...]
    messages: list[Message]

    def __bool__(self) -> bool:
        """Return whether the model must be called again."""
        return bool(self.messages)


async def dispatch(
    target: Target,
    answer: Any,
    *,
    dialect: str | Iterable[str] | None = None,
    servers: Iterable[str] = (),
    prose: Literal["before", "refuse", "run"] = "before",
) -> Dispatched:
    """Execute the tool calls in a model's answer, and return their results in the format that the model expects.

    A loop around it is an agent::

        while done := await dispatch(client, answer):
            messages += done.messages
            answer = ask(messages)

    | the calls | the results |
    |---|---|
    | ``tool_use`` blocks (Anthropic's Messages) | one user message of ``tool_result`` blocks |
    | ``tool_calls`` (OpenAI's Chat Completions) | a ``tool`` message for each |
    | ``function_call`` items (OpenAI's Responses) | a ``function_call_output`` item for each |
    | a text with tags or JSON, see :func:`mcp_lenient.parse_tool_calls` | one user message with ``<tool_result>`` tags |
    | a text in the dialect of a model family | a ``tool`` message for each, which the model's chat template puts into it |

    Ids are kept. Several calls are executed one after the other, in order. Arguments are repaired as by
    :func:`mcp_lenient.lenient_session`; a refused call, an unknown tool and text that cannot be parsed are answered
    with an envelope for the model to correct. So are calls in a text that may quote them, with the code
    ``CALL_NOT_ALONE``: by default if text follows the first call, or ends in a colon before it. A call of a tool with
    ``destructiveHint`` is only run if its text holds nothing but calls and marked reasoning. The last call of an answer
    that says that it was cut off, as with ``"stop_reason": "max_tokens"``, is answered with the code ``CUT_OFF``.

    The server tag and tool tag of a text name one tool, even if a proxy lists it under a prefix: ``<web><search>`` is
    ``web_search``, ``web/search``, ``mcp__web__search`` or ``search``. A server is known by the name that it gave, by its
    key in the client's configuration, or from ``servers``. Calls in any other tag are not executed, as they may be quoted;
    where a known tool is called in one, the model is told so. For a client with several configured servers, a tool's own name is enough if only one server has it.

    Args:
        target: A server in this process, a client (connected or not), an SDK session, or a session from
            :func:`mcp_lenient.lenient_session`, which keeps the list of tools between calls.
        answer: The model's text; or a response, message or list of blocks, as JSON or as an SDK's object.
        dialect: The dialects that the prompt asked for, as for :func:`mcp_lenient.parse_tool_calls`.
        servers: Further names of servers, as of those behind a proxy.
        prose: Beside what text calls are run: only text before all of them that does not end in a colon (``"before"``),
            none but marked reasoning (``"refuse"``), or any that is read (``"run"``). ``"before"`` lowers the risk that a
            quoted call runs; only ``"refuse"`` excludes it, so use that if the model reads what others wrote.

    Raises:
        ToolCallError: When a block of a response names no tool.
        TypeError: When the answer has another type, or the target and the answer are in the wrong order.
        ValueError: When a dialect or ``prose`` is unknown; names the known ones.
    """
    if prose not in _RUNS_BESIDE:
        msg = f"dispatch: prose must be one of {', '.join(_RUNS_BESIDE)}, but is {prose!r}"
        raise ValueError(msg)
    if not hasattr(target, "list_tools"):
        msg = f"dispatch takes a server, client or session, and then the answer, but its first argument is a {type(target).__name__}"
        raise TypeError(msg)
    async with _session(target) as session:
        tools = await session.tools(anew=not isinstance(target, LenientSession))
        prefixes = _prefixes(session)
        server_names = {*servers, *prefixes, *filter(None, [server_name(session)])}
        requested = requested_calls(answer, _readable_names(tools), dialect, server_names)
        if any(len(_names(call, tools, prefixes)) != 1 for call in requested.calls):
            tools = await session.tools(anew=True)
        calls = [
            await _called(session, call, tools, prefixes, requested.prose, _RUNS_BESIDE[prose])
            for call in requested.calls
        ]
    answers = [_answer(call.tool, done) for call, done in zip(requested.calls, calls, strict=True)]
    if reason := _why_not_read(requested, load_language(session.language_of(""))):
        answers = [_answer(requested.tool, DispatchedCall(requested.tool, None, _error(UNREADABLE, reason)))]
    return Dispatched(tuple(calls), result_messages(requested.form, answers))


def _why_not_read(requested: Requested, say: Language) -> str:
    if requested.unreadable is not None:
        return say(
            "The tool call cannot be read: {reason} Write it again.", reason=say.of(requested.unreadable)
        )
    if requested.around:
        return say(
            "The call of '{tool}' was not run: <{tag}> around it is not the tag of a known server. "
            "If the call is meant, send it without this tag.",
            tool=shown_name(requested.tool),
            tag=shown_name(requested.around),
        )
    return ""


@asynccontextmanager
async def _session(target: Target) -> AsyncIterator[LenientSession]:
    if isinstance(target, LenientSession):
        yield target
        return
    if not isinstance(target, ClientSession):
        from fastmcp import Client, FastMCP

        if isinstance(target, FastMCP | Client):
            async with Client(target) if isinstance(target, FastMCP) else target as client:
                yield _lasting_session(target, client)
            return
    yield _lasting_session(target, target)


_SESSIONS: Final[WeakKeyDictionary[object, LenientSession]] = WeakKeyDictionary()
"""A cache: what is compiled of the tools of each server or client, for as long as that exists."""


def _lasting_session(target: Any, client: Session) -> LenientSession:
    """Return the lenient session of a target, which compiles each tool once however often the target is given."""
    if not isinstance(target, Hashable):  # the client of SDK 2
        return lenient_session(client)
    if target not in _SESSIONS:
        _SESSIONS[target] = lenient_session(client).around(None)  # a reference would keep the client for ever
    return _SESSIONS[target].around(client)


def _readable_names(tools: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schemas by name and by unprefixed name, if only one tool has it."""
    unprefixed: dict[str, Any] = {}
    for name, tool in tools.items():
        for separator in _SEPARATOR.finditer(name):
            rest = name[separator.end() :]
            unprefixed[rest] = {} if rest in unprefixed else field(tool, "input_schema")
    return {**unprefixed, **{name: field(tool, "input_schema") for name, tool in tools.items()}}


def _prefixes(session: LenientSession) -> tuple[str, ...]:
    """Return the names of a client's servers if it has several."""
    config = getattr(getattr(session, "transport", None), "config", None)
    return tuple(getattr(config, "mcpServers", ()))


async def _called(
    session: LenientSession,
    call: RequestedCall,
    tools: Mapping[str, Any],
    prefixes: tuple[str, ...],
    text_beside: Prose,
    runs_beside: frozenset[Prose],
) -> DispatchedCall:
    names = _names(call, tools, prefixes)
    name = names[0] if len(names) == 1 else call.tool
    say = load_language(session.language_of(name))
    if len(names) != 1:
        similar, listed = names or near(name, tools.keys()), () if names else tools.keys()
        result = _result(unknown_tool(name, similar, listed, language=session.language_of(name)))
    elif call.may_be_cut:
        message = say(
            "The call of '{tool}' was not run: the answer was cut off, and this call, its last one, may be "
            "incomplete. Send it again, with less at once.",
            tool=shown_name(name),
        )
        result = _error(CUT_OFF, message)
    elif text_beside not in runs_beside or (text_beside != "none" and session.is_destructive(name)):
        message = say(
            "The call of '{tool}' was not run, since the text beside it may quote it. "
            "If the call is meant, send the call alone.",
            tool=shown_name(name),
        )
        result = _error(NOT_ALONE, message)
    else:
        result = await _sent(session, name, call.arguments)
    return DispatchedCall(name, call.arguments, result, call.id)


def _names(call: RequestedCall, tools: Mapping[str, Any], prefixes: tuple[str, ...]) -> list[str]:
    """Return the listed names that a call may mean; several only if servers of one client have the same tool."""
    forms = ("{}_{}", "{}/{}", "{}.{}", "mcp__{}__{}")
    if call.server is not None:
        exact = [form.format(call.server, call.tool) for form in forms]
        return [name for name in (*exact, call.tool) if name in tools][:1]
    if call.tool in tools:
        return [call.tool]
    return [name for prefix in prefixes if (name := f"{prefix}_{call.tool}") in tools]


async def _sent(session: LenientSession, name: str, arguments: Any) -> CallToolResult:
    try:
        return await session.call_tool_mcp(name, {} if arguments in (None, "") else arguments)
    except MCPError as error:
        return _error(FAILED, error.error.message)


def _error(code: str, message: str) -> CallToolResult:
    return _result(error_envelope(code, message, {}))


def _result(envelope: Mapping[str, Any]) -> CallToolResult:
    # Without ``structuredContent``, as where a tool has an output schema.
    return CallToolResult.model_validate(refusal_result(envelope, has_output_schema=True))


def _answer(tool: str, done: DispatchedCall) -> ToolAnswer:
    """Return a result as the model sees it."""
    result = done.result
    texts = [text for block in result.content if (text := _text(block)) is not None]
    structured = field(result, "structured_content")
    if not result.content and structured is not None:
        texts = [json.dumps(structured, ensure_ascii=False)]
    images = tuple(
        (field(block, "mime_type"), block.data) for block in result.content if isinstance(block, ImageContent)
    )
    return ToolAnswer(tool, done.id, "\n".join(texts), bool(field(result, "is_error")), images)


def _text(block: ContentBlock) -> str | None:
    """Return a content block as text; the kind of a block without text."""
    if isinstance(block, TextContent):
        return block.text
    if isinstance(block, EmbeddedResource) and isinstance(block.resource, TextResourceContents):
        return block.resource.text
    return f"[{block.type}]"
