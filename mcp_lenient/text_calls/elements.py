"""Track the elements that are open in prose, since a call inside one of them may only be quoted."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from mcp_lenient.values.display import shown

if TYPE_CHECKING:
    from mcp_lenient.text_calls.call import Found
    from mcp_lenient.text_calls.source import Source

CONTAINERS: Final = frozenset(
    "tool_call tool_calls function_call function_calls tool_use minimax:tool_call".split()
)
"""Elements around calls that name neither a server nor a tool; no other element may be around a call.

``tool_call``: Hermes, Qwen, GLM; ``tool_calls``: DeepSeek, MiniMax-M1; ``function_calls``: Anthropic's older form;
``minimax:tool_call``: MiniMax-M2; ``function_call`` and ``tool_use``: keys of OpenAI's and Anthropic's APIs.
"""
VOID: Final = frozenset("area base br col embed hr img input link meta source track wbr".split())
"""HTML's void elements (HTML Living Standard, 13.1.2), which have no closing tag."""
TAG_NAME: Final = r"\w[\w.:-]{0,127}(?:/[\w.:-]{1,127}){0,4}"
_TAG: Final = re.compile(rf"<(?P<slash>/?)(?P<name>{TAG_NAME})(?:\s[^<>]*)?(?<!/)>")
_END_OF_TURN: Final = re.compile(r"</s>\s*\Z")
"""The end-of-sequence token of Llama 2 and Mistral."""


@dataclass(slots=True)
class Elements:
    """The open elements of a text, each with the number of calls before it.

    An element counts once it is closed, so neither a tag in a sentence nor ``for x <y>`` affects the calls after it.
    """

    source: Source
    found: list[Found]
    _opened: dict[str, list[int]] = field(default_factory=dict)

    def open(self, name: str, at: int) -> None:
        """Note an opening tag."""
        if not self._is_ignored(name, at):
            self._opened.setdefault(name.lower(), []).append(len(self.found))

    def close(self, name: str, at: int) -> None:
        """Note a closing tag; an error if its element, whose opening tag may be missing, contains calls."""
        if self._is_ignored(name, at):
            return
        before = self._opened.get(name.lower())
        if before:
            calls = self.found[before.pop() :]
            if calls:
                what = f"the call of '{shown(calls[0].call.tool)}' is inside <{shown(name)}>, which may only quote it"
                raise self.source.error(calls[0].at, f"{what}; write a call outside of other elements")
        elif self.found and not _END_OF_TURN.match(self.source.text, at):
            what = f"</{shown(name)}> has no opening tag, so the call before it may be inside of its element"
            raise self.source.error(at, f"{what}; write a call outside of other elements")

    def _is_ignored(self, name: str, at: int) -> bool:
        is_code = at > 0 and self.source.text[at - 1] == "`"
        return is_code or name.lower() in VOID or name in CONTAINERS

    def note_prose(self, start: int, end: int) -> None:
        """Note the tags in a part of the text."""
        for tag in _TAG.finditer(self.source.text, start, end):
            note = self.close if tag["slash"] else self.open
            note(tag["name"], tag.start())
