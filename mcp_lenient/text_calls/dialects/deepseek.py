"""DeepSeek: V3 (a fence after the name), V3.1 (bare JSON), V3.2 and later (DSML, with a mark on each string)."""

from __future__ import annotations

import re
from typing import Any, Final

from mcp_lenient.text_calls.call import Calls, ToolCall
from mcp_lenient.text_calls.native import NAME, Dialect
from mcp_lenient.text_calls.source import Source

_D: Final = r"｜DSML｜\s?"
_OPENER: Final = re.compile(rf"<｜tool▁calls▁begin｜>|<{_D}(?P<group>(?:function_|tool_)?calls)>")
_CALL: Final = re.compile(
    rf"\s*<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>(?P<fenced>{NAME})\s*```json\s*|(?P<bare>{NAME})<｜tool▁sep｜>\s*)"
)
_INVOKE: Final = re.compile(rf"""\s*<{_D}invoke name="(?P<name>{NAME})"\s*(?P<empty>/)?>""")
_PARAMETER: Final = re.compile(
    rf"""\s*<{_D}parameter name="(?P<key>[^"\n]{{1,256}})" string="(?P<text>true|false)">"""
)
_PART: Final = re.compile(rf"<{_D}parameter name=")
"""What opens a parameter."""
_VALUE_END: Final = re.compile(rf"</{_D}parameter>(?=\s*(?:<{_D}parameter name=|</{_D}invoke>))")
_INVOKE_END: Final = re.compile(rf"\s*</{_D}invoke>")
_GROUP_END: Final = re.compile(rf"\s*</{_D}(?:function_|tool_)?calls>")


def _read(source: Source, opener: re.Match[str]) -> Calls:
    return _dsml(source, opener.end()) if opener["group"] else _tokens(source, opener.end())


def _tokens(source: Source, at: int) -> Calls:
    calls = []
    while (call := _CALL.match(source.text, at)) is not None:
        arguments, at = source.json_object(call.end())
        at = source.past(source.past(at, "```") if call["fenced"] else at, "<｜tool▁call▁end｜>")
        calls.append(ToolCall(None, call["fenced"] or call["bare"], arguments))
    return calls, source.past(at, "<｜tool▁calls▁end｜>")


def _dsml(source: Source, at: int) -> Calls:
    def value_of(key: re.Match[str], raw: str) -> tuple[str, Any]:
        return key["key"], raw if key["text"] == "true" else source.scalar(raw, key.start())

    calls = []
    while (invoke := _INVOKE.match(source.text, at)) is not None:
        name, begin = invoke["name"], invoke.end()
        arguments, at = source.parameters(begin, _PARAMETER, _VALUE_END, value_of, tool=name, part=_PART)
        if not invoke["empty"]:
            at = source.expect(_INVOKE_END, at, "the end of the call").end()
        calls.append(ToolCall(None, name, arguments))
    return calls, source.expect(_GROUP_END, at, "the end of the calls").end()


DIALECT: Final = Dialect("deepseek", _OPENER, _read)
