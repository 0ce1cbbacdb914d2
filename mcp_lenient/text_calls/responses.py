"""A model's answer in the form of an API or as text: the calls that it asks for, and their results in the same form."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from mcp_lenient.errors import NoToolCallError, ToolCallError
from mcp_lenient.text_calls import answer_in, is_native
from mcp_lenient.text_calls.dialects.table import NATIVE
from mcp_lenient.text_calls.known_tools import KnownTools
from mcp_lenient.text_calls.scan import Prose
from mcp_lenient.values.display import shown_name

Message = dict[str, Any]
_KEYS: Final = ("tool_calls", "output", "content")
"""Where a response or message has its parts, the calls first."""
Form = Literal["tool_use", "tool_calls", "function_call", "text", "native"]
"""Anthropic's Messages, OpenAI's Chat Completions and Responses, tags or JSON in a text, a dialect of a model family."""


@dataclass(frozen=True, slots=True)
class RequestedCall:
    """One call that a model asks for.

    Attributes:
        tool: The tool as the model names it.
        arguments: What it sends, as an object or as text.
        id: The id that the result must carry; None in a text.
        server: The server, where the text names one.
        may_be_cut: Whether it is the last call of an answer that was cut off.
    """

    tool: str
    arguments: Any
    id: str | None = None
    server: str | None = None
    may_be_cut: bool = False


@dataclass(frozen=True, slots=True)
class Requested:
    """The calls of one answer.

    Attributes:
        form: How they were written.
        calls: The calls, in their order; none where the model has finished.
        unreadable: Why a text that holds a call cannot be read.
        tool: The tool that this text names, if only one.
        around: The tag around calls of known tools, which are not read as it is no known server's; "" if there is none.
        prose: What text is beside calls in a text.
    """

    form: Form
    calls: tuple[RequestedCall, ...] = ()
    unreadable: str | None = None
    tool: str = ""
    around: str = ""
    prose: Prose = "none"


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool answered.

    Attributes:
        tool: The tool as the model named it.
        id: The id of the call.
        text: The answer as text.
        is_error: Whether it is an error.
        images: Its images, each as ``(media type, base64)``.
    """

    tool: str
    id: str | None
    text: str
    is_error: bool = False
    images: tuple[tuple[str, str], ...] = field(default=())


def requested_calls(
    answer: Any,
    tools: Mapping[str, Any],
    dialect: str | Iterable[str] | None = None,
    servers: Iterable[str] = (),
) -> Requested:
    """Read the calls of a model's answer.

    Args:
        answer: A text; a response, message or block of Anthropic's or OpenAI's API, as JSON or as its SDK's object.
        tools: The input schemas of the tools by name; a call of another tool is returned as well.
        dialect: As for :func:`mcp_lenient.parse_tool_calls`.
        servers: As for :func:`mcp_lenient.parse_tool_calls`.

    Raises:
        ToolCallError: When a block of a response names no tool.
        TypeError: When it is none of these.
    """
    # A call of a tool that is not there is read all the same, so that its caller learns which there are.
    listed = KnownTools.of(tools, servers, is_open=True)
    blocks = _blocks(answer)
    requested = (
        _in_text(blocks, listed, dialect) if isinstance(blocks, str) else _in_blocks(blocks, listed, dialect)
    )
    if not requested.calls or not _is_cut_off(_as_json(answer), blocks):
        return requested
    *calls, last = requested.calls
    return replace(requested, calls=(*calls, replace(last, may_be_cut=True)))


def _in_blocks(
    blocks: list[Mapping[str, Any]], listed: KnownTools, dialect: str | Iterable[str] | None
) -> Requested:
    calls = [call for block in blocks if (call := _call_in(block)) is not None]
    if calls:
        first = calls[0][0]
        return Requested(first, tuple(call for form, call in calls if form == first))
    text = "".join(block["text"] for block in blocks if isinstance(block.get("text"), str))
    return _in_text(text, listed, dialect)


_ENDS: Final = ("stop_reason", "finish_reason", "status")
_CUT_OFF: Final = frozenset(
    "max_tokens model_context_window_exceeded"  # Anthropic; the first in capitals: Gemini
    " length content_filter incomplete model_length".split()  # OpenAI; the last: Mistral
)


def _is_cut_off(answer: Any, blocks: list[Mapping[str, Any]] | str) -> bool:
    """Return whether an answer, its first choice, its metadata (LangChain) or one of its parts says that it was cut off."""
    parts = [answer, *(() if isinstance(blocks, str) else blocks)]
    if isinstance(answer, Mapping):
        choices = answer.get("choices")
        parts += [answer.get("response_metadata"), *(choices[:1] if isinstance(choices, Sequence) else ())]
    ends = [part.get(key) for part in parts if isinstance(part, Mapping) for key in _ENDS]
    return any(isinstance(end, str) and end.lower() in _CUT_OFF for end in ends)


