"""GLM 4.5 to 5: ``<tool_call>name<arg_key>key</arg_key><arg_value>value</arg_value></tool_call>``.

Strings are raw, everything else is JSON; the tool's schema decides which.
"""

from __future__ import annotations

import re
from typing import Any, Final

from mcp_lenient.text_calls.call import Calls, ToolCall
from mcp_lenient.text_calls.native import NAME, Dialect
from mcp_lenient.text_calls.source import Source

_OPENER: Final = re.compile(rf"<tool_call>\s*(?P<name>{NAME})\s*(?=<arg_key>|</tool_call>|\Z)")
_KEY: Final = re.compile(r"\s*<arg_key>\s*(?P<key>[^<>\n]{1,256}?)\s*</arg_key>\s*<arg_value>")
_PART: Final = re.compile(r"<arg_key>[^<>\n]+</arg_key>")
"""What opens a parameter."""
_VALUE_END: Final = re.compile(r"</arg_value>\s*(?=<arg_key>|</tool_call>)")


def _read(source: Source, opener: re.Match[str]) -> Calls:
    name = opener["name"]

    def value_of(key: re.Match[str], raw: str) -> tuple[str, Any]:
        return key["key"], source.typed(name, key["key"], raw, key.start())

    arguments, at = source.parameters(opener.end(), _KEY, _VALUE_END, value_of, tool=name, part=_PART)
    return [ToolCall(None, name, arguments)], source.past(at, "</tool_call>")


DIALECT: Final = Dialect("glm", _OPENER, _read)
