"""Read the calls of a text in one pass, at the beginning of lines; anything but plain text around them stops all of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Literal, NamedTuple

from mcp_lenient.errors import NoToolCallError, ToolCallError
from mcp_lenient.text_calls.call import (
    MAX_CALLS,
    PART_NAMES,
    CallAt,
    JsonCalls,
    RecordError,
    ToolCall,
    looks_like_call,
    may_name_tool,
)
from mcp_lenient.text_calls.dialects import python
from mcp_lenient.text_calls.dialects.grammar import Dialect
from mcp_lenient.text_calls.native import CLOSED, CLOSING, CONTAINERS, OPENED, TAG_NAME
from mcp_lenient.text_calls.prose import COLONS, ITEM, ONLY_WORDS, OWN, TEXT_LINE, is_line, is_sentence
from mcp_lenient.text_calls.source import Source
from mcp_lenient.values.display import shown
from mcp_lenient.values.json_values import same_json

MAX_PLACES: Final = 5_000
"""Calls, tags, JSON values and lines that are read before a text is given up; JSON5 and Python count as ten."""
MAX_MARKS: Final = 100_000
"""Characters that may begin a tag or JSON value."""
JSON: Final = "json"
_DEEPEST: Final = 2
"""Fences and wrapper tags around a fence or wrapper tag."""
_VOID: Final = frozenset("area base br col embed hr img input link meta source track wbr".split())
"""HTML's void elements (HTML Living Standard, 13.1.2), which have no closing tag."""
_RESULTS: Final = frozenset("tool_response tool_result tool_results function_results".split())
"""Elements of results, which are not calls."""
_OBJECT: Final = r"""\{\s*(?:["'}/]|[\w$]{1,128}\s*:)"""
_VALUE: Final = re.compile(rf"(?:\[\s*)?{_OBJECT}")
_APART: Final = re.compile(rf"[`~]|[\w.]{{1,700}}[\[(]|{_VALUE.pattern}|{python.LIST.pattern}")
"""What begins a fence, or a call without any mark at its end: Python, Phi-4's and bare JSON."""
_CONTENT: Final = re.compile(rf"""(?P<fence>```[\w+-]*\s*)?(?=(?:\[\s*)?{_OBJECT}|"\s*\{{)""")
_TAG: Final = re.compile(rf"<(?P<name>{TAG_NAME})(?P<attributes>\s[^<>]*?)??(?P<empty>\s*/)?>")
_CLOSED: Final = re.compile(rf"\s*</({TAG_NAME})\s*>")
_STRING: Final = re.compile('"[^"]*"')
_CUT_OFF: Final = re.compile(r"<(?:/|/?[^\W\d][\w.:-]{0,127}\s?)?\Z")
_GAP: Final = re.compile(r"[\s,;]*")
"""What may be between calls in a fence or wrapper tag."""
_AFTER_CALL: Final = re.compile(r"[^\S\n]*[,;]?[^\S\n]*(?=[<{\[\n]|```|\Z)")
_SPACE: Final = re.compile(r"[^\S\n]*")
_CODE_COLUMNS: Final = 4
"""Columns that make an indented line code in Markdown."""
_FENCE: Final = re.compile(r"(?P<mark>`{3,}|~{3,})(?P<info>[^`\n]*)")
_CALL_FENCE: Final = re.compile(
    r"(?P<mark>```|~~~)(?:json|xml|tool_call|(?P<code>python|py|tool_code))?[^\S\n]*\n"
)
_MAY_BE_CODE: Final = re.compile(r"(?:```|~~~)(?!tool_)")
"""A fence in which a Python call that is not in a list may be an example."""
_TOKENS: Final = ("<|", "<｜", "[TOOL_CALLS]")
"""Beginnings of the markers that models write directly after a word."""
_AFTER_SPACE: Final = "<|tool_call>"
"""The marker that may have a space before it: Gemma's, as recorded."""
_MARK: Final = re.compile(rf"{OPENED.pattern}|{OWN.pattern}|<\||<｜|\[TOOL_CALLS\]|<tool_calls?>")
"""What ends the plain text on a line."""


_Begun = tuple[list[CallAt], int]
"""Calls, and where they end."""
_Read = Callable[[int], _Begun | None]
"""Reads what begins at a position; returns None if that is not a call."""


