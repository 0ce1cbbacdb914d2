"""Normalizers of text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from mcp_lenient.normalizers.annotation import Normalizer
from mcp_lenient.normalizers.refusals import check_flag, refuse_argument

Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Strip(Normalizer):
    """What :func:`strip` makes."""

    __name__: ClassVar[str] = "strip"

    def __call__(self, value: Any) -> Any:
        """The text without the white space around it."""
        return value.strip() if isinstance(value, str) else value


def strip() -> Strip:
    """Take white space off both ends of a text.

    >>> strip()("  a note "), strip()(5)
    ('a note', 5)
    """
    return Strip()


@dataclass(frozen=True, slots=True)
class Lower(Normalizer):
    """What :func:`lower` makes."""

    __name__: ClassVar[str] = "lower"

    def __call__(self, value: Any) -> Any:
        """The text in lower case."""
        return value.lower() if isinstance(value, str) else value


def lower() -> Lower:
    """Put a text into lower case.

    >>> lower()("Berlin"), lower()(None)
    ('berlin', None)
    """
    return Lower()


@dataclass(frozen=True, slots=True)
class Upper(Normalizer):
    """What :func:`upper` makes."""

    __name__: ClassVar[str] = "upper"

    def __call__(self, value: Any) -> Any:
        """The text in upper case."""
        return value.upper() if isinstance(value, str) else value


def upper() -> Upper:
    """Put a text into upper case.

    >>> upper()("eur"), upper()(["eur"])
    ('EUR', ['eur'])
    """
    return Upper()


@dataclass(frozen=True, slots=True)
class Synonyms(Normalizer):
    """What :func:`synonyms` makes."""

    __name__: ClassVar[str] = "synonyms"

    meanings: tuple[tuple[str, Scalar], ...]
    match_case: bool = False
    _meant: Mapping[str, Scalar] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_flag("synonyms(match_case=...)", self.match_case)
        meant: dict[str, Scalar] = {}
        for word, value in self.meanings:
            key = self._key(word)
            if key in meant and (type(meant[key]), meant[key]) != (type(value), value):
                refuse_argument(
                    "synonyms(meanings)",
                    f"unambiguous when {self._compared} of {word!r} does not count",
                    value,
                )
            meant[key] = value
        for word, value in self.meanings:
            if isinstance(value, str) and meant.get(self._key(value), value) != value:
                refuse_argument(
                    "synonyms(meanings)", f"final, but what {word!r} stands for is a synonym as well", value
                )
        object.__setattr__(self, "_meant", meant)

    def __call__(self, value: Any) -> Any:
        """What the word stands for, or the value as it is."""
        return self._meant.get(self._key(value), value) if isinstance(value, str) else value

    def _key(self, word: str) -> str:
        word = word.strip()
        return word if self.match_case else word.casefold()

    @property
    def _compared(self) -> str:
        return "space around" if self.match_case else "the case"


def synonyms(meanings: Mapping[str, Scalar], *, match_case: bool = False) -> Synonyms:
    """Put one word for another; white space around it does not count, nor does letter case.

    A text that is no synonym stays as it is.

    >>> status = synonyms({"open": "Active", "closed": "Done"})
    >>> status("Open"), status("Active"), status("later")
    ('Active', 'Active', 'later')

    Args:
        meanings: What each word stands for: a text, number, boolean or None.
        match_case: Whether letter case counts.

    Raises:
        ValueError: When it is no such mapping, is empty, gives a word two meanings, or gives a meaning that
            is a synonym for something else.
    """
    if not isinstance(meanings, Mapping) or not meanings:
        refuse_argument("synonyms(meanings)", "a mapping of words to what they stand for", meanings)
    for word, value in meanings.items():
        if not isinstance(word, str) or not word.strip():
            refuse_argument("Each word of synonyms(meanings)", "a text that is not empty", word)
        if not isinstance(value, (str, int, float, type(None))):
            refuse_argument(f"What {word!r} stands for", "a text, number, boolean or None", value)
    return Synonyms(tuple(sorted(meanings.items(), key=lambda entry: entry[0])), match_case)