def _blocks(value: Any) -> list[Mapping[str, Any]] | str:
    """Return the parts of a response that may be calls, or the text that is all of it."""
    value = _as_json(value)
    if isinstance(value, Mapping):
        if isinstance(value.get("choices"), Sequence) and value["choices"]:
            value = value["choices"][0]["message"]
        for key in _KEYS:
            if value.get(key):
                return _blocks(value[key])
        if "type" in value and not value.keys() & set(_KEYS):
            return [value]
        if value.keys() & {"choices", *_KEYS}:
            return ""
    if isinstance(value, str):
        return value
    if isinstance(value, Iterable):
        blocks = list(map(_as_json, value))
        if all(isinstance(block, Mapping) for block in blocks):
            return blocks
    what = "a text, or a response, message or blocks of Anthropic's or OpenAI's API"
    msg = f"dispatch: the answer must be {what}"
    raise TypeError(msg)


def _as_json(value: Any) -> Any:
    return value.model_dump() if hasattr(value, "model_dump") else value


_Block = tuple[Form, str, str]
_FUNCTION: Final[_Block] = ("tool_calls", "arguments", "id")
_BLOCKS: Final[Mapping[str, _Block]] = {
    "tool_use": ("tool_use", "input", "id"),
    "function_call": ("function_call", "arguments", "call_id"),
    "tool_call": ("tool_calls", "args", "id"),  # as LangChain writes it
}
"""The form of a block of each type, and its keys of the arguments and the id."""


def _call_in(block: Mapping[str, Any]) -> tuple[Form, RequestedCall] | None:
    function: Any = block.get("function")
    is_function = isinstance(function, Mapping)
    keys = _FUNCTION if is_function else _BLOCKS.get(str(block.get("type")))
    if keys is None:
        return None
    form, arguments, id_key = keys
    called: Mapping[str, Any] = function if is_function else block
    name = called.get("name")
    if not isinstance(name, str) or not name:
        msg = "A call in the response names no tool."
        raise ToolCallError(msg)
    return form, RequestedCall(name, called.get(arguments), block.get(id_key))


_WORD: Final = re.compile(r"[\w.-]+")
_OPENED: Final = re.compile(r"^<([A-Za-z_][\w.-]*)>", re.MULTILINE)
"""A tag at the start of a line, which may be that of a server."""
_MOST_TAGS: Final = 8


def _in_text(text: str, tools: KnownTools, dialect: str | Iterable[str] | None) -> Requested:
    try:
        answer = answer_in(text, tools, dialect)[1]
    except ToolCallError as error:
        form: Form = "native" if is_native(text, dialect) else "text"
        if isinstance(error, NoToolCallError):
            return _in_unknown_tag(text, tools, dialect) or Requested(form)
        return Requested(form, unreadable=str(error), tool=_named_in(text, tools))
    calls = (entry.call for entry in answer.calls)
    return Requested(
        "native" if answer.calls[0].dialect in NATIVE else "text",
        tuple(RequestedCall(call.tool, call.arguments, None, call.server) for call in calls),
        prose=answer.prose,
    )


def _in_unknown_tag(text: str, tools: KnownTools, dialect: str | Iterable[str] | None) -> Requested | None:
    """Return the tag around calls of known tools that would be read if it were a known server's; None if there is none."""
    for tag in dict.fromkeys(_OPENED.findall(text)[:_MOST_TAGS]):
        try:
            entries = answer_in(text, replace(tools, servers=tools.servers | {tag}), dialect)[1].calls
        except ToolCallError:
            continue
        if all(tools.lists(entry.call.tool) for entry in entries):
            return Requested("text", tool=entries[0].call.tool, around=tag)
    return None


def _named_in(text: str, tools: KnownTools) -> str:
    """Return the only known tool whose name is in a text as a whole word; "" if there is none or are several."""
    words = frozenset(_WORD.findall(text))
    named = [name for name in tools.schemas or () if name in words]
    return named[0] if len(named) == 1 else ""


def result_messages(form: Form, answers: Sequence[ToolAnswer]) -> list[Message]:
    """Write answers as the messages or items that come next in the conversation, in the form of the calls."""
    if not answers:
        return []
    match form:
        case "tool_use":
            return [{"role": "user", "content": [_result_block(answer) for answer in answers]}]
        case "tool_calls":
            return [{"role": "tool", "tool_call_id": answer.id, "content": answer.text} for answer in answers]
        case "function_call":
            return [
                {"type": "function_call_output", "call_id": item.id, "output": item.text} for item in answers
            ]
        case "text":
            return [{"role": "user", "content": "\n".join(map(_in_tag, answers))}]
        case "native":  # the model's own chat template puts them into its dialect
            return [{"role": "tool", "name": shown_name(item.tool), "content": item.text} for item in answers]


def _result_block(answer: ToolAnswer) -> dict[str, Any]:
    images = [
        {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}
        for kind, data in answer.images
    ]
    content: Any = [{"type": "text", "text": answer.text}, *images] if images else answer.text
    block = {"type": "tool_result", "tool_use_id": answer.id, "content": content}
    return {**block, "is_error": True} if answer.is_error else block


def _in_tag(answer: ToolAnswer) -> str:
    named = {"tool": shown_name(answer.tool)} if answer.tool else {}
    failed = {"is_error": True} if answer.is_error else {}
    inner = json.dumps({**named, "result": answer.text, **failed}, ensure_ascii=False)
    # What a tool answers must not end the tag; JSON may write the slash with a backslash.
    inner = inner.replace("</", "<\\/")
    return f"<tool_result>\n{inner}\n</tool_result>"