Prose = Literal["none", "before", "around"]
"""The text beside calls: only marked reasoning; text before them that does not end in a colon; any other text."""


class AnswerCalls(NamedTuple):
    """The calls of a text, and what text is beside them."""

    calls: list[CallAt]
    prose: Prose


def read_answer(source: Source, dialects: Collection[Dialect], *, takes_json: bool) -> AnswerCalls:
    """Return the calls in a text, at least one.

    Args:
        source: The text, with the known tools and servers.
        dialects: The dialects whose calls are read.
        takes_json: Whether JSON is read, also in tags.
    """
    marks = sum(map(source.masked.count, "<[{"))
    if marks > MAX_MARKS:
        msg = f"The text has {marks:,} brackets, more than the limit of {MAX_MARKS:,}."
        raise ToolCallError(msg)

    whole = _Scan(source, dialects, takes_json)
    begin = _past_reasoning(source, _Scan(source, dialects, takes_json))
    whole.run(begin, len(source.text))
    whole.finish()
    # What ends with a closing mark without an opening one may be reasoning or a quotation.
    unopened = CLOSED.sub("", source.text[:begin]).strip()
    return AnswerCalls(whole.calls, _before(unopened) if unopened and whole.prose == "none" else whole.prose)


def _before(text: str) -> Prose:
    return "around" if text.rstrip().endswith(COLONS) else "before"


def _past_reasoning(source: Source, scan: _Scan) -> int:
    """Return the end of reasoning that the prompt opened; 0 if there is none."""
    closed, opened = CLOSED.search(source.text), OPENED.search(source.text)
    if closed is None or (opened is not None and opened.start() < closed.start()):
        return 0
    try:
        scan.run(0, closed.start())
    except ToolCallError:
        return closed.end()
    if scan.calls and scan.past <= closed.start():
        what = f"{closed[0]} has no opening marker, so the call before it may be reasoning"
        raise source.error(closed.start(), what)
    return 0 if scan.calls else closed.end()


