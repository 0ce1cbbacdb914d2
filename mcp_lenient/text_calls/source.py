"""The text that is searched for calls, with positions and JSON parsing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from mcp_lenient.errors import ToolCallError
from mcp_lenient.text_calls.known_tools import PYTHON_NAMES, KnownTools
from mcp_lenient.values.display import shown
from mcp_lenient.values.json_values import DuplicateKeyError, container, unique_keys
from mcp_lenient.values.limits import Limits

_BYTE_ORDER_MARK: Final = "\ufeff"
_MAX_QUOTINGS: Final = 3
_LONG: Final = r"'{3}[^']*(?:'(?!'')[^']*)*'{3}" + r'|"{3}[^"]*(?:"(?!"")[^"]*)*"{3}'
"""A string of Python that may have line breaks and quotes in it."""
_MARK: Final = re.compile(
    rf"""{_LONG}|"[^"]*"?|'[^']*'?|//[^\n]*|/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/)?|[\[\](){{}}]"""
)
_DEPTH: Final = {"[": 1, "{": 1, "(": 1, "]": -1, "}": -1, ")": -1}
_SPACE: Final = re.compile(r"\s*")
_EXTENT: Final = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class Source:
    """A text within its limits.

    Attributes:
        text: The text, decoded if it was sent as a JSON string.
        masked: The text with escapes masked, so that each quote opens or closes a string.
        limits: The limits.
        tools: The tools that may be called.
    """

    text: str
    masked: str
    limits: Limits
    tools: KnownTools

    @classmethod
    def of(cls, text: str, limits: Limits, tools: KnownTools) -> Source:
        """Build a source from a text."""
        if len(text) > limits.text:
            msg = f"The text has {len(text):,} characters, more than the limit of {limits.text:,}."
            raise ToolCallError(msg)
        text = without_mark(_unquoted(without_mark(text)))
        masked = text.replace("\\\\", "\0\0").replace('\\"', "\0\0").replace("\\'", "\0\0")
        return cls(text, masked, limits, tools)

    def where(self, at: int) -> str:
        """Return a position as line and column."""
        return f"line {self.text.count(chr(10), 0, at) + 1}, column {at - self.text.rfind(chr(10), 0, at)}"

    def past_space(self, at: int) -> int:
        """Return the end of the white space that begins at a position."""
        return self.past_all(_SPACE, at)

    def past_all(self, pattern: re.Pattern[str], at: int) -> int:
        """Return the end of what a pattern matches at a position."""
        match = pattern.match(self.text, at)
        return at if match is None else match.end()

    def error(self, at: int, what: str, kind: type[ToolCallError] = ToolCallError) -> ToolCallError:
        """Return an error with its position."""
        return kind(f"At {self.where(at)}: {what}.")

    def unknown(self, at: int, tool: str) -> ToolCallError:
        """Return the error for a call of another tool than the given ones."""
        return self.error(at, f"the called tool '{shown(tool)}' is not among the given tools")

    def read(self, start: int, end: int) -> Any:
        """Parse an array or object; None if that fails."""
        return container(self.text[start:end], self.limits)

    def unreadable(self, start: int, end: int) -> str:
        """Return the reason why JSON cannot be parsed."""
        try:
            json.loads(self.text[start:end], object_pairs_hook=unique_keys, strict=False)
        except DuplicateKeyError as error:
            return f"the JSON that begins here has the key '{shown(error.args[0])}' twice"
        except (ValueError, RecursionError):
            return "the value that begins here cannot be parsed as JSON, JSON5 or Python"
        return (
            "the JSON that begins here contains a number that would lose digits, or a backspace or form feed "
            "(a backslash that was not doubled?), or is nested too deeply"
        )

    def end(self, at: int) -> tuple[int, bool]:
        """Return the end of the array or object that begins here, and whether it is plain JSON."""
        try:
            return _EXTENT.raw_decode(self.text, at)[1], True
        except (ValueError, RecursionError):
            return self._relaxed_end(at), False

    def _relaxed_end(self, at: int) -> int:
        depth = 0
        for mark in _MARK.finditer(self.masked, at, at + self.limits.relaxed_text):
            token = mark[0]
            if token[0] in "\"'" and (len(token) < 2 or token[0] != token[-1]):
                break
            depth += _DEPTH.get(token, 0)
            if depth > self.limits.depth:
                raise self.error(at, f"what begins here nests deeper than {self.limits.depth} levels")
            if depth == 0 and token in _DEPTH:
                return mark.end()
        raise self.error(at, "what begins here does not end; the text may be cut off")

    # What dialects parse

    def expect(self, pattern: re.Pattern[str], at: int, what: str) -> re.Match[str]:
        """Match a pattern at a position."""
        match = pattern.match(self.text, at)
        if match is None:
            cut = " (the text ends; it may be cut off)" if at >= len(self.text.rstrip()) else ""
            raise self.error(at, f"expected {what}{cut}")
        return match

    def json_object(self, at: int) -> tuple[dict[str, Any], int]:
        """Parse the JSON object that begins at a position or after space; return it and its end."""
        value, end = self.json(self.past_space(at))
        if not isinstance(value, dict):
            raise self.error(at, "the arguments are an array, but must be an object")
        return value, end

    def json(self, at: int) -> tuple[Any, int]:
        """Parse the JSON array or object that begins at a position; return it and its end."""
        if self.text[at : at + 1] not in ("{", "["):
            raise self.error(at, "expected JSON")
        end = self.end(at)[0]
        value = self.read(at, end)
        if value is None:
            raise self.error(at, self.unreadable(at, end))
        return value, end

    def scalar(self, raw: str, at: int) -> Any:
        """Parse a JSON value of any type."""
        value = container(f"[{raw}]", self.limits, frozenset({"json"}))
        if not isinstance(value, list) or len(value) != 1:
            raise self.error(at, "a value cannot be parsed as JSON, or would lose digits")
        return value[0]

    def typed(self, tool: str, parameter: str, raw: str, at: int) -> Any:
        """Parse a value that is written without a type; see :meth:`KnownTools.is_text`."""
        is_text = self.tools.is_text(tool, parameter, raw)
        if is_text is None:
            what = f"'{shown(parameter)}' of '{shown(tool)}' may be a text or JSON of another type"
            raise self.error(at, f"{what}; pass the tools' definitions as tools=")
        return raw if is_text else self.scalar(PYTHON_NAMES.get(raw, raw), at)

    def parameters(
        self,
        at: int,
        key: re.Pattern[str],
        value_end: re.Pattern[str] | None,
        value_of: Callable[[re.Match[str], str], tuple[str, Any]],
        tool: str = "",
        part: re.Pattern[str] | None = None,
    ) -> tuple[dict[str, Any], int]:
        """Parse consecutive parameters; return them and their end.

        ``key`` matches a parameter up to its value, ``value_end`` what follows the value, by default the closing tag;
        ``value_of`` returns the name and value from the match of ``key`` and the raw value. A value of the tool that
        contains ``part``, a mark of the form, is an error.
        """
        arguments: dict[str, Any] = {}
        while (begun := key.match(self.text, at)) is not None:
            closing = value_end or re.compile(f"</{re.escape(begun['key'])}>")
            end = closing.search(self.text, begun.end())
            if end is None:
                value = "a value" if value_end else f"<{shown(begun['key'])}>"
                raise self.error(begun.start(), f"{value} is not closed; the text may be cut off")
            raw = self.text[begun.end() : end.start()]
            mark = part.search(raw) if part else None
            if mark is not None:
                raise self.in_value(tool, begun, mark)
            name, value = value_of(begun, raw)
            self.put(arguments, name, value, begun.start())
            at = end.end()
        return arguments, at

    def in_value(self, tool: str, parameter: re.Match[str], tag: re.Match[str]) -> ToolCallError:
        """Return the error for a tag in a value that may be a part of the call."""
        named = f"'{shown(parameter['key'])}' of '{shown(tool)}'"
        what = f"the value of {named} contains {shown(tag[0])}, which may be a part of the call"
        form = f'<{shown(tool)}>{{"{shown(parameter["key"])}": "..."}}</{shown(tool)}>'
        return self.error(self.past_space(parameter.start()), f"{what}; write the call as {form}")

    def put(self, arguments: dict[str, Any], name: str, value: Any, at: int) -> None:
        """Add an argument."""
        if name in arguments:
            raise self.error(at, f"the call has the argument '{shown(name)}' twice")
        arguments[name] = value


def without_mark(text: str) -> str:
    """Replace a byte order mark at the beginning of a text by a space, so that positions stay the same."""
    return " " + text[1:] if text.startswith(_BYTE_ORDER_MARK) else text


def _unquoted(text: str) -> str:
    """Decode a text that is JSON in a JSON string."""
    inner = text
    with suppress(ValueError):
        for _ in range(_MAX_QUOTINGS):
            inner = _EXTENT.decode(inner) if inner.lstrip().startswith('"') else inner
    return inner if inner.lstrip().startswith(("{", "[")) else text
