"""Read a fuzzer's bytes as choices, so that every byte has a meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """Choices read from bytes, front to back; when no bytes are left, every choice is the first one."""

    __slots__ = ("_at", "_data")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def spent(self) -> bool:
        """Return whether all bytes have been read."""
        return self._at >= len(self._data)

    def below(self, bound: int) -> int:
        """Return a number from 0 to below ``bound``, which is at most 256."""
        if self.spent:
            return 0
        self._at += 1
        return self._data[self._at - 1] % bound

    def one_of(self, values: Sequence[T]) -> T:
        """Return one of the values."""
        return values[self.below(len(values))]

    def flag(self) -> bool:
        """Return true or false; false when no bytes are left."""
        return self.below(2) == 1

    def some_of(self, values: Sequence[T], most: int) -> list[T]:
        """Return some of the values, each at most once, in the order in which they were chosen."""
        return list(dict.fromkeys(self.one_of(values) for _ in range(self.below(most + 1))))

    def text(self) -> str:
        """Return up to 255 bytes unchanged, as text."""
        length = self.below(256)
        return self._as_text(length)

    def rest(self) -> str:
        """Return all remaining bytes as one text."""
        return self._as_text(len(self._data))

    def _as_text(self, length: int) -> str:
        taken = self._data[self._at : self._at + length]
        self._at += len(taken)
        try:
            return taken.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            return taken.decode("latin-1")
