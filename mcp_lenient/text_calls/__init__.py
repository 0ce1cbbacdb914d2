"""Parse tool calls that a model wrote as text; ambiguous text raises an error with its position."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mcp_lenient.errors import ToolCallError
from mcp_lenient.text_calls.call import ToolCall
from mcp_lenient.text_calls.dialects.table import DIALECTS, NATIVE, ROWS
from mcp_lenient.text_calls.known_tools import KnownTools
from mcp_lenient.text_calls.scan import JSON, AnswerCalls, read_answer
from mcp_lenient.text_calls.source import Source
from mcp_lenient.values.display import shown
from mcp_lenient.values.limits import Limits

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
    calls = answer.calls
    if len(calls) > 1:
        listed = [f"'{shown(call.call.tool)}' at {source.where(call.at)}" for call in calls[:2]]
        listed += ["..."] * (len(calls) > 2)
        msg = f"The text contains {len(calls)} tool calls, but one was expected: {', '.join(listed)}."
        raise ToolCallError(msg)
    return calls[0].call


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

    A text is parsed in one dialect, that of its first call. ``docs/how-to/dialects.md`` has the forms, ``agents.md`` beside it
    where a call is read: what the text may quote is prose.

    Args:
        text: The model's output.
        tools: The tools that may be called: names, MCP or OpenAI definitions, or a mapping of names to input schemas, which
            decide which values in Qwen's and GLM's XML are strings. Default: any tool.
        dialect: The dialects that the prompt asked for, one or several. Default: all of them.
        servers: The names of servers, whose tags may be around those of their tools.
        limits: Bounds on the whole text (``text``), on JSON5 and Python (``relaxed_text``) and on nesting (``depth``).

    Raises:
        NoToolCallError: When the text holds no call.
        ToolCallError: When a call has two readings, is cut off, names a key twice, is not of these tools, stands beside text
            that is not plain, or goes beyond the limits; says what and where. 1,000 calls at most are read.
        ValueError: When there is no such dialect; names the known ones.
        TypeError: When ``tools`` are neither names nor definitions.
    """
    known_tools = KnownTools.of(tools, servers)
    return tuple(entry.call for entry in answer_in(text, known_tools, dialect, limits)[1].calls)


def answer_in(
    text: str, tools: KnownTools, dialect: str | Iterable[str] | None, limits: Limits | None = None
) -> tuple[Source, AnswerCalls]:
    """Return a text and the calls in it; see :func:`parse_tool_calls`."""
    chosen = _chosen(dialect)
    source = Source.of(text, limits or Limits(), tools)
    return source, read_answer(source, [row for row in ROWS if row.name in chosen], takes_json=JSON in chosen)


def _chosen(dialect: str | Iterable[str] | None) -> frozenset[str]:
    dialects = DIALECTS | {JSON}
    chosen = dialects if dialect is None else frozenset([dialect] if isinstance(dialect, str) else dialect)
    for name in chosen - dialects or () if chosen else ("",):
        msg = f"dialect must be one or several of {', '.join(sorted(dialects))}, but is {name!r}"
        raise ValueError(msg)
    return chosen


def is_native(text: str, dialect: str | Iterable[str] | None) -> bool:
    """Return whether a text without a readable call seems to have one in the dialect of a model family."""
    return any(row.opener.search(text) for row in ROWS if row.name in NATIVE & _chosen(dialect))
