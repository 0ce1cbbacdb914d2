"""Numbers in text and text from numbers, without losing a digit."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from typing_extensions import Self

# mutant: a bound, which the tests follow
MAX_SPELLING: Final = 4000
"""Characters of the longest number that is read or written: below the digit limit of ``int()``."""

_SAFE: Final = 2**53
_MAX_BITS: Final = math.floor(MAX_SPELLING * math.log2(10))
_SPACE: Final = " \t\n\r"
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?P<fraction>\.[0-9]+)?(?P<exponent>[eE][+-]?[0-9]+)?")
_PLAIN_FRACTION: Final = re.compile(r"-?[0-9]+\.[0-9]{2,}")
_DIGITS_OF_DOUBLE: Final = 15
"""A number of more digits may have been rounded before it came."""
_ALWAYS_EXACT: Final = 16
"""A number this short with a point and no exponent has at most 15 digits, and a double gives 15 digits back."""


class SpelledFloat(float):
    """A float that remembers how the text spelled it.

    >>> SpelledFloat(3.1, "3.10").spelling
    '3.10'
    """

    __slots__ = ("spelling",)

    spelling: str

    def __new__(cls, value: float, spelling: str) -> Self:
        """The number ``value`` as it was spelled."""
        self = super().__new__(cls, value)
        self.spelling = spelling
        return self

    def __getnewargs__(self) -> tuple[float, str]:  # type: ignore[override]
        """What ``copy`` and ``pickle`` build it anew from."""
        return float(self), self.spelling


class ParsedInteger(int):
    """An integer beyond 2**53 that was read from text, so that no double has rounded it on the way."""

    __slots__ = ()


_PLAIN: Final = {SpelledFloat: float, ParsedInteger: int}


def plain_type(value: Any) -> type:
    """Return the type of a value, of a number from text the one without its source spelling.

    >>> plain_type(SpelledFloat(3.1, "3.10")), plain_type(True)
    (<class 'float'>, <class 'bool'>)
    """
    kind = type(value)
    return _PLAIN.get(kind, kind)


def read_integer(spelling: str) -> int | SpelledFloat | None:
    """The value of a JSON number without fraction and exponent, or None when it is too long.

    ``-0`` is a float: an ``int`` would lose its sign.
    """
    if spelling == "-0":
        return SpelledFloat(-0.0, spelling)
    if len(spelling) > MAX_SPELLING:
        return None
    try:
        return int(spelling)
    except ValueError:  # the interpreter is set to read fewer digits than this
        return None


def read_float(spelling: str) -> SpelledFloat | None:
    """The value of a JSON number with a fraction or an exponent, or None when a double would lose a digit.

    >>> read_float("0.10000000000000001"), read_float("0.1234567890123456789"), read_float("1e999")
    (0.1, None, None)
    """
    if len(spelling) > MAX_SPELLING:
        return None
    value = SpelledFloat(float(spelling), spelling)
    if len(spelling) <= _ALWAYS_EXACT and "e" not in spelling and "E" not in spelling:
        return value
    digits = _digits(spelling)
    # The second look is for "0.10000000000000001", which the shortest form (0.1) does not spell. Infinity,
    # and a number that sank to zero, have other digits in both.
    kept = not digits or digits in {_digits(repr(value)), _digits(f"{value:.{len(digits) - 1}e}")}
    return value if kept else None


def _digits(spelling: str) -> str:
    return spelling.lower().partition("e")[0].replace(".", "").lstrip("-").strip("0")


def plain(value: Any) -> Any:
    """Return the value with plain numbers, without source spellings; the same object if there are none."""
    if type(value) in _PLAIN:
        return plain_type(value)(value)
    if not isinstance(value, (list, dict)):
        return value
    spelled = False
    containers = [value]
    for container in containers:
        for child in container.values() if isinstance(container, dict) else container:
            kind = type(child)
            if kind is dict or kind is list:
                containers.append(child)  # breadth first: the list is the queue
            elif kind in _PLAIN:
                spelled = True
    return _without_spellings(containers) if spelled else value


def _without_spellings(containers: list[Any]) -> Any:
    """The first container rebuilt; each container stands before those inside it."""
    rebuilt: dict[int, Any] = {}

    def plain_child(child: Any) -> Any:
        kind = type(child)
        return _PLAIN[kind](child) if kind in _PLAIN else rebuilt.get(id(child), child)

    for container in reversed(containers):
        if isinstance(container, dict):
            rebuilt[id(container)] = {key: plain_child(child) for key, child in container.items()}
        else:
            rebuilt[id(container)] = [plain_child(child) for child in container]
    return rebuilt[id(containers[0])]


def number_in_text(text: str) -> int | float | None:
    """The number that the whole text spells in JSON, or None.

    White space around it is not part of it. Refused is what JSON does not spell like this (``+5``,
    ``0644``, ``1_000``, ``1,234``, ``.5``, ``NaN``, full-width digits) and a number of which a double would
    lose a digit, overflow included.

    >>> number_in_text(" 42 "), number_in_text("4.20"), number_in_text("0644")
    (42, 4.2, None)
    """
    spelling = text.strip(_SPACE)
    if len(spelling) > MAX_SPELLING:
        return None
    number = _NUMBER.fullmatch(spelling)
    if number is None:
        return None
    value = read_integer(spelling) if number.lastgroup is None else read_float(spelling)
    return float(value) if isinstance(value, SpelledFloat) else value


def exact_number_in_text(text: str) -> int | float | None:
    """Return the number that the whole text spells in JSON, if a double holds it; else None.

    >>> exact_number_in_text("9007199254740992"), exact_number_in_text("9007199254740993")
    (9007199254740992, None)
    """
    value = number_in_text(text)
    return None if isinstance(value, int) and not _fits_double(value) else value


def rounds(value: Any) -> bool:
    """Return whether a value holds an integer, read from text, that a number would round."""
    waiting = [value]
    for each in waiting:
        if isinstance(each, dict):
            waiting.extend(each.values())
        elif isinstance(each, list):
            waiting.extend(each)
        elif type(each) is ParsedInteger and not _fits_double(each):
            return True
    return False


def integer_in_text(text: str) -> int | None:
    """The integer that the whole text spells in JSON, or None.

    ``"5.0"`` and ``"1e3"`` are integers up to 2**53. ``"-0"`` is refused: no integer keeps its sign, and
    whoever writes it may well mean something else by it, an offset for instance.

    >>> integer_in_text("5.0"), integer_in_text("1e3"), integer_in_text("5.5")
    (5, 1000, None)
    """
    value = number_in_text(text)
    return whole_float(value) if isinstance(value, float) else value


def whole_float(value: float) -> int | None:
    """The integer that a float is, up to 2**53, or None; None for -0.0, whose sign would be lost.

    >>> whole_float(7.0), whole_float(7.5)
    (7, None)
    """
    if not value.is_integer() or abs(value) > _SAFE or repr(value) == "-0.0":
        return None
    return int(value)


def number_as_text(value: float) -> str | None:
    """How a number was written, or None where that cannot be known.

    Known are integers up to 2**53 and larger ones that no double holds (a double on the way would have
    rounded them), floats of at most 15 digits with two or more after the point (``3.1`` may have been ``3.10``), and
    numbers that were read from text. A boolean is no number.

    >>> number_as_text(42), number_as_text(3.14), number_as_text(3.1), number_as_text(True)
    ('42', '3.14', None, None)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, SpelledFloat):
        return value.spelling
    if isinstance(value, ParsedInteger):
        return str(int(value))
    if isinstance(value, int):
        return _integer_as_text(value)
    spelling = repr(value)
    sure = _PLAIN_FRACTION.fullmatch(spelling) and len(_digits(spelling)) <= _DIGITS_OF_DOUBLE
    return spelling if sure else None


def _integer_as_text(value: int) -> str | None:
    if value.bit_length() > _MAX_BITS:
        return None
    if abs(value) > _SAFE and _fits_double(value):
        return None
    try:
        return str(value)
    except ValueError:  # the interpreter is set to write fewer digits than this
        return None


def _fits_double(value: int) -> bool:
    try:
        return int(float(value)) == value
    except OverflowError:
        return False