@dataclass(slots=True)
class _Scan:
    source: Source
    dialects: Collection[Dialect]
    takes_json: bool
    calls: list[CallAt] = field(default_factory=list)
    past: int = 0
    """The end of the last call and of what may follow it on its line."""
    odd: int | None = None
    """The position of the first thing that is neither a call, marked reasoning nor plain text."""
    prose: Prose = "none"
    in_list: bool = False
    """Whether the last line is in a list that no blank line has ended."""
    example: int | None = None
    """The position of the first Python call that may be an example if the text has anything else."""
    begun: int | None = None
    """The position where the first Python calls begin, if the first ones are."""
    is_over: bool = False
    """Whether the model's final message has begun."""
    data: int | None = None
    """The position of the first JSON value that is not a call."""
    places: int = 0

    def run(self, at: int, end: int) -> None:
        """Read the text from a position on."""
        while (start := self.source.past_space(at)) < end:
            self._count(start)
            if self.source.text.count("\n", at, start) > 1:
                self.in_list = False
            at = self._thing(at, start)

    def finish(self) -> None:
        """Raise an error unless there are calls, and only plain text beside them."""
        source, calls = self.source, self.calls
        cut_off = _CUT_OFF.search(source.masked, max(self.past, len(source.masked) - 130))
        if cut_off is not None:
            raise source.error(cut_off.start(), "the text ends within a tag; it may be cut off")
        if calls and self.odd is not None:
            called = shown(calls[0].call.tool)
            what = f"text that is not plain is beside the call of '{called}' and may quote it"
            raise source.error(self.odd, f"{what}; if the call is meant, send the call alone")
        if self.example is not None and self.prose != "none":
            what = "text is beside a Python call that is not in a list, which may be an example"
            raise source.error(self.example, f"{what}; if the call is meant, send the call alone")
        if not calls:
            raise NoToolCallError(self._why_none())

    def _why_none(self) -> str:
        where = self.source.where
        if not self.source.text.strip():
            return "The text is empty, so it contains no tool call."
        if self.data is not None:
            return f"No tool call in this text: the JSON at {where(self.data)} does not have both a tool's name and arguments."
        if self.odd is not None:
            tag = _TAG.match(self.source.masked, self.odd)
            is_around = tag is not None and _TAG.match(self.source.masked, self.source.past_space(tag.end()))
            server = (
                f" If <{shown(tag['name'])}> is a server, name it in servers." if tag and is_around else ""
            )
            return f"No tool call in this text: what begins at {where(self.odd)} is no call.{server}"
        return "No tool call in this text."

    def _count(self, at: int, times: int = 1) -> None:
        self.places += times
        if self.places > MAX_PLACES:
            raise self.source.error(at, f"the text contains more than {MAX_PLACES:,} calls, tags and lines")

    def _note_odd(self, at: int) -> None:
        self.odd = at if self.odd is None else self.odd

    # --- at depth zero ----------------------------------------------------------------------------------

    def _thing(self, at: int, start: int) -> int:
        """Read what begins at a position after space; return its end."""
        text = self.source.text
        opened = OPENED.match(text, start)
        if opened is not None:
            return self._past_thought(opened)
        if not self._is_indented(at, start):
            end = self._calls_here(at, start)
            if end is not None:
                return end
            turn_token = OWN.match(text, start)
            if turn_token is not None:
                return turn_token.end()
            end = self._closed_here(start)
            if end is not None:
                self._note_odd(start)
                return end
        return self._line(start, after_call=bool(self.calls) and at == self.past)

    def _is_indented(self, at: int, start: int) -> bool:
        """Return whether space begins a line that is in a list item or, with four columns of it, code in Markdown."""
        _, line_break, indent = self.source.text[at:start].rpartition("\n")
        columns = len(indent.expandtabs(_CODE_COLUMNS))
        return (at == 0 or bool(line_break)) and columns >= (_CODE_COLUMNS if self.prose == "none" else 1)

    def _past_thought(self, opened: re.Match[str]) -> int:
        closing = CLOSING[opened[0]]
        end = self.source.text.find(closing, opened.end())
        if end < 0:
            raise self.source.error(opened.start(), f"{opened[0]} is not closed; the text may be cut off")
        return end + len(closing)

    def _line(self, start: int, *, after_call: bool) -> int:
        """Read text up to the end of the line or a marker in it; anything else is skipped to the end."""
        text = self.source.text
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        mark = _MARK.search(text, start + 1, end)
        line = text[start : mark.start() if mark else end]
        if mark is None:
            plain = is_line(line)
        else:
            words = line.removesuffix(" ") if text.startswith(_AFTER_SPACE, mark.start()) else line
            plain = line[0].isalpha() and (
                is_sentence(line) or (mark[0] in _TOKENS and ONLY_WORDS.fullmatch(words) is not None)
            )
        # `{...}` and then `is how one deletes a file`: the sentence began with the call.
        plain = plain and not (after_call and line.lstrip("*_(")[:1].islower())
        self.in_list = self.in_list or ITEM.match(line) is not None
        self._note_prose(line)
        if not plain:
            self._note_odd(start)
        return start + len(line) if plain or TEXT_LINE.match(line) or self.in_list else len(text)

    def _note_prose(self, text: str) -> None:
        self.prose = "around" if self.calls else _before(text)

    def _closed_here(self, at: int) -> int | None:
        """Return the end of an element, comment, fence or JSON value that is not a call, if it is closed."""
        text = self.source.text
        tag, fence = _TAG.match(self.source.masked, at), _FENCE.match(text, at)
        if _VALUE.match(text, at):
            self.data = at if self.data is None else self.data
            return self.source.end(at)[0]
        if tag is not None:
            return tag.end() if tag["empty"] else self._past_element(tag)
        if fence is not None:
            mark = fence["mark"]
            closing = re.compile(rf"^ {{0,3}}{mark[0]}{{{len(mark)},}}[ \t]*$", re.MULTILINE)
            closed = closing.search(text, fence.end())
            return closed.end() if closed else None
        end = text.find("-->", at) if text.startswith("<!--", at) else -1
        return None if end < 0 else end + len("-->")

    def _past_element(self, tag: re.Match[str]) -> int | None:
        depth, tags = 1, re.compile(rf"<(/?){re.escape(tag['name'])}(?:\s[^<>]*)?(?<!/)>")
        for match in tags.finditer(self.source.masked, tag.end()):
            depth += -1 if match[1] else 1
            if depth == 0:
                return match.end()
        return None

    # --- calls ------------------------------------------------------------------------------------------

    def _calls_here(self, at: int, start: int) -> int | None:
        """Add the calls that begin here and return their end; None if there are none."""
        begun = self._native(start, at) or self._call(start) or self._fenced(start)
        if begun is None:
            return None
        calls, end = begun
        after = _AFTER_CALL.match(self.source.text, end)
        if calls and after is None and not self._begins_sentence(start, end):
            self._note_odd(start)
            return end
        if calls and (self.in_list or self.is_over):
            self._note_odd(start)
        if not self._is_again(calls, start):
            for call in calls:
                self._add(call)
        self.past = after.end() if after else end
        return self.past

    def _begins_sentence(self, start: int, end: int) -> bool:
        """Return whether a sentence, or a token of the model's turn, begins after a call in tags or between markers."""
        text, after = self.source.text, self.source.past_all(_SPACE, end)
        is_apart = _APART.match(text, start) is not None
        return OWN.match(text, after) is not None or (not is_apart and text[after].isupper())

    def _is_again(self, calls: list[CallAt], start: int) -> bool:
        """Return whether Python calls are those before, once bare and once in a fence; other second ones are an error."""
        text = self.source.text
        begun = python.OPENER.match(text, calls[0].at) if calls else None
        if begun is None:
            return False
        without = start == calls[0].at and not all(entry.call.arguments for entry in calls)
        if not begun["list"] and (without or _MAY_BE_CODE.match(text, start)):
            self.example = start
        if not self.calls:
            self.begun = start
            return False
        first, second = (
            [[entry.call.tool, entry.call.arguments] for entry in entries] for entries in (self.calls, calls)
        )
        is_other_form = self.begun is not None and (text[self.begun] in "`~") != (text[start] in "`~")
        if is_other_form and same_json(first, second):
            return True
        raise self.source.error(start, "other calls in Python begin here; send one list of calls")

    def _add(self, entry: CallAt) -> None:
        call, at, dialect = entry
        if self.calls and self._family(self.calls[0].dialect) != self._family(dialect):
            what = f"a call in the form of {dialect} begins here, but this text is in that of {self.calls[0].dialect}"
            raise self.source.error(at, what)
        if not self.source.tools.has(call.tool):
            raise self.source.unknown(at, call.tool)
        if len(self.calls) == MAX_CALLS:
            raise self.source.error(at, f"the text contains more than {MAX_CALLS:,} tool calls")
        self.calls.append(entry)

    def _family(self, dialect: str) -> str:
        """Return the dialect of a model family; the forms that may be beside JSON count as one."""
        return dialect if any(row.name == dialect and not row.is_markup for row in self.dialects) else JSON

    def _native(self, start: int, at: int | None = None, *, is_code: bool = False) -> _Begun | None:
        """Read a call in one of the dialects; the beginning of the text counts, as in Harmony's header."""
        for dialect in (row for row in self.dialects if row.name == python.PYTHON or not is_code):
            for place in {start if at is None else at, start}:
                opener = dialect.opener.match(self.source.text, place)
                if opener is not None and dialect.is_call(self.source.tools, opener):
                    calls, end = dialect.reader(dialect, self.source, opener)
                    if not calls:  # a message of Harmony
                        message = self.source.text[opener.end() : end]
                        if "analysis" not in opener[0]:
                            self._note_prose(message.removesuffix("<|end|>"))
                        is_closed = message.endswith("<|end|>") and "<|start|>" not in message
                        self.is_over = self.is_over or "final" in opener[0] or not is_closed
                    return [CallAt(call, start, dialect.name) for call in calls], end
        return None

    def _call(self, at: int, depth: int = 0) -> _Begun | None:
        """Read JSON, a wrapper tag or the tag of a tool or server; None if there is no call."""
        if self.takes_json and _VALUE.match(self.source.text, at):
            return self._json(at)
        tag = _TAG.match(self.source.masked, at)
        if tag is None:
            return None
        if tag["name"] in CONTAINERS and not tag["attributes"] and not tag["empty"]:
            if depth > _DEEPEST:
                raise self.source.error(tag.start(), f"<{tag['name']}> is inside other wrapper tags")
            return self._element(tag, partial(self._inside, depth + 1))
        is_server = tag["name"] in self.source.tools.servers or self._begins_its_tool(tag)
        if is_server and not tag["empty"] and not self._is_tool(tag):
            self._require_name(tag, is_server=True)
            return self._element(tag, partial(self._of_server, tag["name"]))
        return self._tool(None, tag)

    def _json(self, at: int) -> _Begun | None:
        end, is_plain = self.source.end(at)
        if not is_plain:
            self._count(at, 10)
        value = self.source.read(at, end)
        if value is None and looks_like_call(self.source.text[at:end]):
            raise self.source.error(at, self.source.unreadable(at, end))
        calls = JsonCalls(self.source, at).read(value)
        return ([CallAt(call, at, JSON) for call in calls], end) if calls else None

    def _fenced(self, at: int, depth: int = 0) -> _Begun | None:
        """Read a fence that contains nothing but calls."""
        fence = _CALL_FENCE.match(self.source.text, at)
        if fence is None or depth > _DEEPEST:
            return None
        read = partial(self._native, is_code=True) if fence["code"] else partial(self._inside, depth + 1)
        calls, end, is_closed = self._only_calls(fence.end(), rf"{fence['mark']}(?![`~])", read)
        return (calls, end) if calls and is_closed else None

    def _inside(self, depth: int, at: int) -> _Begun | None:
        return self._native(at) or self._call(at, depth) or self._fenced(at, depth)

    def _element(self, tag: re.Match[str], read: _Read) -> _Begun:
        """Read an element that contains nothing but calls."""
        name, source = tag["name"], self.source
        calls, end, is_closed = self._only_calls(tag.end(), rf"</{re.escape(name)}\s*>", read)
        is_cut = end == len(source.text) and not is_closed
        # A wrapper tag may be left open at the end of the text.
        if calls and (is_closed or (is_cut and name in CONTAINERS)):
            return calls, end
        inner = _TAG.match(source.masked, end)
        if inner is not None:
            raise source.error(end, f"<{shown(inner['name'])}> inside <{name}> is not a tool call")
        beside = "is cut off" if is_cut else "contains text beside the call"
        raise source.error(end, f"<{name}> {beside if calls else 'contains no tool call'}")

    def _only_calls(self, at: int, closing: str, read: _Read) -> tuple[list[CallAt], int, bool]:
        """Read calls up to a closing mark; return them, where reading ended, and whether it is at the mark."""
        calls: list[CallAt] = []
        while True:
            at = self.source.past_all(_GAP, at)
            closed = re.compile(closing).match(self.source.text, at)
            begun = None if closed else read(at)
            if begun is None:
                return calls, closed.end() if closed else at, closed is not None
            self._count(at)
            calls, at = calls + begun[0], begun[1]

    # --- tags -------------------------------------------------------------------------------------------

    def _is_server(self, tag: re.Match[str]) -> bool:
        return tag["name"] in self.source.tools.servers and not self.source.tools.lists(tag["name"])

    def _is_tool(self, tag: re.Match[str]) -> bool:
        """Return whether JSON follows the tag of a known tool, which is named like its server."""
        return self.source.tools.lists(tag["name"]) and self._content(tag) is not None

    def _begins_its_tool(self, tag: re.Match[str]) -> bool:
        """Return whether a known tool follows the tag that its name begins with: ``<web><web_search>``."""
        inner = _TAG.match(self.source.masked, self.source.past_space(tag.end()))
        is_known = inner is not None and self.source.tools.lists(inner["name"])
        return is_known and inner is not None and inner["name"].startswith(f"{tag['name']}_")

    def _content(self, tag: re.Match[str]) -> re.Match[str] | None:
        return _CONTENT.match(self.source.masked, self.source.past_space(tag.end()))

    def _of_server(self, server: str, at: int) -> _Begun | None:
        """Read the tag of a tool in that of its server."""
        tag = _TAG.match(self.source.masked, at)
        return None if tag is None or self._is_server(tag) else self._tool(server, tag)

    def _tool(self, server: str | None, tag: re.Match[str]) -> _Begun | None:
        """Read the tag of a tool; None if it is other markup."""
        source, name = self.source, tag["name"]
        if name in _RESULTS and not self.source.tools.lists(name):
            return None
        content = self._content(tag) if self.takes_json else None
        closed = _CLOSED.match(source.masked, tag.end())
        is_pair = closed is not None and closed[1] == name and not tag["empty"]
        if tag["empty"] or is_pair:
            takes_tags = self.takes_json or any(row.is_markup for row in self.dialects)
            if not takes_tags or tag["attributes"] or not self._may_be_empty(name, is_pair=is_pair):
                return None
            end = closed.end() if is_pair and closed else tag.end()
            return [CallAt(ToolCall(server, name, {}), tag.start(), JSON)], end
        if content is None and not source.tools.lists(name):
            return None
        if source.past_space(tag.end()) == len(source.text):
            raise source.error(tag.start(), "the text ends after an opening tag; it may be cut off")
        self._require_name(tag)
        if content is None:
            raise source.error(tag.start(), f"<{name}> does not contain a JSON object with the arguments")
        arguments, end = self._arguments(tag, content, is_in_server=server is not None)
        call = CallAt(ToolCall(server, name, arguments), tag.start(), JSON)
        return [call], self._past_closing(tag, end)

    def _may_be_empty(self, name: str, *, is_pair: bool) -> bool:
        """Return whether an empty tag may be a call: not one of HTML's, nor JSX's, which are capitalized."""
        if self.source.tools.lists(name):
            return True
        is_other = is_pair or name.lower() in _VOID or name in PART_NAMES | CONTAINERS or name[0].isupper()
        return self.source.tools.has(name) and not is_other

    def _require_name(self, tag: re.Match[str], *, is_server: bool = False) -> None:
        """Require that a tag has no attributes, and is named like a tool or server, not like a part of a call."""
        at, name = tag.start(), tag["name"]
        if tag["attributes"]:
            raise self.source.error(at, f"<{name}> has attributes, which a tool call does not have")
        if name in PART_NAMES and (is_server or not self.source.tools.lists(name)):
            raise self.source.error(at, f"<{name}> is a part of a call, not the name of a tool")

    def _arguments(
        self, tag: re.Match[str], content: re.Match[str], *, is_in_server: bool
    ) -> tuple[dict[str, Any], int]:
        """Return the arguments in a tool's tag, and the end of their text."""
        source, start, name = self.source, content.end(), tag["name"]
        string = _STRING.match(source.masked, start)
        end = string.end() if string is not None else source.end(start)[0]
        arguments = source.read(start, end)
        if arguments is None:
            raise source.error(start, source.unreadable(start, end))
        if not arguments and "/*" in source.text[start:end]:
            raise source.error(start, f"<{name}> contains a comment instead of arguments")
        if not isinstance(arguments, dict):
            raise source.error(start, f"<{name}> contains an array, but arguments must be an object")
        inner = self._inner(arguments, start)
        if inner is not None and (not is_in_server or inner == name):
            held = f"a call of '{shown(inner)}'" if inner else "what may be a call or the record of one"
            hint = "; pass the tools as tools=" if source.tools.schemas is None else ""
            what = f"<{name}> contains {held}, or is itself a call with such arguments{hint}"
            raise source.error(tag.start(), what)
        if content["fence"]:
            fence = source.past_space(end)
            if not source.text.startswith("```", fence):
                raise source.error(end, "the fence is not closed; the text may be cut off")
            end = fence + len("```")
        return arguments, end

    def _inner(self, arguments: dict[str, Any], at: int) -> str | None:
        """Return the tool's name if arguments have the form of a call, "" if they may be one or its record; None otherwise."""
        try:
            calls = JsonCalls(self.source, at).read(arguments)
        except RecordError:
            return ""
        except ToolCallError:
            calls = None
        is_unknown = self.source.tools.schemas is None and may_name_tool(arguments)
        return calls[0].tool if calls else "" if is_unknown else None

    def _past_closing(self, tag: re.Match[str], at: int) -> int:
        closed = _CLOSED.match(self.source.masked, at)
        if closed is not None and closed[1] == tag["name"]:
            return closed.end()
        what = f"</{closed[1]}> follows" if closed is not None else "something else follows"
        if self.source.past_space(at) == len(self.source.text):
            what = "the text is cut off"
        raise self.source.error(at, f"expected </{tag['name']}> to close the tag, but {what}")
