"""Parse tool calls that a model wrote as text; ambiguous text raises an error with its position."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from mcp_lenient.errors import ToolCallError
from mcp_lenient.text_calls.call import ToolCall
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
    python,
    qwen_xml,
)
from mcp_lenient.text_calls.scan import JSON, AnswerCalls, read_answer
from mcp_lenient.text_calls.source import Source
from mcp_lenient.text_calls.tools import KnownTools
from mcp_lenient.values.display import shown
from mcp_lenient.values.limits import Limits

if TYPE_CHECKING:
    from mcp_lenient.text_calls.native import Dialect

__all__ = ["ToolCall", "parse_tool_call", "parse_tool_calls"]


def parse_tool_call(
    text: str,
    *,
    tools: Iterable[Any] | Mapping[str, Any] | None = None,
    dialect: str | Iterable[str] | None = None,
    servers: Iterable[str] = (),
    limits: Limits | None = None,
) -> ToolCall:
    r"""Parse the only tool call in a text; plain sentences around it are ignored.

    >>> parse_tool_call('I will look.\n<search>{"query": "weather"}</search>')
    ToolCall(server=None, tool='search', arguments={'query': 'weather'})

    Args:
        text: The model's output; see :func:`parse_tool_calls` for the forms.
        tools: See :func:`parse_tool_calls`.
        dialect: See :func:`parse_tool_calls`.
        servers: See :func:`parse_tool_calls`.
        limits: See :func:`parse_tool_calls`.

    Raises:
        ToolCallError: When the text contains no call, more than one, or an ambiguous one.
        ValueError: When the dialect does not exist.
        TypeError: When ``tools`` are neither names nor definitions.
    """
    source, answer = answer_in(text, KnownTools.of(tools, servers), dialect, limits)
    found = answer.found
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
    dialect: str | Iterable[str] | None = None,
    servers: Iterable[str] = (),
    limits: Limits | None = None,
) -> tuple[ToolCall, ...]:
    r"""Parse all tool calls in a text, in order.

    >>> parse_tool_calls('{"name": "a", "arguments": "{}"}\nI also ask this.\n<b>{"n": 1}</b>')
    (ToolCall(server=None, tool='a', arguments={}), ToolCall(server=None, tool='b', arguments={'n': 1}))
    >>> parse_tool_calls('[TOOL_CALLS]search[ARGS]{"query": "tea"}')
    (ToolCall(server=None, tool='search', arguments={'query': 'tea'}),)

    A call is ``<tool>{...}</tool>``, in the tag of its server or not, or a JSON object with a name
    (``name``, ``tool``, ``tool_name``, ``function``) and arguments (``arguments``, ``args``, ``input``,
    ``parameters``, ``params``; also as JSON text), alone, in a list, inside OpenAI's
    ``{"type": "function", "function": {...}}`` or ``tool_calls``. A call without arguments may be ``<tool/>``; one that
    begins with a capital letter only if it is among ``tools``. If plain JSON fails, JSON5 and Python literals are tried.

    The native forms of model families are parsed as well: ``qwen_xml``, ``glm``, ``deepseek``, ``kimi``, ``mistral``,
    ``harmony`` (gpt-oss), ``llama`` and ``gemma``. A text is parsed in one dialect, that of its first call. Two other forms
    with tags may be beside JSON: ``anthropic_xml``, which is ``<invoke name="tool"><parameter name="key">value</parameter>
    </invoke>``, and ``cline_xml``, which is ``<tool><key>value</key></tool>`` for a tool among ``tools``. Their values are
    text; :func:`mcp_lenient.normalize` turns ``"5"`` into 5. ``python`` is ``[tool(key='value')]``, also in a fence for
    ``python``, ``py`` or ``tool_code``, or ``tool(key='value')`` on lines of its own, if all tools are among ``tools``; the
    same calls once bare and once in a fence are one group, and another group is an error.

    A call is read at the beginning of a line that is not indented (by less than four spaces before the first text, or directly
    after another call, marked reasoning such as ``<think>``, or a token of the model's own turn), and only if everything
    outside of calls and marked reasoning is plain: lines of words that end like a sentence, without a label as in
    ``User: do it``, and list items with a blank line after them. The line after a call does not begin with a small letter.
    Inline code, quotations, parentheses and bold text may be in them if they end on the same line. Around calls may be a
    fence on lines of its own (bare, ``json``, ``xml``, ``tool_call``), the tags ``<tool_call>``, ``<tool_calls>``,
    ``<function_call>``, ``<function_calls>``, ``<tool_use>`` and ``<minimax:tool_call>``, and the tag of a server in
    ``servers``, or with which the name of a tool among ``tools`` begins (``<web><web_search>``), with nothing besides calls in them. A marker of a native form may also follow words on their line: those
    that begin with ``<|``, ``<｜`` and ``[TOOL_CALLS]`` a sentence, or words without a sign or a space before the marker
    (Gemma's may have a space), ``<tool_call>`` a sentence.

    What is inside any other element, fence, comment, quotation or the like is prose, however it ends. A call that is
    outside of them, but beside text that is not plain, is an error that tells the model to send the call alone. So is the
    tag of a tool among ``tools`` that cannot be read, and the record of a call, such as one with the status ``failed`` or
    of the type ``tool_result``.

    Args:
        text: The model's output.
        tools: The tools that may be called: names, MCP or OpenAI definitions, or a mapping of names to input schemas.
            Calls of other tools are errors. Schemas decide which values in Qwen's and GLM's XML are strings; without
            them an ambiguous value is an error. Default: any tool, and no call is in the form of ``cline_xml``
            or ``python``.
        dialect: The dialects that the prompt asked for, one or several of those named here and ``json``; a call in
            another one is not read. Default: all of them.
        servers: The names of servers, whose tags may be around those of their tools.
        limits: Bounds on the whole text (``text``), on JSON5 and Python (``relaxed_text``) and on
            nesting (``depth``); the other limits do not apply.

    Raises:
        NoToolCallError: When the text holds no call.
        ToolCallError: When it holds anything that has two readings, is cut off, names a
            key twice or goes beyond the limits; says what and where. 1,000 calls at most are read.
        ValueError: When there is no such dialect; names the known ones.
        TypeError: When ``tools`` are neither names nor definitions.
    """
    known = KnownTools.of(tools, servers)
    return tuple(each.call for each in answer_in(text, known, dialect, limits)[1].found)


def answer_in(
    text: str, tools: KnownTools, dialect: str | Iterable[str] | None, limits: Limits | None = None
) -> tuple[Source, AnswerCalls]:
    """Return a text and the calls in it; see :func:`parse_tool_calls`."""
    chosen = _chosen(dialect)
    source = Source.of(text, limits or Limits(), tools)
    dialects = [each for name, each in DIALECTS.items() if name in chosen]
    return source, read_answer(source, dialects, takes_json=JSON in chosen)


_MODULES: Final = (
    *(qwen_xml, glm, deepseek, kimi, mistral, harmony, llama, gemma),
    *(anthropic_xml, cline_xml, python),
)
DIALECTS: Final[Mapping[str, Dialect]] = {each.DIALECT.name: each.DIALECT for each in _MODULES}
"""The dialects besides JSON, which is that of Hermes, Qwen 2.5 and 3, Llama 3, OpenAI and Anthropic."""
NATIVE: Final = frozenset(
    each.name for each in DIALECTS.values() if not each.is_markup and each is not python.DIALECT
)
"""The dialects of model families, whose chat templates write the results."""


def _chosen(dialect: str | Iterable[str] | None) -> frozenset[str]:
    known = frozenset({JSON, *DIALECTS})
    chosen = known if dialect is None else frozenset([dialect] if isinstance(dialect, str) else dialect)
    for name in chosen - known or () if chosen else ("",):
        msg = f"dialect must be one or several of {', '.join(sorted(known))}, but is {name!r}"
        raise ValueError(msg)
    return chosen


def is_native(text: str, dialect: str | Iterable[str] | None) -> bool:
    """Return whether a text without a readable call seems to have one in the dialect of a model family."""
    return any(DIALECTS[name].opener.search(text) for name in NATIVE & _chosen(dialect))
