"""Gemma 4: ``<|tool_call>call:name{key:<|"|>text<|"|>,other:1}<tool_call|>``."""

from __future__ import annotations

import re
from typing import Any, Final

from mcp_lenient.text_calls.call import ToolCall
from mcp_lenient.text_calls.native import NAME, Dialect
from mcp_lenient.text_calls.source import Source

_OPENER: Final = re.compile(r"<\|tool_call>")
_CALL: Final = re.compile(rf"\s*call:(?P<name>{NAME})\s*(?=\{{)")
_QUOTE: Final = '<|"|>'
_KEY: Final = re.compile(
    r'\s*(?:<\|"\|>(?P<quoted>[^<>]{1,256})<\|"\|>|(?P<bare>[^<>{}\[\]:,"\n]{1,256}?))\s*:'
)
_LITERAL: Final = re.compile(r"(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?=\s*[,}\]])")
_NEXT: Final = re.compile(r"\s*(?P<sign>[,}\]])")


def _read(source: Source, opener: re.Match[str]) -> tuple[list[ToolCall], int]:
    call = source.expect(_CALL, opener.end(), "call:name{...}")
    arguments, end = _container(source, call.end(), 0)
    return [ToolCall(None, call["name"], arguments)], source.past(end, "<tool_call|>")


def _container(source: Source, at: int, depth: int) -> tuple[Any, int]:
    """Parse the object or array that begins at a position; return it and its end."""
    closing = "}" if source.text[at] == "{" else "]"
    entries: dict[str, Any] = {}
    items: list[Any] = []
    found = entries if closing == "}" else items
    at = source.past_space(at + 1)
    if source.text[at : at + 1] == closing:
        return found, at + 1
    while True:
        if found is items:
            value, end = _value(source, at, depth + 1)
            items.append(value)
        else:
            key = source.expect(_KEY, at, "a name and a colon")
            value, end = _value(source, key.end(), depth + 1)
            source.put(entries, key["quoted"] or key["bare"], value, at)
        sign = source.expect(_NEXT, end, "a comma or a closing bracket")
        if sign["sign"] == closing:
            return found, sign.end()
        if sign["sign"] != ",":
            raise source.error(sign.start(), f"expected {closing}")
        at = sign.end()


def _value(source: Source, at: int, depth: int) -> tuple[Any, int]:
    at = source.past_space(at)
    if depth > source.limits.depth:
        raise source.error(at, f"the call nests deeper than {source.limits.depth} levels")
    if source.text.startswith(_QUOTE, at):
        end = source.text.find(_QUOTE, at + len(_QUOTE))
        if end < 0:
            raise source.error(at, "a string is not closed; the call may be cut off")
        return source.text[at + len(_QUOTE) : end], end + len(_QUOTE)
    if source.text[at : at + 1] in ("{", "["):
        return _container(source, at, depth)
    literal = source.expect(_LITERAL, at, "a value")
    return source.scalar(literal[0], at), literal.end()


DIALECT: Final = Dialect("gemma", _OPENER, _read)
