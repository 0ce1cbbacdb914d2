"""Parse tool calls that a model wrote as text; ambiguous text raises an error with its position."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from mcp_lenient.errors import ToolCallError
from mcp_lenient.text_calls.call import Found, ToolCall
from mcp_lenient.text_calls.dialects import (
    anthropic_xml,
    cline_xml,
    deepseek,
    gemma,
    glm,
    harmony,
    kimi,
    llama,
    mistral,
    qwen_xml,
)
from mcp_lenient.text_calls.native import NAME, OPENED, REASONING, Dialect, Reader, native_calls
from mcp_lenient.text_calls.scan import find_calls
from mcp_lenient.text_calls.source import Source, without_mark
from mcp_lenient.text_calls.tools import KnownTools
from mcp_lenient.values.display import shown
from mcp_lenient.values.limits import Limits

__all__ = ["ToolCall", "parse_tool_call", "parse_tool_calls"]


def parse_tool_call(
    text: str,
    *,
    tools: Iterable[Any] | Mapping[str, Any] | None = None,
    dialect: str | None = None,
    limits: Limits | None = None,
) -> ToolCall:
    """Parse the only tool call in a text; prose around it is ignored.

    >>> parse_tool_call('I will look. <web><search>{"query": "weather"}</search></web>')
    ToolCall(server='web', tool='search', arguments={'query': 'weather'})

    Args:
        text: The model's output; see :func:`parse_tool_calls` for the forms.
        tools: See :func:`parse_tool_calls`.
        dialect: See :func:`parse_tool_calls`.
        limits: See :func:`parse_tool_calls`.

    Raises:
        ToolCallError: When the text contains no call, more than one, or an ambiguous one.
        ValueError: When the dialect does not exist.
        TypeError: When ``tools`` are neither names nor definitions.
    """
    source, found = _found(text, tools, dialect, limits)
    if len(found) > 1:
        listed = [f"'{shown(each.call.tool)}' at {source.where(each.at)}" for each in found[:2]]
        listed += ["..."] * (len(found) > 2)
        msg = f"The text contains {len(found)} tool calls, but one was expected: {', '.join(listed)}."
        raise ToolCallError(msg)
    return found[0].call


def parse_tool_calls(
    text: str,
    *,
    tools: Iterable[Any] | Mapping[str, Any] | None = None,
    dialect: str | None = None,
    limits: Limits | None = None,
) -> tuple[ToolCall, ...]:
    r"""Parse all tool calls in a text, in order.

    >>> parse_tool_calls('{"name": "a", "arguments": "{}"}\nand then <b>{"n": 1}</b>')
    (ToolCall(server=None, tool='a', arguments={}), ToolCall(server=None, tool='b', arguments={'n': 1}))
    >>> parse_tool_calls('[TOOL_CALLS]search[ARGS]{"query": "tea"}')
    (ToolCall(server=None, tool='search', arguments={'query': 'tea'}),)

    A call is ``<server><tool>{...}</tool></server>``, ``<tool>{...}</tool>``, or a JSON object with a name
    (``name``, ``tool``, ``tool_name``, ``function``) and arguments (``arguments``, ``args``, ``input``,
    ``parameters``, ``params``; also as JSON text), on lines of its own, fenced, in a list, inside OpenAI's
    ``{"type": "function", "function": {...}}`` or ``tool_calls``, or in tags such as ``<tool_call>``. A call without
    arguments may be ``<tool/>`` on a line of its own; one that begins with a capital letter, or is in other markup, only if
    it is among ``tools``. If plain JSON fails, JSON5 and Python literals are tried.

    The native forms of model families are parsed as well: ``qwen_xml``, ``glm``, ``deepseek``, ``kimi``, ``mistral``,
    ``harmony`` (gpt-oss), ``llama`` and ``gemma``. A text is parsed in one dialect, that of its first call. Two other forms
    with tags may be beside JSON: ``anthropic_xml``, which is ``<invoke name="tool"><parameter name="key">value</parameter>
    </invoke>``, and ``cline_xml``, which is ``<tool><key>value</key></tool>`` for a tool among ``tools``. Their values are
    text; :func:`mcp_lenient.normalize` turns ``"5"`` into 5.

    Reasoning (such as ``<think>``, ``[THINK]``, the analysis channel of Harmony), results, comments and quoted calls are
    not calls. A call in tags is quoted if it neither begins nor ends a line of prose nor comes between two sentences, if
    its sentence goes on after it, or if it is in backticks, a Markdown quotation, list, table or indented code block, or
    HTML's elements for code, quotations, list items and table cells; JSON is quoted if it is not on lines of its own.
    A native call is quoted where a call in tags is. A fence that contains anything besides calls quotes them. The
    record of a call, such as one with the status ``failed`` or of the type ``tool_result``, is an error. So is a call
    inside any other element, such as ``<scratchpad>`` or ``<document>``: only ``<tool_call>``, ``<tool_calls>``,
    ``<function_call>``, ``<function_calls>``, ``<tool_use>``, ``<minimax:tool_call>`` and the tag of a server may be
    around calls. So is a call after a special token, such as ``<|im_start|>user`` or ``[TOOL_RESULTS]``, unless the
    token belongs to the model's own turn.

    Args:
        text: The model's output.
        tools: The tools that may be called: names, MCP or OpenAI definitions, or a mapping of names to input schemas.
            Calls of other tools are errors. Schemas decide which values in Qwen's and GLM's XML are strings; without
            them an ambiguous value is an error. Default: any tool, and no call is in the form of ``cline_xml``.
        dialect: The dialect, one of those named here or ``json``; a call in another one is not read. Default: detected.
        limits: Bounds on the whole text (``text``), on JSON5 and Python (``relaxed_text``) and on
            nesting (``depth``); the other limits do not apply.

    Raises:
        NoToolCallError: When the text holds no call.
        ToolCallError: When it holds anything that has two readings, is cut off, names a
            key twice or goes beyond the limits; says what and where. 1,000 calls at most are read.
        ValueError: When there is no such dialect.
        TypeError: When ``tools`` are neither names nor definitions.
    """
    return tuple(each.call for each in _found(text, tools, dialect, limits)[1])


def _found(
    text: str, tools: Iterable[Any] | Mapping[str, Any] | None, dialect: str | None, limits: Limits | None
) -> tuple[Source, list[Found]]:
    if dialect is not None and dialect != JSON and dialect not in DIALECTS:
        msg = f"dialect must be one of {', '.join(sorted([JSON, *DIALECTS]))}, but is {dialect!r}"
        raise ValueError(msg)
    known = KnownTools.of(tools)
    source = Source.of(text, limits or Limits())
    chosen = dialect_of(source.text, known) if dialect is None else DIALECTS.get(dialect)
    if chosen is None:
        return source, find_calls(source, known, _IN_PROSE if dialect is None else ())
    if chosen.is_prose:
        return source, find_calls(source, known, [chosen], chosen.name)
    others = [each for each in _NATIVE if each is not chosen]
    return source, native_calls(Reader(source, known), chosen, others)


JSON: Final = "json"
"""JSON, also in tags, fences and lists: Hermes, Qwen 2.5 and 3, Llama 3, OpenAI, Anthropic."""
DIALECTS: Final[dict[str, Dialect]] = {
    each.DIALECT.name: each.DIALECT
    for each in (qwen_xml, glm, deepseek, kimi, mistral, harmony, llama, gemma, anthropic_xml, cline_xml)
}
_IN_PROSE: Final = tuple(each for each in DIALECTS.values() if each.is_prose)
_NATIVE: Final = tuple(each for each in DIALECTS.values() if not each.is_prose)
_JSON: Final = re.compile(
    rf"""\A\s*(?:```[\w+-]*\s*)?(?:\{{|\[\s*\{{)|<{NAME}>\s*(?:<{NAME}>\s*)?(?=\{{|\[\s*\{{|```|"\s*\{{)""",
    re.ASCII,
)


