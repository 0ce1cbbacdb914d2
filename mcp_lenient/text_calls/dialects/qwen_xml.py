"""Qwen3-Coder, Qwen3.5 and later: ``<function=name><parameter=key>`` in ``<tool_call>``.

Values are raw text between line breaks; their types come from the tool's schema. Llama 3.1's custom tools have the
same tag around JSON: ``<function=name>{"key": 1}</function>``.
"""

from __future__ import annotations

import re
from typing import Any, Final

from mcp_lenient.text_calls.call import Calls, ToolCall
from mcp_lenient.text_calls.native import NAME, Dialect
from mcp_lenient.text_calls.source import Source

_OPENER: Final = re.compile(rf"(?P<outer><tool_call>\s*)?<function=\s*(?P<name>{NAME})\s*>")
_PARAMETER: Final = re.compile(r"\s*<parameter=\s*(?P<key>[^<>\n]{1,256}?)\s*>")
_JSON: Final = re.compile(r"\s*(?=\{)")
_OUTER_CLOSE: Final = re.compile(r"\s*</tool_call>")
_LINE_OF_A_MARK: Final = re.compile(
    r"^\s*(?:<parameter=[^<>\n]+>|</function>)\s*$|</parameter>\s*</function>", re.MULTILINE
)
_VALUE_END: Final = re.compile(
    r"</parameter>\s*(?=<parameter=[^<>\n]+>|</function>\s*(?:</tool_call>|<function=|<\|\w{1,16}\|>|\Z))"
)


def _read(source: Source, opener: re.Match[str]) -> Calls:
    name = opener["name"]

    def value_of(parameter: re.Match[str], raw: str) -> tuple[str, Any]:
        value = _value(raw)
        if _LINE_OF_A_MARK.search(value):
            raise source.error(parameter.start(), "a parameter is not closed, or its value contains a tag")
        return parameter["key"], source.typed(name, parameter["key"], value, parameter.start())

    json_at = _JSON.match(source.text, opener.end())
    if json_at is None:
        arguments, at = source.parameters(opener.end(), _PARAMETER, _VALUE_END, value_of)
    else:
        arguments, at = source.json_object(json_at.end())
    at = source.past(at, "</function>")
    if opener["outer"] or _OUTER_CLOSE.match(source.text, at):
        at = source.past(at, "</tool_call>")
    return [ToolCall(None, name, arguments)], at


def _value(raw: str) -> str:
    return raw[1:-1] if len(raw) > 1 and raw[0] == raw[-1] == "\n" else raw.removeprefix("\n")


DIALECT: Final = Dialect("qwen_xml", _OPENER, _read)
