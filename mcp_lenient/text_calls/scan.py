"""Find calls in a text by scanning its tags and JSON values; the rest is prose."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from mcp_lenient.errors import NoToolCallError, ToolCallError
from mcp_lenient.text_calls.call import (
    PART_NAMES,
    Found,
    RecordError,
    ToolCall,
    UnknownToolError,
    calls_at,
    calls_in,
    looks_like_call,
)
from mcp_lenient.text_calls.elements import CONTAINERS, TAG_NAME, VOID
from mcp_lenient.text_calls.native import REASONING, Dialect, Reader, end_of_reasoning
from mcp_lenient.text_calls.prose import GAP, Prose, Start
from mcp_lenient.text_calls.source import Source
from mcp_lenient.text_calls.tools import KnownTools
from mcp_lenient.values.display import shown

MAX_PLACES: Final = 5_000
"""Tags and JSON values that are scanned before a text is given up; JSON5 and Python count as ten."""
MAX_MARKS: Final = 100_000
"""Characters that may begin a tag or JSON value."""

_IGNORED_TAGS: Final = frozenset(
    "think thinking thought thoughts reasoning tool_response tool_result tool_results function_results".split()
)
"""Tags whose content is never a call: reasoning and results."""
_QUOTING_TAGS: Final = frozenset("blockquote code dd dt kbd li pre q samp td th".split())
"""HTML's elements for quotations, code, list items and table cells, unless a tool has the name.

