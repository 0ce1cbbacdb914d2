"""Anthropic's older form: ``<invoke name="tool"><parameter name="key">value</parameter></invoke>``.

It is in ``<function_calls>``, by MiniMax-M2 in ``<minimax:tool_call>``. Values are text with all of its spaces and line
breaks, and entities are not decoded: the format is not XML, and its published parsers search for the tags.
"""

from __future__ import annotations

import re
from typing import Final

from mcp_lenient.text_calls.call import Calls, ToolCall
from mcp_lenient.text_calls.native import CONTAINERS, NAME, Dialect
from mcp_lenient.text_calls.source import Source

_OPENER: Final = re.compile(r"<invoke\s+(?P<attributes>name\s*=[^<>]*)>")
_NAMED: Final = re.compile(rf'name="(?P<name>{NAME})"\s*(?P<empty>/)?')
_PARAMETER: Final = re.compile(r'\s*<parameter name="(?P<key>[^"\n]{1,256})">')
_VALUE_END: Final = re.compile("</parameter>")
_CLOSE: Final = re.compile(r"\s*</invoke>")
_PART: Final = re.compile(rf"</?(?:invoke|parameter|{'|'.join(sorted(CONTAINERS))})(?:\s[^<>]*)?>")
"""The tags of the format, which in a value may be parts of the call or of another one."""


def _read(source: Source, opener: re.Match[str]) -> Calls:
    named = _NAMED.fullmatch(opener["attributes"])
    if named is None:
        raise source.error(opener.start(), 'expected <invoke name="..."> without other attributes')
    tool = named["name"]
    if named["empty"]:
        return [ToolCall(None, tool, {})], opener.end()

    def value_of(parameter: re.Match[str], raw: str) -> tuple[str, str]:
        return parameter["key"], raw

    arguments, at = source.parameters(opener.end(), _PARAMETER, _VALUE_END, value_of, tool=tool, part=_PART)
    end = source.expect(_CLOSE, at, '<parameter name="..."> or </invoke> and no other text').end()
    return [ToolCall(None, tool, arguments)], end


DIALECT: Final = Dialect("anthropic_xml", _OPENER, _read, is_markup=True)