def dialect_of(text: str, tools: KnownTools) -> Dialect | None:
    """Return the native dialect of a text; None if its calls are JSON or tags in prose, or it has none."""
    start = _past_reasoning(text)
    in_prose = [at for each in _IN_PROSE if (at := _first_call(each, text, start, tools)) is not None]
    json_at = _JSON.search(text, start)
    if json_at is not None:
        in_prose.append(json_at.start())
    found = [
        (match.start(), dialect)
        for dialect in _NATIVE
        if (match := dialect.opener.search(text, start)) is not None
    ]
    first = min(found, key=lambda each: each[0], default=None)
    return None if first is None or min(in_prose, default=first[0]) < first[0] else first[1]


def _first_call(dialect: Dialect, text: str, start: int, tools: KnownTools) -> int | None:
    openers = dialect.opener.finditer(text, start)
    return next((opener.start() for opener in openers if dialect.is_call(tools, opener)), None)


def is_native(text: str, tools: Mapping[str, Any], dialect: str | None) -> bool:
    """Return whether the calls of a text are in the dialect of a model family, whose chat template writes the results."""
    if dialect is not None:
        return dialect in DIALECTS and not DIALECTS[dialect].is_prose
    return dialect_of(without_mark(text), KnownTools.of(tools)) is not None


def _past_reasoning(text: str) -> int:
    """Return the end of the reasoning at the beginning of a text; 0 if there is none."""
    opened = OPENED.match(text, len(text) - len(text.lstrip()))
    for opening, closing in REASONING:
        end = text.find(closing)
        if end >= 0 and (opening == opened[0] if opened else text.find(opening, 0, end) < 0):
            rest = end + len(closing)
            if opened or any(each.opener.search(text, rest) for each in _NATIVE):
                return rest
    return 0
