"""Harmony (gpt-oss): messages with a header; one addressed ``to=functions.name`` is a call in any channel."""

from __future__ import annotations

import re
from typing import Final

from mcp_lenient.text_calls.call import Calls, ToolCall
from mcp_lenient.text_calls.native import NAME
from mcp_lenient.text_calls.source import Source

OPENER: Final = re.compile(
    rf"(?:(?:<\|start\|>|\A\s*)(?:assistant)?(?:\s{{0,9}}to=(?:functions\.)?(?P<role>{NAME}))?\s{{0,9}})?"
    rf"<\|channel\|>\s{{0,9}}\w{{1,32}}(?:\s{{0,9}}to=(?:functions\.)?(?P<channel>{NAME}))?"
    r"\s{0,9}(?:<\|constrain\|>\s{0,9}\w{1,32}\s{0,9}|\w{1,32}\s{0,9})?"
    r"(?P<open><\|message\|>)?"
)
_END: Final = re.compile(r"\s*(?:<\|(?:call|end|return)\|>|(?=<\|start\|>)|\Z)")
_MESSAGE_END: Final = re.compile(r"<\|(?:end|return)\|>|(?=<\|start\|>assistant)|\Z")


def read(_row: object, source: Source, header: re.Match[str]) -> Calls:
    """Read the message after a header; return its call, if it is one, and its end."""
    name = header["role"] or header["channel"]
    if header["open"] is None:
        raise source.error(header.start(), "a message's header has no <|message|>")
    if name is None:
        closed = _MESSAGE_END.search(source.text, header.end())
        return [], len(source.text) if closed is None else closed.end()
    if header["role"] and header["channel"] and header["role"] != header["channel"]:
        raise source.error(header.start(), "a message is addressed to two tools")
    arguments, end = source.json_object(header.end())
    return [ToolCall(None, name, arguments)], source.expect(_END, end, "the end of the message").end()
