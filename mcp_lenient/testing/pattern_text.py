"""A text of a regular expression's form, for the plain ones that schemas hold."""

from __future__ import annotations

import re
import string
from random import Random
from typing import Final

_MORE: Final = 3
"""How often more than its least a part without a most is repeated."""

_MOST_PARTS: Final = 10_000
"""How many parts a text has at most: ``(a{9999}){9999}`` asks for more than anybody sends."""

_CLASSES: Final = {
    "d": string.digits,
    "w": string.ascii_letters + string.digits + "_",
    "s": " ",
    "D": string.ascii_letters,
    "W": " -",
    "S": string.ascii_letters + string.digits,
}
_WRITTEN: Final = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
_PLACES: Final = frozenset("bBAzZ")
_VISIBLE: Final = "".join(map(chr, range(0x20, 0x7F)))
_COUNT: Final = re.compile(r"\{(\d+)(,?)(\d*)\}")
_CODE: Final = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})")
_GROUP: Final = re.compile(r"\?(?::|P?<[A-Za-z_]\w*>|(<?[=!]))")


class _UnreadError(Exception):
    """A part of a pattern that is not read here."""


def pattern_text(pattern: str, random: Random) -> str | None:
    r"""A text that a pattern most likely fits; None where the pattern is not plain.

    Lookarounds are passed over and places (``\b``) not seen to, so that the caller checks the text.

    >>> pattern_text("^[A]{2}-(?:7|7)$", Random(0))
    'AA-7'
    """
    reader = _Reader(pattern, random)
    try:
        text = reader.choices()
    except (_UnreadError, IndexError, RecursionError):
        return None
    return text if reader.at == len(pattern) else None


class _Reader:
    """Reads a pattern from left to right, and writes as it reads."""

    def __init__(self, pattern: str, random: Random) -> None:
        self.pattern = pattern
        self.random = random
        self.at = 0
        self.parts = 0

    def choices(self) -> str:
        """One of the parts between bars."""
        written = [self._part()]
        while self._next("|"):
            written.append(self._part())
        return self.random.choice(written)

    def _next(self, wanted: str) -> bool:
        found = self.pattern.startswith(wanted, self.at)
        self.at += len(wanted) if found else 0
        return found

    def _take(self) -> str:
        self.at += 1
        return self.pattern[self.at - 1]

    def _part(self) -> str:
        written: list[str] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            start = self.at
            first = self._one()
            least, most = self._times()
            # Each repetition is read anew, so that it need not be the same as the first.
            end, made = self.at, [first]
            for _ in range(self.random.randint(least, most) - 1):
                self.at = start
                made.append(self._one())
            self.at = end
            written += made if most and (least or self.random.random() < 0.5) else []
        return "".join(written)

    def _times(self) -> tuple[int, int]:
        least, most = 1, 1
        counted = _COUNT.match(self.pattern, self.at)
        if counted is not None:
            self.at = counted.end()
            least = int(counted[1])
            most = int(counted[3]) if counted[3] else least + (_MORE if counted[2] else 0)
        elif self._next("?"):
            least, most = 0, 1
        elif self._next("*"):
            least, most = 0, _MORE
        elif self._next("+"):
            least, most = 1, 1 + _MORE
        if counted or (least, most) != (1, 1):
            self._next("?")
        return least, max(least, most)

    def _one(self) -> str:
        self.parts += 1
        if self.parts > _MOST_PARTS:
            raise _UnreadError
        char = self._take()
        if char in "^$":
            return ""
        if char == "(":
            return self._group()
        if char == "[":
            return self.random.choice(self._set())
        if char == ".":
            return self.random.choice(string.ascii_letters + string.digits)
        if char == "\\":
            return self._escaped()
        if char in "*+?{":
            raise _UnreadError
        return char

    def _group(self) -> str:
        kind = _GROUP.match(self.pattern, self.at)
        if kind is not None:
            self.at = kind.end()
        elif self.pattern[self.at] == "?":
            raise _UnreadError
        text = self.choices()
        if not self._next(")"):
            raise _UnreadError
        return "" if kind is not None and kind[1] else text

    def _escaped(self) -> str:
        return "" if self.pattern[self.at] in _PLACES and self._take() else self.random.choice(self._escape())

    def _escape(self) -> str:
        """The characters that an escape stands for."""
        code = _CODE.match(self.pattern, self.at)
        if code is not None:
            self.at = code.end()
            return chr(int(code[1] or code[2], 16))
        char = self._take()
        if char in _CLASSES:
            return _CLASSES[char]
        if char.isalnum() and char not in _WRITTEN:
            raise _UnreadError
        return _WRITTEN.get(char, char)

    def _set(self) -> str:
        """The characters that brackets stand for."""
        but, known, first = self._next("^"), "", True
        while first or not self._next("]"):
            first = False
            one = self._member()
            if len(one) == 1 and self.pattern[self.at] == "-" and self.pattern[self.at + 1] != "]":
                self.at += 1
                last = self._member()
                one = "".join(map(chr, range(ord(one), min(ord(last), ord(one) + 0x80) + 1)))
            known += one
        chosen = "".join(sorted(set(_VISIBLE) - set(known))) if but else known
        if not chosen:
            raise _UnreadError
        return chosen

    def _member(self) -> str:
        char = self._take()
        return self._escape() if char == "\\" else char
