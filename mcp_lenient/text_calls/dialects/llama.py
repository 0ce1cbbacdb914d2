"""Llama: JSON after ``<|python_tag|>`` (3), or a list of Python calls (4), as the whole text if a tool is not known."""

from __future__ import annotations

import re
from typing import Final

from mcp_lenient.text_calls.call import Calls, JsonCalls, ToolCall
from mcp_lenient.text_calls.dialects import python
from mcp_lenient.text_calls.native import Dialect
from mcp_lenient.text_calls.source import Source

_OPENER: Final = re.compile(
    r"<\|python_tag\|>\s*(?=\{)|(?P<python>(?:\A|<\|python_start\|>)\s*(?=\[\s*[^\W\d][\w.]*\())"
)
_MORE: Final = re.compile(r"\s*;\s*(?=\{)")
_PYTHON_END: Final = re.compile(r"\s*<\|python_end\|>\s*|\s*(?:<\|(?:eot|eom)(?:_id)?\|>\s*)?\Z")


def _read(source: Source, opener: re.Match[str]) -> Calls:
    return _python(source, opener) if opener["python"] is not None else _json(source, opener)


def _json(source: Source, begun: re.Match[str]) -> Calls:
    calls: list[ToolCall] = []
    more: re.Match[str] | None = begun
    while more is not None:
        value, end = source.json_object(more.end())
        own = JsonCalls(source, more.end()).read(value)
        if own is None:
            raise source.error(more.end(), "the object does not have both a tool name and arguments")
        calls += own
        more = _MORE.match(source.text, end)
    return calls, end


def _python(source: Source, opener: re.Match[str]) -> Calls:
    known = python.OPENER.match(source.text, opener.end())
    if known is not None and not opener["python"].strip() and source.tools.lists(known["tool"]):
        return python.DIALECT.read(source, known)
    end = source.end(opener.end())[0]
    calls = python.calls_between(source, opener.end(), end)
    return calls, source.expect(_PYTHON_END, end, "the end of the text").end()


DIALECT: Final = Dialect("llama", _OPENER, _read)
