"""A form of calls as data, and the two grammars that most forms share: calls of JSON or Python, and calls in parts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from mcp_lenient.text_calls.call import Calls, JsonCalls, ToolCall
from mcp_lenient.text_calls.dialects import python
from mcp_lenient.text_calls.known_tools import KnownTools
from mcp_lenient.text_calls.source import Source

Reader = Callable[["Dialect", Source, re.Match[str]], Calls]
"""Reads the calls from a match of the opener; returns them and their end."""
Value = Callable[[Source, str, re.Match[str], str], tuple[str, Any]]
"""Returns the name and value of a parameter: from the source, the tool, what opens the parameter, and the raw value."""


def whole(row: Dialect, source: Source, opener: re.Match[str]) -> Calls:
    """Read calls that are one JSON value, or a list in Python, between the opener and the end."""
    calls: list[ToolCall] = []
    begun: re.Match[str] | None = opener
    while begun:
        at = begun.end()
        if python.LIST.match(source.text, at):
            end = source.end(at)[0]
            calls += python.calls_between(source, at, end)
        else:
            value, end = source.json(at)
            in_json = JsonCalls(source, at).read(value)
            if in_json is None:
                raise source.error(at, "the JSON here does not have both a tool's name and arguments")
            calls += in_json
        begun = row.more and row.more.match(source.text, end)
    return calls, row.expect(source, row.end, end).end()


def parts(row: Dialect, source: Source, opener: re.Match[str]) -> Calls:
    """Read calls whose name is between tokens, before JSON or before parameters."""
    at, calls = opener.end(), []
    call: re.Match[str] | None = opener if row.call is None else row.expect(source, row.call, at)
    while call is not None:
        arguments, at = _arguments(row, source, call)
        calls.append(ToolCall(None, call["name"], arguments))
        call = row.call.match(source.text, at) if row.call and row.close else None
    if row.close and (opener[0] or row.close.match(source.text, at)):
        at = row.expect(source, row.close, at).end()
    return calls, at


def _arguments(row: Dialect, source: Source, call: re.Match[str]) -> tuple[dict[str, Any], int]:
    tool, at = call["name"], call.end()
    if call.groupdict().get("empty"):
        return {}, at
    if row.parameter is None or source.text.startswith("{", source.past_space(at)):
        arguments, at = source.json_object(at)
    else:
        value_of = partial(row.value, source, tool)
        arguments, at = source.parameters(at, row.parameter, row.value_end, value_of, tool, row.part)
    return arguments, row.expect(source, row.end, at).end()


@dataclass(frozen=True, slots=True)
class Dialect:
    """A form of the calls of a model family.

    Attributes:
        name: The name for ``dialect=``.
        opener: The pattern that begins a call or a group of calls.
        form: An example, for errors.
        call: What opens a call up to its arguments, with its ``name``, and ``empty`` if it has none; None if the opener does.
        end: What ends a call.
        close: What ends the group of calls that the opener begins, if that is not empty; None if it begins a single call.
        more: What is between one JSON value and the next.
        parameter: What opens a parameter, with its ``key``; None if the arguments are only written as JSON.
        value_end: What ends the value of a parameter.
        part: What in a value may be a part of the call, which is an error.
        value: What a parameter means.
        reader: The grammar: :func:`parts`, :func:`whole`, or one of its own.
        is_markup: Whether its tags are ordinary markup, which may be beside JSON and is answered in tags.
        is_call: Whether a match of ``opener`` is a call, given the known tools.
    """

    name: str
    opener: re.Pattern[str]
    form: str = ""
    call: re.Pattern[str] | None = None
    end: re.Pattern[str] = re.compile("")
    close: re.Pattern[str] | None = None
    more: re.Pattern[str] | None = None
    parameter: re.Pattern[str] | None = None
    value_end: re.Pattern[str] | None = None
    part: re.Pattern[str] | None = None
    value: Value = lambda _source, _tool, parameter, raw: (parameter["key"], raw)
    reader: Reader = parts
    is_markup: bool = False
    is_call: Callable[[KnownTools, re.Match[str]], bool] = lambda _tools, _opener: True

    def expect(self, source: Source, pattern: re.Pattern[str], at: int) -> re.Match[str]:
        """Match a pattern of the form at a position."""
        return source.expect(pattern, at, f"the form {self.form}")
