"""Llama: JSON after ``<|python_tag|>`` (3), or a list of Python calls as the whole text (4)."""

from __future__ import annotations

import ast
import json
import re
from typing import Final

from mcp_lenient.text_calls.call import MAX_CALLS, ToolCall, calls_at
from mcp_lenient.text_calls.native import Dialect, TextReader
from mcp_lenient.text_calls.source import container

_OPENER: Final = re.compile(
    r"<\|python_tag\|>\s*(?=\{)|(?P<python>(?:\A|<\|python_start\|>)\s*(?=\[\s*[^\W\d][\w.]*\())"
)
_MORE: Final = re.compile(r"\s*;\s*(?=\{)")
_PYTHON_END: Final = re.compile(r"\s*<\|python_end\|>\s*|\s*(?:<\|(?:eot|eom)(?:_id)?\|>\s*)?\Z")
_TURN_ENDS: Final = ("<|eot|>", "<|eot_id|>", "<|eom|>", "<|eom_id|>")


def _read(reader: TextReader, opener: re.Match[str]) -> tuple[list[ToolCall], int]:
    return _python(reader, opener.end()) if opener["python"] is not None else _json(reader, opener.end())


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


def _python(reader: TextReader, at: int) -> tuple[list[ToolCall], int]:
    end = _end_of_list(reader, at)
    text = reader.text[at:end]
    if len(text) > reader.source.limits.relaxed_text:
        raise reader.source.error(at, "the list of calls is longer than the limit")
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise reader.source.error(at, "the list of calls cannot be parsed; it may be cut off") from None
    if not isinstance(tree, ast.List) or len(tree.elts) > MAX_CALLS:
        raise reader.source.error(at, "this is not a list of calls")
    calls = [_call(reader, text, node, at) for node in tree.elts]
    return calls, reader.expect(_PYTHON_END, end, "the end of the text").end()


def _end_of_list(reader: TextReader, at: int) -> int:
    marker = reader.text.find("<|python_end|>", at)
    if marker >= 0:
        return marker
    end = len(reader.text.rstrip())
    ending = next((each for each in _TURN_ENDS if reader.text.endswith(each, at, end)), "")
    return end - len(ending)


def _call(reader: TextReader, text: str, node: ast.expr, at: int) -> ToolCall:
    if not isinstance(node, ast.Call) or node.args or any(word.arg is None for word in node.keywords):
        raise reader.source.error(at, "the list contains something other than calls with named arguments")
    values = [f"{json.dumps(word.arg)}: {ast.get_source_segment(text, word.value)}" for word in node.keywords]
    arguments = container("{" + ", ".join(values) + "}", reader.source.limits)
    name = ast.get_source_segment(text, node.func)
    if name is None or not isinstance(arguments, dict):
        raise reader.source.error(at, "an argument of a call is not a plain value")
    return ToolCall(None, name, arguments)


DIALECT: Final = Dialect("llama", _OPENER, _read)
