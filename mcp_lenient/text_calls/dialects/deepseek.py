"""DeepSeek: V3 (a fence after the name), V3.1 (bare JSON), V3.2 and later (DSML, with a mark on each text)."""

from __future__ import annotations

import re
from typing import Any, Final

from mcp_lenient.text_calls.call import ToolCall
from mcp_lenient.text_calls.native import NAME, Dialect, Reader

_D: Final = r"｜DSML｜\s?"
_OPENER: Final = re.compile(rf"<｜tool▁calls▁begin｜>|<{_D}(?P<group>(?:function_|tool_)?calls)>")
_CALL: Final = re.compile(
    rf"\s*<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>(?P<fenced>{NAME})\s*```json\s*|(?P<bare>{NAME})<｜tool▁sep｜>\s*)"
)
_FENCE_END: Final = re.compile(r"\s*```\s*<｜tool▁call▁end｜>")
_CALL_END: Final = re.compile(r"\s*<｜tool▁call▁end｜>")
_END: Final = re.compile(r"\s*<｜tool▁calls▁end｜>")
_INVOKE: Final = re.compile(rf"""\s*<{_D}invoke name="(?P<name>{NAME})"\s*(?P<empty>/)?>""")
_PARAMETER: Final = re.compile(
    rf"""\s*<{_D}parameter name="(?P<key>[^"\n]{{1,256}})" string="(?P<text>true|false)">"""
)
_VALUE_END: Final = re.compile(rf"</{_D}parameter>(?=\s*(?:<{_D}parameter name=|</{_D}invoke>))")
_INVOKE_END: Final = re.compile(rf"\s*</{_D}invoke>")
_GROUP_END: Final = re.compile(rf"\s*</{_D}(?:function_|tool_)?calls>")


def _read(reader: Reader, opener: re.Match[str]) -> tuple[list[ToolCall], int]:
    return _dsml(reader, opener.end()) if opener["group"] else _tokens(reader, opener.end())


def _tokens(reader: Reader, at: int) -> tuple[list[ToolCall], int]:
    calls = []
    while (call := _CALL.match(reader.text, at)) is not None:
        arguments, end = reader.json_object(call.end())
        close = _FENCE_END if call["fenced"] else _CALL_END
        at = reader.expect(close, end, "the end of the call").end()
        calls.append(ToolCall(None, call["fenced"] or call["bare"], arguments))
    return calls, reader.expect(_END, at, "<｜tool▁calls▁end｜>").end()


def _dsml(reader: Reader, at: int) -> tuple[list[ToolCall], int]:
    calls = []
    while (invoke := _INVOKE.match(reader.text, at)) is not None:
        arguments, at = _parameters(reader, invoke.end())
        if not invoke["empty"]:
            at = reader.expect(_INVOKE_END, at, "the end of the call").end()
        calls.append(ToolCall(None, invoke["name"], arguments))
    return calls, reader.expect(_GROUP_END, at, "the end of the calls").end()


def _parameters(reader: Reader, at: int) -> tuple[dict[str, Any], int]:
    arguments: dict[str, Any] = {}
    while (parameter := _PARAMETER.match(reader.text, at)) is not None:
        end = _VALUE_END.search(reader.text, parameter.end())
        if end is None:
            raise reader.source.error(parameter.start(), "a parameter is not closed; the text may be cut off")
        raw = reader.text[parameter.end() : end.start()]
        value = raw if parameter["text"] == "true" else reader.scalar(raw, at)
        reader.put(arguments, parameter["key"], value, at)
        at = end.end()
    return arguments, at


DIALECT: Final = Dialect(
    "deepseek", _OPENER, _read, re.compile(rf"<｜tool▁(?:call|sep|calls▁end)|</?{_D}(?:invoke|parameter)")
)
