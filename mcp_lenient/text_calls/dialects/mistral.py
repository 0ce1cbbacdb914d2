"""Mistral: ``[TOOL_CALLS]`` with a JSON array (to v7), or with ``name[ARGS]{...}`` (v11 and later)."""

from __future__ import annotations

import re
from typing import Final

from mcp_lenient.text_calls.call import ToolCall, calls_at
from mcp_lenient.text_calls.native import NAME, Dialect, Reader

_OPENER: Final = re.compile(r"\[TOOL_CALLS\]\s*")
_NAMED: Final = re.compile(rf"(?P<name>{NAME})(?:\[CALL_ID\]\w{{1,64}})?\[ARGS\]\s*")


def _read(reader: Reader, opener: re.Match[str]) -> tuple[list[ToolCall], int]:
    at = opener.end()
    if reader.text[at : at + 1] == "[":
        value, end = reader.json(at)
        calls = calls_at(reader.source, value, at)
        if calls is None:
            raise reader.source.error(at, "the array contains no tool call")
        return calls, end
    named = reader.expect(_NAMED, at, "a tool's name and [ARGS]")
    arguments, end = reader.json_object(named.end())
    return [ToolCall(None, named["name"], arguments)], end


DIALECT: Final = Dialect("mistral", _OPENER, _read, re.compile(r"\[ARGS\]|\[CALL_ID\]"))
