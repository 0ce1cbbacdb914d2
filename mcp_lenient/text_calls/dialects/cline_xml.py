"""Cline and Roo Code: ``<tool><key>value</key></tool>``, a call only if the tool is known.

Values are text. A line break after the opening tag and one before the closing tag belong to the tags, as in Roo Code's
parser; all other characters are kept, and entities are not decoded. Other markup in a value is text if the parameter takes
a string; the tags of the tool and of its parameters may be parts of the call.
"""

from __future__ import annotations

import re
from typing import Final

from mcp_lenient.text_calls.call import Calls, ToolCall
from mcp_lenient.text_calls.known_tools import KnownTools
from mcp_lenient.text_calls.native import TAG_NAME
from mcp_lenient.text_calls.source import Source
from mcp_lenient.values.display import shown

OPENER: Final = re.compile(
    rf"<(?P<tool>{TAG_NAME})(?P<attributes>\s[^<>]*)?>(?=(?P<text>[^<>]*)<(?P<first>{TAG_NAME})(?:\s|/?>))"
)
_PARAMETER: Final = re.compile(rf"\s*<(?P<key>{TAG_NAME})>")
_TAG: Final = re.compile(rf"</?(?P<name>{TAG_NAME})(?:\s[^<>]*)?/?>")
_LINE_BREAKS: Final = re.compile(r"\A\r?\n|\r?\n\Z")
_JSON: Final = ("{", "[", '"', "```")
_MAX_LISTED: Final = 20


def is_call(tools: KnownTools, opener: re.Match[str]) -> bool:
    """Return whether a tag is that of a known tool without JSON, and the first tag in it that of a parameter.

    If the tool does not declare it, it may be markup after a text, or another tool in the tag of its server.
    """
    if not tools.lists(opener["tool"]) or opener["text"].lstrip().startswith(_JSON):
        return False
    if opener["first"] in (tools.parameters(opener["tool"]) or ()):
        return True
    return not (tools.lists(opener["first"]) or opener["text"].strip() or opener["attributes"])


def read(_row: object, source: Source, opener: re.Match[str]) -> Calls:
    """Read the call that an opener begins; return it and its end."""
    tool = opener["tool"]
    if opener["attributes"]:
        what = f"<{shown(tool)}> has attributes; a parameter is written as <key>value</key>"
        raise source.error(opener.start(), what)

    def value_of(parameter: re.Match[str], raw: str) -> tuple[str, str]:
        _require_parameter(source, tool, parameter)
        _require_text(source, tool, parameter, raw)
        return parameter["key"], _LINE_BREAKS.sub("", raw)

    arguments, at = source.parameters(opener.end(), _PARAMETER, None, value_of)
    what = f"a parameter such as <key>value</key> or </{shown(tool)}> and no other text"
    end = source.expect(re.compile(rf"\s*</{re.escape(tool)}>"), at, what).end()
    return [ToolCall(None, tool, arguments)], end


def _require_parameter(source: Source, tool: str, parameter: re.Match[str]) -> None:
    names = source.tools.parameters(tool)
    if names is not None and parameter["key"] not in names:
        listed = ", ".join(map(shown, sorted(names)[:_MAX_LISTED])) or "none"
        what = f"<{shown(parameter['key'])}> is not a parameter of '{shown(tool)}', whose parameters are: {listed}"
        raise source.error(parameter.end("key") - len(parameter["key"]) - 1, what)


def _require_text(source: Source, tool: str, parameter: re.Match[str], raw: str) -> None:
    """Require that a value has no tags that may be parts of the call."""
    key = parameter["key"]
    parts = {tool, key, *(source.tools.parameters(tool) or ())}
    is_text = source.tools.takes_text(tool, key)
    for tag in _TAG.finditer(raw):
        if not is_text or tag["name"] in parts:
            raise source.in_value(tool, parameter, tag)
    if source.tools.lists(key) and raw.lstrip().startswith("{"):
        what = f"this may be a call of '{shown(tool)}', or of '{shown(key)}' of the server '{shown(tool)}'"
        raise source.error(parameter.start(), what)
