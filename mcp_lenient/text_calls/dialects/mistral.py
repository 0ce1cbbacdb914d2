"""Mistral: ``[TOOL_CALLS]`` with a JSON array (to v7), or with ``name[ARGS]{...}`` (v11 and later).

vLLM's tokenizer (0.10 to 0.20) drops ``[ARGS]``, so that its parser reads ``[TOOL_CALLS]name{...}``. An ID before ``[ARGS]``
would then be a part of the name, so this is only a call if the tool is known.
"""

from __future__ import annotations

import re
from typing import Final

from mcp_lenient.text_calls.call import Calls, JsonCalls, ToolCall
from mcp_lenient.text_calls.native import NAME, Dialect
from mcp_lenient.text_calls.source import Source

_OPENER: Final = re.compile(r"\[TOOL_CALLS\]\s*")
_NAMED: Final = re.compile(rf"(?P<name>{NAME})(?:\[CALL_ID\]\w{{1,64}})?\[ARGS\]\s*")
_BARE: Final = re.compile(rf"(?P<name>{NAME})(?=\{{)")


def _read(source: Source, opener: re.Match[str]) -> Calls:
    at = opener.end()
    if source.text[at : at + 1] == "[":
        value, end = source.json(at)
        calls = JsonCalls(source, at).read(value)
        if calls is None:
            raise source.error(at, "the array contains no tool call")
        return calls, end
    name, start = _name(source, at)
    arguments, end = source.json_object(start)
    return [ToolCall(None, name, arguments)], end


def _name(source: Source, at: int) -> tuple[str, int]:
    """Return the name of the tool at a position, and the position of its arguments."""
    bare = _BARE.match(source.text, at)
    if bare is not None and not source.tools.lists(bare["name"]):
        what = "expected [ARGS] after the name of the tool, which is not among the given tools"
        raise source.error(at, what)
    named = bare or source.expect(_NAMED, at, "a tool's name and [ARGS]")
    return named["name"], named.end()


DIALECT: Final = Dialect("mistral", _OPENER, _read)
