"""Tool calls that an agent wrote as text: one reading of each, or an error that says what was found where."""

from __future__ import annotations

from mcp_lenient.errors import ToolCallError
from mcp_lenient.text_calls.call import ToolCall
from mcp_lenient.text_calls.scan import Found, find_calls
from mcp_lenient.text_calls.source import Source
from mcp_lenient.values.display import shown
from mcp_lenient.values.limits import Limits

__all__ = ["ToolCall", "parse_tool_call", "parse_tool_calls"]


def parse_tool_call(text: str, *, limits: Limits | None = None) -> ToolCall:
    """The one tool call that a text holds, whatever prose stands around it.

    >>> parse_tool_call('I will look. <web><search>{"query": "weather"}</search></web>')
    ToolCall(server='web', tool='search', arguments={'query': 'weather'})

    Args:
        text: What an agent wrote; see :func:`parse_tool_calls` for the forms.
        limits: As there.

    Raises:
        ToolCallError: When the text holds no call, more than one, or one that has two readings.
    """
    source, found = _found(text, limits)
    if len(found) > 1:
        told = [f"'{shown(each.call.tool)}' at {source.where(each.at)}" for each in found[:2]]
        told += ["..."] * (len(found) > 2)
        msg = f"The text holds {len(found)} tool calls where one is expected: {', '.join(told)}."
        raise ToolCallError(msg)
    return found[0].call


def parse_tool_calls(text: str, *, limits: Limits | None = None) -> tuple[ToolCall, ...]:
    """All tool calls that a text holds, in their order.

    >>> parse_tool_calls('{"name": "a", "arguments": "{}"} and then <b>{"n": 1}</b>')
    (ToolCall(server=None, tool='a', arguments={}), ToolCall(server=None, tool='b', arguments={'n': 1}))

    A call is ``<server><tool>{...}</tool></server>``, ``<tool>{...}</tool>``, or a JSON object with a name
    (``name``, ``tool``, ``tool_name``, ``function``) and arguments (``arguments``, ``args``, ``input``,
    ``parameters``, ``params``; also as JSON text), bare, fenced, in a list, inside OpenAI's
    ``{"type": "function", "function": {...}}`` or ``tool_calls``, or in tags like ``<tool_call>``. Where
    plain JSON fails, JSON5 and Python literals are read. What stands in ``<think>``, in ``<tool_response>``
    and the like or in a comment is no call.

    Args:
        text: What an agent wrote.
        limits: Bounds on the whole text (``text``), on JSON5 and Python (``relaxed_text``) and on
            nesting (``depth``); the others do not apply.

    Raises:
        ToolCallError: When the text holds no call, or anything that has two readings, is cut off, names a
            key twice or goes beyond the limits; says what and where. 1,000 calls at most are read.
    """
    return tuple(each.call for each in _found(text, limits)[1])


def _found(text: str, limits: Limits | None) -> tuple[Source, list[Found]]:
    source = Source.of(text, limits or Limits())
    return source, find_calls(source)
