"""The text that is searched for calls, with positions and JSON parsing."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, get_args

from mcp_lenient.errors import ToolCallError
from mcp_lenient.values.display import shown
from mcp_lenient.values.json_values import Dialect, DuplicateKeyError, parse_call_text, plain, unique_keys
from mcp_lenient.values.limits import Limits

_BYTE_ORDER_MARK: Final = "\ufeff"
_MAX_QUOTINGS: Final = 3
_DIALECTS: Final[frozenset[Dialect]] = frozenset(get_args(Dialect))
_LONG: Final = r"'{3}[^']*(?:'(?!'')[^']*)*'{3}" + r'|"{3}[^"]*(?:"(?!"")[^"]*)*"{3}'
"""A string of Python that may have line breaks and quotes in it."""
_MARK: Final = re.compile(
    rf"""{_LONG}|"[^"]*"?|'[^']*'?|//[^\n]*|/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/)?|[\[\](){{}}]"""
)
_DEPTH: Final[Mapping[str, int]] = MappingProxyType({"[": 1, "{": 1, "(": 1, "]": -1, "}": -1, ")": -1})
_SPACE: Final = re.compile(r"\s*")
_EXTENT: Final = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class Source:
    """A text within its limits.

    Attributes:
        text: The text, decoded if it was sent as a JSON string.
        masked: The text with escapes masked, so that each quote opens or closes a string.
        limits: The limits.
    """

    text: str
    masked: str
    limits: Limits

    @classmethod
    def of(cls, text: str, limits: Limits) -> Source:
        """Build a source from a text."""
        if len(text) > limits.text:
            msg = f"The text has {len(text):,} characters, more than the limit of {limits.text:,}."
            raise ToolCallError(msg)
        text = without_mark(_unquoted(without_mark(text)))
        masked = text.replace("\\\\", "\0\0").replace('\\"', "\0\0").replace("\\'", "\0\0")
        return cls(text, masked, limits)

    def where(self, at: int) -> str:
        """Return a position as line and column."""
        return f"line {self.text.count(chr(10), 0, at) + 1}, column {at - self.text.rfind(chr(10), 0, at)}"

    def past_space(self, at: int) -> int:
        """Return the end of the white space that begins at a position."""
        space = _SPACE.match(self.text, at)
        return at if space is None else space.end()

    def error(self, at: int, what: str) -> ToolCallError:
        """Return an error with its position."""
        return ToolCallError(f"At {self.where(at)}: {what}.")

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


def container(text: str, limits: Limits, dialects: frozenset[Dialect] = _DIALECTS) -> Any:
    """Parse a whole text as an array or object; None if that fails."""
    parsed = parse_call_text(text, limits, dialects)
    return None if parsed is None else plain(parsed.value)


def without_mark(text: str) -> str:
    """Replace a byte order mark at the beginning of a text by a space, so that positions stay the same."""
    return " " + text[1:] if text.startswith(_BYTE_ORDER_MARK) else text


def _unquoted(text: str) -> str:
    """Decode a text that is JSON in a JSON string."""
    inner = text
    for _ in range(_MAX_QUOTINGS):
        bare = inner.strip()
        if len(bare) < 2 or bare[0] != '"' or bare[-1] != '"':
            break
        try:
            inner = _EXTENT.decode(bare)
        except ValueError:
            break
    return inner if inner.lstrip().startswith(("{", "[")) else text
