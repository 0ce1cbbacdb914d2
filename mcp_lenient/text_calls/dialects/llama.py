"""Llama: JSON after ``<|python_tag|>`` (3), or a list of Python calls (4), as the whole text if a tool is not known."""

from __future__ import annotations

import re
from typing import Final

from mcp_lenient.text_calls.call import ToolCall, calls_at
from mcp_lenient.text_calls.dialects import python
from mcp_lenient.text_calls.native import Dialect, TextReader

_OPENER: Final = re.compile(
    r"<\|python_tag\|>\s*(?=\{)|(?P<python>(?:\A|<\|python_start\|>)\s*(?=\[\s*[^\W\d][\w.]*\())"
)
_MORE: Final = re.compile(r"\s*;\s*(?=\{)")
_PYTHON_END: Final = re.compile(r"\s*<\|python_end\|>\s*|\s*(?:<\|(?:eot|eom)(?:_id)?\|>\s*)?\Z")


def _read(reader: TextReader, opener: re.Match[str]) -> tuple[list[ToolCall], int]:
    return _python(reader, opener) if opener["python"] is not None else _json(reader, opener.end())


def _json(reader: TextReader, at: int) -> tuple[list[ToolCall], int]:
    calls: list[ToolCall] = []
    while True:
        value, end = reader.json_object(at)
        own = calls_at(reader.source, value, at)
        if own is None:
            raise reader.source.error(at, "the object does not have both a tool name and arguments")
        calls += own
        more = _MORE.match(reader.text, end)
        if more is None:
            return calls, end
        at = more.end()


def _python(reader: TextReader, opener: re.Match[str]) -> tuple[list[ToolCall], int]:
    known = python.OPENER.match(reader.text, opener.end())
    if known is not None and not opener["python"].strip() and reader.tools.lists(known["tool"]):
        return python.DIALECT.read(reader, known)
    end = reader.source.end(opener.end())[0]
    calls = python.calls_between(reader, opener.end(), end)
    return calls, reader.expect(_PYTHON_END, end, "the end of the text").end()


DIALECT: Final = Dialect("llama", _OPENER, _read)
