"""Track lines and blocks of prose, since a call in a sentence, a quotation or a section of another author is not the model's."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from mcp_lenient.text_calls.call import MAX_CALLS, Found, ToolCall, UnknownToolError
from mcp_lenient.text_calls.elements import Elements
from mcp_lenient.values.display import shown

if TYPE_CHECKING:
    from mcp_lenient.text_calls.source import Source
    from mcp_lenient.text_calls.tools import KnownTools

_MARKER: Final = r"<[|｜][^<>|｜\s]{1,64}[|｜]>"
_BEFORE_CALL: Final = re.compile(rf"\s*(?:(?:[,;]|```[\w+-]*)\s*|(?:{_MARKER}\s*)+)?")
_AFTER_CALL: Final = re.compile(r"[^\S\n]*(?:[,;\]][^\S\n]*)?(?:[<{\[]|```|\n|\Z)")
_LINE_END: Final = re.compile(r"[^\S\n]*(?:\n|\Z|[{\[]|<(?=[/|\w]))")
GAP: Final = re.compile(rf"\s*(?:(?:[,;]|```[\w+-]*|{_MARKER})\s*)*")
"""What may be between the calls in a wrapper tag."""
_PROSE_LINE: Final = re.compile(r"[^\S\n]*(?:<|(?:\*{1,3}|_{1,3})?(?!\w\.|\w{1,5}\))[^\W\d_])")
"""A line of prose begins with a word or a tag; quotations, list items, comments and tables begin with a sign."""
_CALL_LINE: Final = re.compile(rf"{_PROSE_LINE.pattern}|[^\S\n]*(?:[{{}}\[\]`]|\Z)|(?<=[^\n])[^\S\n]*[,;]")
_SENTENCE_END: Final = re.compile(r"[.!?…][\"')\u2019\u201d*_]{0,4}\s*\Z")
_TEXT_END: Final = re.compile(r"[\w.:!?…\u3002\uff1a\uff01\uff1f]\Z")
_BLANK: Final = re.compile(r"[^\S\n]*")

_QUOTE: Final = re.compile(
    r"^[^\S\n]{0,100}/\*|\*/|(?P<fence>(?<!`)`{3,}|(?<!~)~{3,})(?P<info>[^`\n]*)$", re.MULTILINE
)
"""The beginning or end of a comment, and a Markdown fence at the end of a line (CommonMark 0.31, 4.5)."""
_AFTER_FENCE: Final = re.compile(r"\s*(?:<[^<>\s]{1,66}>\s*)*")
"""What may be on the last line of a fence: tokens for the end of a turn."""
_TEXT_LINE: Final = re.compile(
    r"^(?P<indent>[ \t]{0,100})(?:(?P<marker>[-*+]|\d{1,9}[.)])(?=[ \t]|$)|(?=\S))", re.MULTILINE
)
"""A line that is not blank, with the marker of its list item (CommonMark 0.31, 5.2)."""
_CODE_INDENT: Final = 4
"""Columns that make an indented code block after a blank line, and that a tab counts as (CommonMark 0.31, 2.2, 4.4)."""


class Start(NamedTuple):
    """Where a call begins, the end of the last tag or JSON value before it, and the beginning of its line."""

    at: int
    past: int
    line: int


class _Judged(NamedTuple):
    """The end of the last call, and whether it is outside of a sentence."""

    end: int
    is_apart: bool


def _columns(space: str) -> int:
    return len(space.expandtabs(_CODE_INDENT))


class _Fence(NamedTuple):
    """An open Markdown fence and the number of calls before it."""

    mark: str
    calls: int


@dataclass(slots=True)
class Prose:
    """The text between calls, tags and JSON values, up to a position."""

    source: Source
    found: list[Found]
    elements: Elements = field(init=False)
    """Open elements and sections."""
    quoted: int | None = None
    """The position of the first call that is quoted in a sentence, a comment or code."""
    commented: bool = False
    """Whether a comment is open."""
    fence: _Fence | None = None
    """The open Markdown fence."""
    has_other: bool = False
    """Whether the open fence contains anything besides calls."""
    item: int = 0
    """The column at which the content of the open Markdown list item begins; 0 if none is open."""
    has_margin: bool = False
    """Whether a line before is not indented, so that indented lines may be code."""
    is_code: bool = False
    """Whether the last line is a part of an indented code block."""
    past: int = 0
    """The end of the last JSON value, tag or comment."""
    line: int = 0
    """The beginning of the line, or the end of the last call on it."""
    judged: _Judged | None = None
    """The last call, unless it is in a wrapper tag."""

    def __post_init__(self) -> None:
        self.elements = Elements(self.source, self.found)

    def note(self, at: int) -> None:
        """Track lines, fences, comments such as ``/* ... */`` and special tokens, up to a position."""
        text, past = self.source.text, self.past
        for mark in _QUOTE.finditer(text, past, at):
            is_in_fence = self.fence is not None and mark["fence"] is not None
            self._note_part(past, mark.start() if is_in_fence else mark.end())
            self._note_blocks(past, mark.end())
            past = mark.end("fence") if is_in_fence else mark.end()
            if mark["fence"] is None:
                self.commented = mark[0] != "*/"
            elif self.fence is not None:
                self._note_in_fence(self.fence, mark)
            elif self._opens_fence(mark):
                self.fence, self.has_other = _Fence(mark["fence"], len(self.found)), False
        self._note_part(past, at)
        self._note_blocks(past, at)
        self.line = max(self.line, text.rfind("\n", self.past, at) + 1)

    def _note_part(self, start: int, end: int) -> None:
        """Note special tokens, and other text in a fence than what may be between calls."""
        if self.fence is None:
            self.elements.note_tokens(start, end)
        elif not GAP.fullmatch(self.source.text, start, end) or self.elements.foreign_token(start, end):
            self.has_other = True

    def _opens_fence(self, mark: re.Match[str]) -> bool:
        """Return whether a mark begins its line, or ends a line of prose as models write it."""
        before = self._before(mark)
        return before[-1] in " \t:" if before.strip(" ") else len(before) < _CODE_INDENT

    def _note_in_fence(self, fence: _Fence, mark: re.Match[str]) -> None:
        """Close a fence at a mark on a line of its own or directly after a call."""
        is_last = not self._before(mark).strip() and _AFTER_FENCE.fullmatch(mark["info"]) is not None
        if is_last and mark["fence"].startswith(fence.mark):
            self.end_fence()
        else:
            self.has_other = True

    def _before(self, mark: re.Match[str]) -> str:
        """Return the text before a mark on its line, after the last call."""
        start = self.source.text.rfind("\n", self.past, mark.start()) + 1
        return self.source.text[max(self.past, start) : mark.start()]

    def end_fence(self) -> None:
        """End the open fence; its calls are quoted if it contains anything else."""
        if self.fence is not None and self.has_other and len(self.found) > self.fence.calls:
            self.quoted = self.found[self.fence.calls].at
            del self.found[self.fence.calls :]
        self.fence = None

    def pass_over(self, start: int, end: int, *, is_call: bool) -> None:
        """Go on after a call, tag or JSON value."""
        if self.source.text.find("\n", start, end) >= 0:
            self.line = end
        self.has_other = self.has_other or not is_call
        self.past = end

    def begin_answer(self, at: int) -> int:
        """Forget the lines, fences and comments before the end of reasoning, which is returned."""
        self.has_other = True
        self.end_fence()
        self.line, self.commented = at, False
        self.item, self.has_margin, self.is_code = 0, False, False
        return at

    def finish(self) -> None:
        """Track the prose up to the end of the text."""
        self.note(len(self.source.text))
        self.end_fence()

    def add(self, call: ToolCall, at: int, tools: KnownTools) -> None:
        """Add a call to the found ones."""
        if not tools.has(call.tool):
            msg = f"At {self.source.where(at)}: the called tool '{shown(call.tool)}' is not among the given tools."
            raise UnknownToolError(msg)
        if len(self.found) == MAX_CALLS:
            raise self.source.error(at, f"the text contains more than {MAX_CALLS:,} tool calls")
        self.elements.require_own(call, at)
        self.found.append(Found(call, at))

    def quotation(self) -> str | None:
        """Return the error for a text whose only calls are quoted; None if none is."""
        if self.quoted is None:
            return None
        return (
            f"No tool call was found: the one at {self.source.where(self.quoted)} is quoted, in a sentence, comment, "
            "list or code; a call must be on lines of its own that are not indented."
        )

    def _note_blocks(self, start: int, end: int) -> None:
        """Track Markdown list items and indented code outside of fences; less indentation than its content ends an item."""
        if self.fence is not None:
            return
        for line in _TEXT_LINE.finditer(self.source.text, start, end):
            indent = _columns(line["indent"])
            self.is_code = self._is_code_line(indent, line.start())
            self.has_margin = self.has_margin or indent < _CODE_INDENT
            if indent < self.item or not self.item:
                self.item = indent + len(line["marker"]) + 1 if line["marker"] else 0

    def _is_code_line(self, indent: int, at: int) -> bool:
        """Return whether the line that begins at a position is in an indented code block."""
        if indent < _CODE_INDENT or not self.has_margin:
            return False
        text = self.source.text
        return self.is_code or not text[text.rfind("\n", 0, max(0, at - 1)) + 1 : at].strip()

    def accepts(self, at: int, end: int, *, is_apart: bool) -> bool:
        """Return whether a call is to be added; one inside a sentence is only quoted."""
        last, self.judged, self.line = self.judged, _Judged(end, is_apart), end
        if last is not None and last.is_apart != is_apart and self.source.text.find("\n", last.end, at) < 0:
            what = "a line has a call inside a sentence and another one, so both may be quoted or meant"
            raise self.source.error(at, what)
        if not is_apart and self.quoted is None:
            self.quoted = at
        return is_apart

    def start(self, at: int) -> Start:
        """Return where a call begins."""
        return Start(at, max(self.past, self.line), self.line)

    def is_on_own_lines(self, at: int, end: int) -> bool:
        """Return whether a call is on lines of its own, not quoted in a sentence or a comment."""
        return self._begins_line(self.start(at)) and _AFTER_CALL.match(self.source.text, end) is not None

    def is_apart(self, start: Start, end: int) -> bool:
        """Return whether a call in tags is outside of a sentence.

        It begins or ends a line of prose, or it is between two sentences.
        """
        text = self.source.text
        if self._begins_line(start):
            return _AFTER_CALL.match(text, end) is not None or self._begins_sentence(end)
        if self._is_quotation(start) or not _PROSE_LINE.match(text, start.line, start.at):
            return False
        if _LINE_END.match(text, end):
            return True
        before = text[max(start.past, start.at - 20) : start.at]
        return _SENTENCE_END.search(before) is not None and self._begins_sentence(end)

    def ends_line(self, start: Start, end: int) -> bool:
        """Return whether a call between special tokens directly follows text, and is last on a line that quotes nothing.

        Models write such a token without a space or a line break before it.
        """
        line = self.source.text[start.line : start.at]
        if self._is_in_code(start) or line.count("`") % 2 or line.lstrip().startswith(">"):
            return False
        return _TEXT_END.search(line) is not None and _LINE_END.match(self.source.text, end) is not None

    def _begins_line(self, start: Start) -> bool:
        text = self.source.text
        return (
            not self._is_quotation(start)
            and _BEFORE_CALL.fullmatch(text, start.past, start.at) is not None
            and _CALL_LINE.match(text, start.line, start.at) is not None
        )

    def _begins_sentence(self, at: int) -> bool:
        text = self.source.text
        blank = _BLANK.match(text, at)
        return blank is not None and text[blank.end() : blank.end() + 1].isupper()

    def _is_quotation(self, start: Start) -> bool:
        """Return whether a call is in a comment, in code or in a list item."""
        return self._is_in_code(start) or 0 < self.item <= self._indent(start)

    def _is_in_code(self, start: Start) -> bool:
        """Return whether a comment is open, a fence so long that other fences may be in it, or indented code."""
        is_fenced = self.fence is not None and len(self.fence.mark) > 3
        is_code = self.fence is None and self._is_code_line(self._indent(start), start.line)
        return self.commented or is_fenced or is_code

    def _indent(self, start: Start) -> int:
        line = self.source.text[start.line : start.at]
        return _columns(line[: len(line) - len(line.lstrip(" \t"))])
