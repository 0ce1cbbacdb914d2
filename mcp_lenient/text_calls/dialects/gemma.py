"""Gemma 4: ``<|tool_call>call:name{key:<|"|>text<|"|>,other:1}<tool_call|>``."""

from __future__ import annotations

import json
import re
from typing import Final

from mcp_lenient.text_calls.call import Calls, ToolCall
from mcp_lenient.text_calls.native import NAME
from mcp_lenient.text_calls.source import Source
from mcp_lenient.values.display import shown
from mcp_lenient.values.json_values import container

_CALL: Final = re.compile(rf"\s*call:(?P<name>{NAME})\s*(?=\{{)")
_TOKEN: Final = re.compile(
    r'\s*(?:<\|"\|>(?:(?P<text>.*?)<\|"\|>|(?P<cut>))|(?P<key>[^<>{}\[\]:,"\n]{1,256}?)\s*(?=:)'
    r"|(?P<sign>[{}\[\]:,])|(?P<literal>true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?=\s*[,}\]]))",
    re.DOTALL,
)
"""A string, a bare name, a sign or a literal."""
_END: Final = re.compile(r"\s*<tool_call\|>")
_DEPTH: Final = {"{": 1, "[": 1, "}": -1, "]": -1}


def read(_row: object, source: Source, opener: re.Match[str]) -> Calls:
    """Read the call after an opener; return it and its end."""
    call = source.expect(_CALL, opener.end(), "call:name{...}")
    written: list[str] = []
    at, depth = call.end(), 0
    while depth or not written:
        token = source.expect(_TOKEN, at, "a name and a colon, a value, a comma or a bracket")
        if token["cut"] is not None:
            raise source.error(source.past_space(at), "a string is not closed; the call may be cut off")
        depth += _DEPTH.get(token["sign"], 0)
        text = token["text"] if token["text"] is not None else token["key"]
        written.append(token["sign"] or token["literal"] or json.dumps(text))
        at = token.end()
    arguments = container("".join(written), source.limits, frozenset({"json"}))
    if not isinstance(arguments, dict):
        what = "are not well formed, or have a name twice, a number that would lose digits, a backspace or form feed"
        raise source.error(call.end(), f"the arguments of '{shown(call['name'])}' {what}")
    return [ToolCall(None, call["name"], arguments)], source.expect(_END, at, "<tool_call|>").end()
