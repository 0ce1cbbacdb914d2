"""Kimi: K2 (``functions.name:0`` and JSON between tokens) and K3 (``<|open|>call tool="name"<|sep|>``)."""

from __future__ import annotations

import re
from typing import Any, Final

from mcp_lenient.text_calls.call import Calls, ToolCall
from mcp_lenient.text_calls.native import NAME, Dialect
from mcp_lenient.text_calls.source import Source

_OPENER: Final = re.compile(r"<\|tool_calls_section_begin\|>|(?P<k3><\|open\|>tools<\|sep\|>)")
_CALL: Final = re.compile(
    rf"[^<]*<\|tool_call_begin\|>\s*(?:functions\.)?(?P<name>{NAME}?):\d+\s*<\|tool_call_argument_begin\|>\s*"
)
_END: Final = re.compile(r"[^<]*<\|tool_calls_section_end\|>")
_K3_CALL: Final = re.compile(rf"""\s*<\|open\|>call tool="(?P<name>{NAME})"(?: index="\d+")?<\|sep\|>""")
_ARGUMENT: Final = re.compile(
    r"""\s*<\|open\|>argument key="(?P<key>[^"\n]{1,256})" type="(?P<type>\w+)"<\|sep\|>"""
)
_PART: Final = re.compile(r"<\|open\|>argument key=")
"""What opens an argument."""
_ARGUMENT_END: Final = re.compile(
    r"<\|close\|>argument<\|sep\|>(?=\s*(?:<\|open\|>argument key=|<\|close\|>call<\|sep\|>))"
)


def _read(source: Source, opener: re.Match[str]) -> Calls:
    return _k3(source, opener.end()) if opener["k3"] else _k2(source, opener.end())


def _k2(source: Source, at: int) -> Calls:
    calls = []
    while (call := _CALL.match(source.text, at)) is not None:
        arguments, end = source.json_object(call.end())
        at = source.past(end, "<|tool_call_end|>")
        calls.append(ToolCall(None, call["name"], arguments))
    return calls, source.expect(_END, at, "<|tool_calls_section_end|>").end()


def _k3(source: Source, at: int) -> Calls:
    def value_of(key: re.Match[str], raw: str) -> tuple[str, Any]:
        name = key["key"].replace("&quot;", '"').replace("&amp;", "&")
        return name, raw if key["type"] == "string" else source.scalar(raw, key.start())

    calls = []
    while (call := _K3_CALL.match(source.text, at)) is not None:
        name, begin = call["name"], call.end()
        arguments, at = source.parameters(begin, _ARGUMENT, _ARGUMENT_END, value_of, tool=name, part=_PART)
        at = source.past(at, "<|close|>call<|sep|>")
        calls.append(ToolCall(None, name, arguments))
    return calls, source.past(at, "<|close|>tools<|sep|>")


DIALECT: Final = Dialect("kimi", _OPENER, _read)
