"""Find calls in a text by scanning its tags and JSON values; the rest is prose."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from mcp_lenient.errors import NoToolCallError, ToolCallError
from mcp_lenient.text_calls.call import Found, ToolCall, calls_at, calls_in, looks_like_call
from mcp_lenient.text_calls.native import REASONING, add_call, end_of_reasoning
from mcp_lenient.text_calls.source import Source
from mcp_lenient.text_calls.tools import KnownTools
from mcp_lenient.values.display import shown

MAX_PLACES: Final = 5_000
"""Tags and JSON values that are scanned before a text is given up; JSON5 and Python count as ten."""
MAX_MARKS: Final = 100_000
"""Characters that may begin a tag or JSON value."""

_WRAPPERS: Final = frozenset("tool_call tool_calls function_call function_calls tool_use".split())
"""Tags around calls that name neither a server nor a tool."""
_IGNORED_TAGS: Final = frozenset(
    "think thinking thought thoughts reasoning tool_response tool_result tool_results function_results".split()
)
"""Tags whose content is never a call: reasoning and results."""

_NAME: Final = r"\w[\w.:-]{0,127}(?:/[\w.:-]{1,127}){0,4}"
_IN_OBJECT: Final = r"""\s*(?:["'}/]|[\w$]{1,128}\s*:)"""
_OBJECT: Final = rf"\{{{_IN_OBJECT}"
_TOKENS: Final = [pair for pair in REASONING if not pair[0].startswith("<think")]
_OPENED_REASONING: Final = "|".join(re.escape(opening) for opening, _ in _TOKENS)
_CLOSED_REASONING: Final = "|".join(re.escape(closing) for _, closing in _TOKENS)
_VOID: Final = frozenset("area base br col embed hr img input link meta source track wbr".split())
"""HTML's void elements (HTML Living Standard, 13.1.2), which occur without a closing tag in prose."""
_BEFORE_CALL: Final = re.compile(r"\s*(?:[,;]|```[\w+-]*|<\|\w+\|>)?\s*")
_AFTER_CALL: Final = re.compile(r"[^\S\n]*(?:[,;\]<{]|```|\n|\Z)")
# It begins with a set of characters, which makes the search through prose ten times as fast.
_PLACE: Final = re.compile(
    rf"""(?P<reasoning>{_OPENED_REASONING})|(?P<reasoned>{_CLOSED_REASONING})|[<\[{{](?=[\w\s/!"'}}{{$])(?:
        (?<=<)(?:(?P<closed>/{_NAME}\s*>)|(?P<empty>{_NAME}\s*/>)|(?P<opened>{_NAME}(?:\s[^<>]*)?>)|(?P<comment>!--))
      | (?P<json>(?<=\{{){_IN_OBJECT}|(?<=\[)\s*{_OBJECT})
    )""",
    re.VERBOSE,
)
_OPENED: Final = re.compile(rf"<({_NAME})(\s[^<>]*)?(?<!/)>\s*")
_CLOSED: Final = re.compile(rf"\s*</({_NAME})\s*>")
_COMMENT: Final = re.compile(r"^[^\S\n]{0,100}/\*|\*/", re.MULTILINE)
_EMPTY: Final = re.compile(rf"<({_NAME})\s*/>")
_CONTENT: Final = re.compile(rf"""(```[\w+-]*\s*)?(?=(?:\[\s*)?{_OBJECT}|"\s*\{{)""")
_FENCE: Final = re.compile(r"\s*```")
_SPACE: Final = re.compile(r"\s*")
_STRING: Final = re.compile('"[^"]*"')
_CUT_OFF: Final = re.compile(r"<(?:/|/?[^\W\d][\w.:-]{0,127}\s?)?\Z")


class _Tag(NamedTuple):
    name: str
    at: int
    has_attributes: bool


def find_calls(source: Source, tools: KnownTools) -> list[Found]:
    """Return the calls in a text, at least one."""
    scan = _Scan(source, tools)
    scan.run()
    return scan.found


@dataclass(slots=True)
class _Scan:
    source: Source
    tools: KnownTools
    found: list[Found] = field(default_factory=list)
    places: int = 0
    opened: dict[str, int] = field(default_factory=dict)
    """Open tags in prose, each with the value of ``unnamed`` at its opening."""
    waiting: dict[str, int] = field(default_factory=dict)
    """Open wrapper tags, each with the number of calls found before."""
    unnamed: int = 0
    """Number of calls in tags without a server."""
    end: int = -1
    """The end of the last call in tags."""
    data: int | None = None
    """The position of the first JSON value that is not a call."""
    quoted: int | None = None
    """The position of the first call that is quoted in a sentence or a comment."""
    unknown: Found | None = None
    """The first call of an unknown tool."""
    commented: bool = False
    """Whether a comment is open."""
    past: int = 0
    """The end of the last JSON value, tag or comment."""

    def run(self) -> None:
        """Scan the text."""
        steps: Mapping[str, Callable[[int], int]] = {
            "json": self._json,
            "opened": self._opened,
            "closed": self._closed,
            "comment": self._comment,
            "empty": self._empty,
            "reasoning": self._reasoning,
            "reasoned": self._reasoned,
        }
        marks = sum(map(self.source.masked.count, "<[{"))
        if marks > MAX_MARKS:
            msg = f"The text has {marks:,} brackets, more than the limit of {MAX_MARKS:,}."
            raise ToolCallError(msg)
        at = 0
        while (place := _PLACE.search(self.source.masked, at)) is not None:
            self._count(place.start())
            self._note_comments(place.start())
            self.past = at = steps[place.lastgroup or ""](place.start())
        self._finish(at)

    def _note_comments(self, at: int) -> None:
        """Track comments such as ``/* ... */`` that begin a line, up to a position."""
        for mark in _COMMENT.finditer(self.source.text, self.past, at):
            self.commented = mark[0] != "*/"

    def _count(self, at: int, times: int = 1) -> None:
        self.places += times
        if self.places > MAX_PLACES:
            raise self.source.error(at, f"the text contains more than {MAX_PLACES:,} tags and JSON values")

    def _finish(self, at: int) -> None:
        source = self.source
        cut_off = _CUT_OFF.search(source.masked, max(at, len(source.masked) - 130))
        if cut_off is not None:
            raise source.error(cut_off.start(), "the text ends within a tag; it may be cut off")
        for name in self.waiting:
            self._require_calls(name, len(source.text))
        if self.found:
            return
        msg = "No tool call was found in the text."
        if not source.text.strip():
            msg = "The text is empty, so it contains no tool call."
        elif self.unknown is not None:
            named, where = shown(self.unknown.call.tool), source.where(self.unknown.at)
            msg = f"No tool call was found: '{named}' at {where} is not among the given tools."
            raise ToolCallError(msg)
        elif self.quoted is not None:
            msg = (
                f"No tool call was found: the one at {source.where(self.quoted)} is inside a sentence or a comment; "
                "a call must be on lines of its own."
            )
        elif self.data is not None:
            msg = f"No tool call was found: the JSON at {source.where(self.data)} does not have both a tool's name and arguments."
        raise NoToolCallError(msg)

    def _add(self, call: ToolCall, at: int) -> None:
        add_call(self.found, call, at, self.source, self.tools)

    # --- JSON outside of tags -------------------------------------------------------------------------

    def _json(self, at: int) -> int:
        end, is_plain = self.source.end(at)
        if not is_plain:
            self._count(at, 10)
        value = self.source.read(at, end)
        if value is None and looks_like_call(self.source.text[at:end]):
            raise self.source.error(at, self.source.unreadable(at, end))
        calls = calls_at(self.source, value, at) or []
        if calls and not self._is_on_own_lines(at, end):
            self.quoted = at if self.quoted is None else self.quoted
            return end
        unknown = next((call for call in calls if not self.tools.has(call.tool)), None)
        if unknown is not None:
            self.unknown = self.unknown or Found(unknown, at)
            return end
        for call in calls:
            self._add(call, at)
        if not calls and self.data is None:
            self.data = at
        return end

    def _is_on_own_lines(self, at: int, end: int) -> bool:
        """Return whether a call is on lines of its own, not quoted in a sentence or a comment."""
        text = self.source.text
        if self.waiting:
            return True
        line = max(text.rfind("\n", self.past, at) + 1, self.past)
        return not self.commented and bool(
            _BEFORE_CALL.fullmatch(text, line, at) and _AFTER_CALL.match(text, end)
        )

    # --- tags -----------------------------------------------------------------------------------------

    def _opened(self, at: int) -> int:
        """Handle an opening tag and those that follow it directly."""
        masked = self.source.masked
        tags: list[_Tag] = []
        end = at
        while (tag := _OPENED.match(masked, end)) is not None:
            if tag[1] in _IGNORED_TAGS or tag[1] in _WRAPPERS:
                break
            if tags:
                self._count(end)
            tags.append(_Tag(tag[1], end, tag[2] is not None))
            end = tag.end()
        if not tags:
            return self._special(at)
        content = _CONTENT.match(masked, end)
        if content is not None:
            return self._tagged(tags, end)
        empty = _EMPTY.match(masked, end)
        if len(tags) == 1 and empty is not None:
            return self._only_empty(tags[0], empty)
        closed = _CLOSED.match(masked, end)
        if closed is not None and closed[1] == tags[-1].name:
            return self._empty_pair(tags, end, closed.end())
        if end == len(masked):
            raise self.source.error(tags[-1].at, "the text ends after an opening tag; it may be cut off")
        self.opened.update((tag.name, self.unnamed) for tag in tags)
        return end

    def _empty_pair(self, tags: list[_Tag], at: int, after: int) -> int:
        """Tags with nothing in them: a call without arguments where the name is a known tool's."""
        known, tool = self.tools.schemas or {}, tags[-1]
        if tool.name in known and len(tags) <= 2 and not any(tag.has_attributes for tag in tags):
            end = self._past_closing(tags[0], after) if len(tags) == 2 else after
            if self._is_on_own_lines(tags[0].at, end):
                self._add(ToolCall(tags[0].name if len(tags) == 2 else None, tool.name, {}), tool.at)
                return end
        if len(tags) > 1:
            raise self.source.error(
                tool.at, f"<{tool.name}> is empty; without arguments a call is written with {{}}"
            )
        self.opened[tool.name] = self.unnamed
        return at

    def _empty(self, at: int) -> int:
        """Handle an empty tag, which is a call without arguments if it is on a line of its own."""
        tag = _EMPTY.match(self.source.masked, at)
        assert tag is not None  # noqa: S101 - the place was found by the same pattern
        if tag[1].lower() not in _VOID and self._is_on_own_lines(at, tag.end()):
            if self.tools.has(tag[1]):
                self._add(ToolCall(None, tag[1], {}), at)
            elif self.unknown is None:
                self.unknown = Found(ToolCall(None, tag[1], {}), at)
        return tag.end()

    def _only_empty(self, server: _Tag, empty: re.Match[str]) -> int:
        """Handle an empty tag inside a server's tag; with text around it, both are prose."""
        if self.source.masked.find(f"</{server.name}>", empty.end()) < 0:
            raise self.source.error(server.at, f"<{server.name}> is not closed; the text may be cut off")
        closed = _CLOSED.match(self.source.masked, empty.end())
        if closed is None or closed[1] != server.name or server.has_attributes or empty[1].lower() in _VOID:
            self.opened[server.name] = self.unnamed
            return empty.start()
        self._add(ToolCall(server.name, empty[1], {}), empty.start())
        return closed.end()

    def _reasoning(self, at: int) -> int:
        opening = next(own for own, _ in _TOKENS if self.source.text.startswith(own, at))
        return end_of_reasoning(self.source, opening, at)

    def _reasoned(self, at: int) -> int:
        closing = next(own for _, own in _TOKENS if self.source.text.startswith(own, at))
        if self.found:
            raise self.source.error(
                at, f"{closing} has no opening marker, so the call before it may be reasoning"
            )
        return at + len(closing)

    def _special(self, at: int) -> int:
        """Handle a wrapper tag or an ignored one."""
        tag = _OPENED.match(self.source.masked, at)
        assert tag is not None  # noqa: S101 - the place was found by the same pattern
        if tag[1] in _WRAPPERS:
            self.waiting[tag[1]] = len(self.found)
            return tag.end()
        end = self.source.masked.find(f"</{tag[1]}>", tag.end())
        if end < 0:
            raise self.source.error(at, f"<{tag[1]}> is not closed; the text may be cut off")
        return end + len(tag[1]) + 3

    def _tagged(self, tags: list[_Tag], at: int) -> int:
        """Handle JSON inside tags: a call of a tool, or the calls of a server."""
        source = self.source
        odd = next((tag for tag in tags if tag.has_attributes), None)
        if odd is not None:
            raise source.error(odd.at, f"<{odd.name}> has attributes, which a tool call does not have")
        if len(tags) > 2:
            names = "".join(f"<{tag.name}>" for tag in tags[:3])
            raise source.error(tags[0].at, f"{names} are more tags than a server tag and a tool tag")
        if len(tags) == 1:
            self.end = self._tool(None, tags[0], at)
            self.unnamed += 1
            return self.end
        server, tool = tags
        end = self._tool(server.name, tool, at)
        while (following := _OPENED.match(source.masked, self._past_space(end))) is not None:
            self._count(end)
            tag = _Tag(following[1], self._past_space(end), following[2] is not None)
            if tag.has_attributes or not _CONTENT.match(source.masked, following.end()):
                raise source.error(tag.at, f"<{tag.name}> inside <{server.name}> is not a tool call")
            end = self._tool(server.name, tag, following.end())
        self.end = self._past_closing(server, end)
        return self.end

    def _past_space(self, at: int) -> int:
        space = _SPACE.match(self.source.masked, at)
        return at if space is None else space.end()

    def _tool(self, server: str | None, tag: _Tag, at: int) -> int:
        """Add the call in a tool's tag; return the end of the tag."""
        source = self.source
        content = _CONTENT.match(source.masked, at)
        start = at if content is None else content.end()
        string = _STRING.match(source.masked, start)
        end = string.end() if string is not None else source.end(start)[0]
        arguments = source.read(start, end)
        if arguments is None:
            raise source.error(start, source.unreadable(start, end))
        if not isinstance(arguments, dict):
            raise source.error(start, f"<{tag.name}> contains an array, but arguments must be an object")
        inner = self._inner(arguments)
        if inner and (server is None or inner[0].tool == tag.name):
            raise source.error(
                tag.at,
                f"<{tag.name}> contains a call of '{shown(inner[0].tool)}', or is itself a call with such arguments",
            )
        if content is not None and content[1]:
            fence = _FENCE.match(source.masked, end)
            if fence is None:
                raise source.error(end, "the fence is not closed; the text may be cut off")
            end = fence.end()
        self._add(ToolCall(server, tag.name, arguments), tag.at)
        return self._past_closing(tag, end)

    def _inner(self, arguments: dict[str, Any]) -> list[ToolCall]:
        """Return the calls in arguments that have the form of a call."""
        try:
            return calls_in(arguments, self.source.limits) or []
        except ToolCallError:
            return []

    def _past_closing(self, tag: _Tag, at: int) -> int:
        closed = _CLOSED.match(self.source.masked, at)
        if closed is not None and closed[1] == tag.name:
            return closed.end()
        found = f"</{closed[1]}>" if closed is not None else "something else"
        what = f"{found} follows" if self._past_space(at) < len(self.source.masked) else "the text is cut off"
        raise self.source.error(at, f"expected </{tag.name}> to close the tag, but {what}")

    def _closed(self, at: int) -> int:
        """Handle a closing tag outside of a call."""
        source = self.source
        closed = _CLOSED.match(source.masked, at)
        assert closed is not None  # noqa: S101 - the place was found by the same pattern
        name = closed[1]
        if name in self.waiting:
            self._require_calls(name, at)
            del self.waiting[name]
        elif name in self.opened:
            if self.unnamed > self.opened.pop(name):
                what = f"<{name}> contains both text and a tool tag: it may be a server tag or only prose"
                raise source.error(at, what)
        elif name in _IGNORED_TAGS and self.found:
            raise source.error(at, f"</{name}> has no opening tag, so the call before it may be reasoning")
        elif self.end >= 0 and not source.text[self.end : at].strip() and name not in _WRAPPERS:
            raise source.error(at, f"</{name}> has no opening tag")
        return closed.end()

    def _require_calls(self, name: str, at: int) -> None:
        if self.waiting[name] == len(self.found):
            raise self.source.error(at, f"<{name}> contains no tool call")

    def _comment(self, at: int) -> int:
        end = self.source.masked.find("-->", at)
        if end < 0:
            raise self.source.error(at, "a comment is not closed; the text may be cut off")
        return end + 3
