"""The bytes of a fuzzer as choices, so that each byte means something and none is wasted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """Reads bytes from the front; when they are used up, every choice is the first."""

    __slots__ = ("_at", "_data")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def spent(self) -> bool:
        """Whether all bytes are read."""
        return self._at >= len(self._data)

    def below(self, bound: int) -> int:
        """A number from 0 on and below ``bound``, which is at most 256."""
        if self.spent:
            return 0
        self._at += 1
        return self._data[self._at - 1] % bound

    def one_of(self, values: Sequence[T]) -> T:
        """One of the values."""
        return values[self.below(len(values))]

    def flag(self) -> bool:
        """True or false, false when the bytes are used up."""
        return self.below(2) == 1

    def some_of(self, values: Sequence[T], most: int) -> list[T]:
        """Some of the values, each at most once, in the order in which they were chosen."""
        return list(dict.fromkeys(self.one_of(values) for _ in range(self.below(most + 1))))

    def text(self) -> str:
        """Up to 255 bytes as they stand there."""
        length = self.below(256)
        return self._as_text(length)

    def rest(self) -> str:
        """All bytes that are left, as one text."""
        return self._as_text(len(self._data))

    def _as_text(self, length: int) -> str:
        taken = self._data[self._at : self._at + length]
        self._at += len(taken)
        try:
            return taken.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            return taken.decode("latin-1")
