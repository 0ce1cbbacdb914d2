"""Anthropic's older form: ``<invoke name="tool"><parameter name="key">value</parameter></invoke>``.

It is in ``<function_calls>``, by MiniMax-M2 in ``<minimax:tool_call>``. Values are text with all of its spaces and line
breaks, and entities are not decoded: the format is not XML, and its published parsers search for the tags.
"""

from __future__ import annotations

import re
from typing import Any, Final

from mcp_lenient.text_calls.call import ToolCall
from mcp_lenient.text_calls.native import CONTAINERS, NAME, Dialect
from mcp_lenient.text_calls.source import Source

_OPENER: Final = re.compile(r"<invoke\s+(?P<attributes>name\s*=[^<>]*)>")
_NAMED: Final = re.compile(rf'name="(?P<name>{NAME})"\s*(?P<empty>/)?')
_PARAMETER: Final = re.compile(r'\s*<parameter name="(?P<key>[^"\n]{1,256})">')
_CLOSE: Final = re.compile(r"\s*</invoke>")
_PART: Final = re.compile(rf"</?(?:invoke|parameter|{'|'.join(sorted(CONTAINERS))})(?:\s[^<>]*)?>")
"""The tags of the format, which in a value may be parts of the call or of another one."""


def _read(source: Source, opener: re.Match[str]) -> tuple[list[ToolCall], int]:
    named = _NAMED.fullmatch(opener["attributes"])
    if named is None:
        raise source.error(opener.start(), 'expected <invoke name="..."> without other attributes')
    arguments: dict[str, Any] = {}
    at = opener.end()
    while not named["empty"] and (parameter := _PARAMETER.match(source.text, at)) is not None:
        value, at = source.enclosed(parameter, "parameter")
        part = _PART.search(value)
        if part is not None:
            raise source.in_value(named["name"], parameter, part)
        source.put(arguments, parameter["key"], value, parameter.start())
    if not named["empty"]:
        at = source.expect(_CLOSE, at, '<parameter name="..."> or </invoke> and no other text').end()
    return [ToolCall(None, named["name"], arguments)], at


DIALECT: Final = Dialect("anthropic_xml", _OPENER, _read, is_markup=True)