HTML Living Standard: 4.4.3, 4.4.4, 4.4.8 to 4.4.11, 4.5.7, 4.5.15 to 4.5.18, 4.9.9, 4.9.10.
"""

_IN_OBJECT: Final = r"""\s*(?:["'}/]|[\w$]{1,128}\s*:)"""
_OBJECT: Final = rf"\{{{_IN_OBJECT}"
_TOKENS: Final = [pair for pair in REASONING if not pair[0].startswith("<think")]
_OPENED_REASONING: Final = "|".join(re.escape(opening) for opening, _ in _TOKENS)
_CLOSED_REASONING: Final = "|".join(re.escape(closing) for _, closing in _TOKENS)
# It begins with a set of characters, which makes the search through prose ten times as fast.
_PLACE: Final = re.compile(
    rf"""(?P<reasoning>{_OPENED_REASONING})|(?P<reasoned>{_CLOSED_REASONING})|[<\[{{](?=[\w\s/!"'}}{{$])(?:
        (?<=<)(?:(?P<closed>/{TAG_NAME}\s*>)|(?P<empty>{TAG_NAME}\s*/>)|(?P<opened>{TAG_NAME}(?:\s[^<>]*)?>)|(?P<comment>!--))
      | (?P<json>(?<=\{{){_IN_OBJECT}|(?<=\[)\s*{_OBJECT})
    )""",
    re.VERBOSE,
)
_OPENED: Final = re.compile(rf"<({TAG_NAME})(\s[^<>]*)?(?<!/)>\s*")
_CLOSING: Final = re.compile(rf"</({TAG_NAME})\s*>")
_CLOSED: Final = re.compile(rf"\s*</({TAG_NAME})\s*>")
_EMPTY: Final = re.compile(rf"<({TAG_NAME})\s*/>")
_CONTENT: Final = re.compile(rf"""(```[\w+-]*\s*)?(?=(?:\[\s*)?{_OBJECT}|"\s*\{{)""")
_FENCE: Final = re.compile(r"\s*```")
_STRING: Final = re.compile('"[^"]*"')
_CUT_OFF: Final = re.compile(r"<(?:/|/?[^\W\d][\w.:-]{0,127}\s?)?\Z")


class _Tag(NamedTuple):
    name: str
    at: int
    has_attributes: bool


class _OpenWrapper(NamedTuple):
    """An open wrapper tag and the number of calls found before it."""

    start: Start
    calls: int


def find_calls(
    source: Source, tools: KnownTools, dialects: Collection[Dialect], only: str = ""
) -> list[Found]:
    """Return the calls in a text, at least one.

    Args:
        source: The text.
        tools: The known tools.
        dialects: The dialects whose calls are found beside JSON and JSON in tags.
        only: The only dialect that calls may have.
    """
    scan = _Scan(source, tools, dialects, only)
    scan.run()
    return scan.found


@dataclass(slots=True)
class _Scan:
    source: Source
    tools: KnownTools
    dialects: Collection[Dialect]
    only: str
    found: list[Found] = field(default_factory=list)
    places: int = 0
    prose: Prose = field(init=False)
    """The text between calls, tags and data."""
    waiting: dict[str, _OpenWrapper] = field(default_factory=dict)
    """Open wrapper tags."""
    beside: int = -1
    """The position of the last text beside the calls in an open wrapper tag."""
    loose: int = -1
    """The position of the last call in an open wrapper tag that is a part of a line."""
    data: int | None = None
    """The position of the first JSON value that is not a call."""
    unknown: Found | None = None
    """The first call of an unknown tool."""
    enclosed: int = -1
    """The end of the last tag in prose that is closed."""
    closings: dict[str, list[int]] | None = None
    """The positions of closing tags by name."""

    def __post_init__(self) -> None:
        self.prose = Prose(self.source, self.found)

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
            self._note_prose(place.start())
            before = (len(self.found), len(self.waiting))
            at = steps[place.lastgroup or ""](place.start())
            self.prose.pass_over(place.start(), at, is_call=before != (len(self.found), len(self.waiting)))
        self._finish(at)

    def _note_prose(self, at: int) -> None:
        """Track prose, also text in wrapper tags, up to a position."""
        if self.waiting and not GAP.fullmatch(self.source.text, self.prose.past, at):
            self.beside = at
        self.prose.note(at)

    def _count(self, at: int, times: int = 1) -> None:
        self.places += times
        if self.places > MAX_PLACES:
            raise self.source.error(at, f"the text contains more than {MAX_PLACES:,} tags and JSON values")

    def _finish(self, at: int) -> None:
        source = self.source
        cut_off = _CUT_OFF.search(source.masked, max(at, len(source.masked) - 130))
        if cut_off is not None:
            raise source.error(cut_off.start(), "the text ends within a tag; it may be cut off")
        for name, wrapper in self.waiting.items():
            self._require_calls(name, len(source.text))
            if self.loose >= wrapper.start.at:
                what = f"<{name}> is not closed, and a call in it is inside a sentence"
                raise source.error(self.loose, what)
        self.prose.finish()
        if self.found:
            return
        msg = self.prose.quotation() or "No tool call was found in the text."
        if not source.text.strip():
            msg = "The text is empty, so it contains no tool call."
        elif self.unknown is not None:
            named, where = shown(self.unknown.call.tool), source.where(self.unknown.at)
            msg = f"No tool call was found: '{named}' at {where} is not among the given tools."
            raise UnknownToolError(msg)
        elif self.prose.quoted is None and self.data is not None:
            msg = f"No tool call was found: the JSON at {source.where(self.data)} does not have both a tool's name and arguments."
        raise NoToolCallError(msg)

    def _add(self, call: ToolCall, at: int, dialect: str = "") -> None:
        if self.only and dialect and dialect != self.only:
            what = f"a call in the form of {dialect} begins here, but this text is in that of {self.only}"
            raise self.source.error(at, what)
        self.prose.add(call, at, self.tools)

    def _accepts(self, at: int, end: int, *, is_apart: bool) -> bool:
        """Return whether a call is to be added.

        In a wrapper tag every call is added, and the place of the wrapper decides in the end.
        """
        if self.waiting:
            self.loose = self.loose if is_apart else at
            return True
        return self.prose.accepts(at, end, is_apart=is_apart)

    # --- JSON outside of tags -------------------------------------------------------------------------

    def _json(self, at: int) -> int:
        end, is_plain = self.source.end(at)
        if not is_plain:
            self._count(at, 10)
        value = self.source.read(at, end)
        if value is None and looks_like_call(self.source.text[at:end]):
            raise self.source.error(at, self.source.unreadable(at, end))
        calls = calls_at(self.source, value, at) or []
        if calls and not self._accepts(at, end, is_apart=self.prose.is_on_own_lines(at, end)):
            return end
        if not calls and self.waiting:
            self.beside = at
        unknown = next((call for call in calls if not self.tools.has(call.tool)), None)
        if unknown is not None:
            self.unknown = self.unknown or Found(unknown, at)
            return end
        for call in calls:
            self._add(call, at, "json")
        if not calls and self.data is None:
            self.data = at
        return end

    # --- tags -----------------------------------------------------------------------------------------

    def _opened(self, at: int) -> int:
        """Handle an opening tag and those that follow it directly."""
        masked = self.source.masked
        first = _OPENED.match(masked, at)
        if first is not None and self._is_special(first[1], first.end()):
            return self._special(first)
        native = self._native(at)
        if native is not None:
            return native
        if first is None:  # an empty tag with attributes, as in HTML
            return masked.index(">", at) + 1
        tags, end = self._consecutive(first)
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
        for tag in tags:
            self._open(tag, end)
        return end

    def _dialect_at(self, at: int) -> tuple[Dialect, re.Match[str]] | None:
        """Return the dialect of the call that begins at a position, and the match of its opener."""
        for dialect in self.dialects:
            opener = dialect.opener.match(self.source.text, at)
            if opener is not None and dialect.is_call(self.tools, opener):
                return dialect, opener
        return None

    def _native(self, at: int) -> int | None:
        """Handle a call in one of the dialects; None if there is none."""
        begun = self._dialect_at(at)
        if begun is None:
            return None
        dialect, opener = begun
        calls, end = dialect.read(Reader(self.source, self.tools), opener)
        return self._placed([Found(call, at) for call in calls], at, end, dialect.name)

    def _consecutive(self, first: re.Match[str]) -> tuple[list[_Tag], int]:
        """Return an opening tag and those that follow it directly, and the end of the last one."""
        tags = [_Tag(first[1], first.start(), first[2] is not None)]
        end = first.end()
        while (tag := _OPENED.match(self.source.masked, end)) is not None:
            if self._is_special(tag[1], tag.end()) or self._dialect_at(end) is not None:
                break
            self._count(end)
            tags.append(_Tag(tag[1], end, tag[2] is not None))
            end = tag.end()
        return tags, end

    def _open(self, tag: _Tag, end: int) -> None:
        """Note an open tag in prose."""
        self.prose.elements.open(tag.name, tag.at)
        self.enclosed = max(self.enclosed, self._closing(tag.name, end))

    def _closing(self, name: str, at: int) -> int:
        """Return the position of the next closing tag of a name; -1 if there is none."""
        if self.closings is None:
            self.closings = {}
            for tag in _CLOSING.finditer(self.source.masked):
                self.closings.setdefault(tag[1], []).append(tag.start())
        own = self.closings.get(name, [])
        following = bisect_left(own, at)
        return own[following] if following < len(own) else -1

    def _empty_pair(self, tags: list[_Tag], at: int, after: int) -> int:
        """Tags with nothing in them: a call without arguments where the name is a known tool's."""
        tool = tags[-1]
        if self.tools.lists(tool.name) and len(tags) <= 2 and not any(tag.has_attributes for tag in tags):
            end = self._past_closing(tags[0], after) if len(tags) == 2 else after
            if self.prose.is_on_own_lines(tags[0].at, end) and self._accepts(tags[0].at, end, is_apart=True):
                self._add(ToolCall(tags[0].name if len(tags) == 2 else None, tool.name, {}), tool.at)
                return end
        if len(tags) > 1:
            raise self.source.error(
                tool.at, f"<{tool.name}> is empty; without arguments a call is written with {{}}"
            )
        self._open(tool, at)
        return at

    def _empty(self, at: int) -> int:
        """Handle an empty tag, which is a call without arguments if it is on a line of its own."""
        tag = _EMPTY.match(self.source.masked, at)
        assert tag is not None  # noqa: S101 - the place was found by the same pattern
        is_markup = at < self.enclosed and not self.tools.lists(tag[1])
        if not is_markup and self._may_be_empty(tag[1]) and self.prose.is_on_own_lines(at, tag.end()):
            self._accepts(at, tag.end(), is_apart=True)
            if self.tools.has(tag[1]):
                self._add(ToolCall(None, tag[1], {}), at)
            elif self.unknown is None:
                self.unknown = Found(ToolCall(None, tag[1], {}), at)
        return tag.end()

    def _only_empty(self, server: _Tag, empty: re.Match[str]) -> int:
        """Handle an empty tag inside a server's tag; with text around it, both are prose."""
        if self._closing(server.name, empty.end()) < 0:
            raise self.source.error(server.at, f"<{server.name}> is not closed; the text may be cut off")
        closed = _CLOSED.match(self.source.masked, empty.end())
        is_only = closed is not None and closed[1] == server.name
        if closed is None or not is_only or server.has_attributes or not self._may_be_empty(empty[1]):
            self._open(server, empty.start())
            return empty.start()
        self._require_name(server, is_server=True)
        found = Found(ToolCall(server.name, empty[1], {}), empty.start())
        return self._placed([found], server.at, closed.end())

    def _may_be_empty(self, name: str) -> bool:
        """Return whether an empty tag may be a call: not one of HTML's, nor JSX's, which are capitalized."""
        return self.tools.lists(name) or not (name.lower() in VOID or name in PART_NAMES or name[0].isupper())

    def _reasoning(self, at: int) -> int:
        opening = next(own for own, _ in _TOKENS if self.source.text.startswith(own, at))
        return self.prose.begin_answer(end_of_reasoning(self.source, opening, at))

    def _reasoned(self, at: int) -> int:
        closing = next(own for _, own in _TOKENS if self.source.text.startswith(own, at))
        if self.found:
            raise self.source.error(
                at, f"{closing} has no opening marker, so the call before it may be reasoning"
            )
        return self.prose.begin_answer(at + len(closing))

    def _is_special(self, name: str, at: int) -> bool:
        return (
            name in _IGNORED_TAGS
            or name in CONTAINERS
            or (name in _QUOTING_TAGS and self._closing(name, at) >= 0 and not self.tools.lists(name))
        )

    def _special(self, tag: re.Match[str]) -> int:
        """Handle a wrapper tag, an ignored or a quoting one."""
        name = tag[1]
        if name in CONTAINERS:
            self.waiting[name] = _OpenWrapper(self.prose.start(tag.start()), len(self.found))
            return tag.end()
        end = self._closing(name, tag.end())
        if end < 0:
            raise self.source.error(tag.start(), f"<{name}> is not closed; the text may be cut off")
        after = self.source.masked.index(">", end) + 1
        return self.prose.begin_answer(after) if name in _IGNORED_TAGS else after

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
            self._require_name(tags[0])
            found, end = self._tool(None, tags[0], at)
            return self._placed([found], tags[0].at, end)
        server, tool = tags
        self._require_name(server, is_server=True)
        self._require_name(tool)
        found, end = self._tool(server.name, tool, at)
        several = [found]
        while (following := _OPENED.match(source.masked, source.past_space(end))) is not None:
            self._count(end)
            tag = _Tag(following[1], source.past_space(end), following[2] is not None)
            if tag.has_attributes or not _CONTENT.match(source.masked, following.end()):
                raise source.error(tag.at, f"<{tag.name}> inside <{server.name}> is not a tool call")
            self._require_name(tag)
            found, end = self._tool(server.name, tag, following.end())
            several.append(found)
        return self._placed(several, server.at, self._past_closing(server, end))

    def _placed(self, calls: list[Found], at: int, end: int, dialect: str = "json") -> int:
        """Add the calls in tags unless they are inside a sentence; return the end of the tags."""
        if self._accepts(at, end, is_apart=self.prose.is_apart(self.prose.start(at), end)):
            for call in calls:
                self._add(*call, dialect)
        return end

    def _require_name(self, tag: _Tag, *, is_server: bool = False) -> None:
        """Require that a tag is named like a tool or server, not like a part of a call."""
        if tag.name in PART_NAMES and (is_server or not self.tools.lists(tag.name)):
            what = f"<{tag.name}> is a part of a call, not the name of a tool"
            raise self.source.error(tag.at, what)

    def _tool(self, server: str | None, tag: _Tag, at: int) -> tuple[Found, int]:
        """Return the call in a tool's tag and the end of the tag."""
        source = self.source
        content = _CONTENT.match(source.masked, at)
        start = at if content is None else content.end()
        string = _STRING.match(source.masked, start)
        end = string.end() if string is not None else source.end(start)[0]
        arguments = source.read(start, end)
        if arguments is None:
            raise source.error(start, source.unreadable(start, end))
        if not arguments and "/*" in source.text[start:end]:
            raise source.error(start, f"<{tag.name}> contains a comment instead of arguments")
        if not isinstance(arguments, dict):
            raise source.error(start, f"<{tag.name}> contains an array, but arguments must be an object")
        inner = self._inner(arguments)
        if inner is not None and (server is None or inner == tag.name):
            what = f"a call of '{shown(inner)}'" if inner else "the record of a call"
            raise source.error(
                tag.at, f"<{tag.name}> contains {what}, or is itself a call with such arguments"
            )
        if content is not None and content[1]:
            fence = _FENCE.match(source.masked, end)
            if fence is None:
                raise source.error(end, "the fence is not closed; the text may be cut off")
            end = fence.end()
        return Found(ToolCall(server, tag.name, arguments), tag.at), self._past_closing(tag, end)

    def _inner(self, arguments: dict[str, Any]) -> str | None:
        """Return the tool if arguments have the form of a call, empty if of its record; None otherwise."""
        try:
            calls = calls_in(arguments, self.source.limits)
        except RecordError:
            return ""
        except ToolCallError:
            return None
        return calls[0].tool if calls else None

    def _past_closing(self, tag: _Tag, at: int) -> int:
        closed = _CLOSED.match(self.source.masked, at)
        if closed is not None and closed[1] == tag.name:
            return closed.end()
        found = f"</{closed[1]}>" if closed is not None else "something else"
        what = (
            f"{found} follows"
            if self.source.past_space(at) < len(self.source.masked)
            else "the text is cut off"
        )
        raise self.source.error(at, f"expected </{tag.name}> to close the tag, but {what}")

    def _closed(self, at: int) -> int:
        """Handle a closing tag outside of a call."""
        source = self.source
        closed = _CLOSED.match(source.masked, at)
        assert closed is not None  # noqa: S101 - the place was found by the same pattern
        name = closed[1]
        if name in self.waiting:
            self._end_wrapper(name, at, closed.end())
        elif name in _IGNORED_TAGS and self.found:
            raise source.error(at, f"</{name}> has no opening tag, so the call before it may be reasoning")
        else:
            self.prose.elements.close(name, at)
        return self.prose.begin_answer(closed.end()) if name in _IGNORED_TAGS else closed.end()

    def _end_wrapper(self, name: str, at: int, end: int) -> None:
        """Close a wrapper tag; its calls count if nothing else is in it and it is outside of a sentence."""
        self._require_calls(name, at)
        wrapper = self.waiting.pop(name)
        if self.beside >= wrapper.start.at:
            raise self.source.error(self.beside, f"<{name}> contains text beside the call")
        self.loose = min(self.loose, wrapper.start.at - 1)
        if not self._accepts(wrapper.start.at, end, is_apart=self.prose.is_apart(wrapper.start, end)):
            del self.found[wrapper.calls :]

    def _require_calls(self, name: str, at: int) -> None:
        if self.waiting[name].calls == len(self.found):
            raise self.source.error(at, f"<{name}> contains no tool call")

    def _comment(self, at: int) -> int:
        end = self.source.masked.find("-->", at)
        if end < 0:
            raise self.source.error(at, "a comment is not closed; the text may be cut off")
        return end + 3
