"""What a text says when a boolean, null, an enum value or a list is wanted."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from mcp_lenient.rules.units import patterns_differ, units_differ
from mcp_lenient.values.json_values import exact_number_in_text, number_in_text
from mcp_lenient.values.names import fold_case

_JSON_BOOLEANS = {"true": True, "false": False}
_BOOLEANS = {**_JSON_BOOLEANS, "yes": True, "no": False, "on": True, "off": False, "1": True, "0": False}

# Only what a serializer prints for a null of JSON or of Python. `NULL`, `none` and `nil` are words, which tools
# give meanings of their own.
_NULLS = frozenset({"null", "None"})
# mutant: a bound: no word of the tables is longer
_LONGEST_WORD = 9
"""Characters of the longest of these words: a longer text need not be put into lower case to be none."""
_NOTHINGS = frozenset({"", "-", "n/a", "nan", "nil", "none", "null", "undefined"})

# , ; | and line breaks; then the fullwidth, ideographic and Arabic forms of the first three.
_DELIMITER = re.compile(r"[,;|\n\r\t\u2028\u2029\uff0c\u3001\uff1b\uff5c\u060c\u061b\uff64]")
_MEMBER_DELIMITERS = (",", ";", "|", "\n")

_LONGEST_LIST = 2**16
"""Characters of the longest text that is split: nobody writes more numbers than this by hand."""

_BARE_COMMA = re.compile(r"(?<!\s),(?!\s)")
_OTHERWISE_READ = re.compile(
    r"[+-]?[0-9]+,[+-]?[0-9]+"  # 1,5 with a decimal comma
    r"|[+-]?[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]+"  # 1.234,5 with a decimal comma
    # 1,234,567 or 1,500,2,500 with commas between thousands
    r"|[+-]?(?:[0-9]{1,2},)?[0-9]{3}(?:,(?:[+-]?[0-9]{1,2},)?[0-9]{3})*(?:\.[0-9]+)?"
)

_THOUSANDS = re.compile(r"(?:^|,)[+-]?[1-9][0-9]{0,2},[0-9]{3}(?![0-9])")

_LETTERS = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"\d")
_GAP_BETWEEN_LETTERS = re.compile(r"(?<=[^\W\d_])[-_ ](?=[^\W\d_])")
_QUOTES = "\"'"


def boolean_in_text(text: str) -> bool | None:
    """What true/false, yes/no, on/off, 1/0 say, in any case and with space around; None for other text."""
    return _boolean(text, _BOOLEANS)


def json_boolean_in_text(text: str) -> bool | None:
    """What true/false say, in any case and with space around; None for other text."""
    return _boolean(text, _JSON_BOOLEANS)


def _boolean(text: str, words: dict[str, bool]) -> bool | None:
    word = text.strip()
    return words.get(word.lower()) if len(word) <= _LONGEST_WORD else None


def is_null_text(text: str) -> bool:
    """Whether the text is ``null`` or ``None``, as a JSON or Python serializer prints it."""
    return text in _NULLS


def says_nothing(text: str) -> bool:
    """Whether the text is empty or a word for nothing, so that a list of it would be a list of nothing."""
    word = text.strip()
    return len(word) <= _LONGEST_WORD and word.lower() in _NOTHINGS


def has_delimiter(text: str) -> bool:
    """Whether the text holds what may part it: it can be read as one item and as several."""
    return _DELIMITER.search(text) is not None


def enum_folder(values: Sequence[Any]) -> Callable[[str], tuple[Any, ...]]:
    """Compile the enum values to the function that finds the one member a text stands for.

    A text stands for a member that differs by letter case, by space or quotes around it, or by ``-``, ``_`` or
    a space between letters; the text of a JSON number also for that number. Where none fits, or more than one,
    the function returns nothing. Letter case counts in a text of one letter, in a single letter of a text with
    digits (``1m`` and ``1M``), and where the text and the member, each as it is written, are two units
    (:func:`~mcp_lenient.rules.units.units_differ`) or two patterns of dates
    (:func:`~mcp_lenient.rules.units.patterns_differ`).
    """
    texts = [value for value in values if isinstance(value, str)]
    known = frozenset(texts)
    numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    # White space alone is a value of its own: one separator is not another one.
    written = [(text.strip(), text) for text in texts if not text or text.strip()]
    trimmed = _grouped(written)
    folded = _grouped((_fold(stripped), text) for stripped, text in written)
    longest = 2 + max(map(len, texts), default=0)

    def meant(text: str) -> tuple[str, ...]:
        if len(text) > longest:
            return ()
        if text in trimmed:
            return trimmed[text]
        members = folded.get(_fold(text), ())
        return members if len(members) != 1 or _same_case(text, members[0]) else ()

    def fold(value: str) -> tuple[Any, ...]:
        if value in known:
            return (value,)
        text = value.strip()
        if not text:
            return ()
        number = number_in_text(text)
        found = {*meant(text), *meant(_unquoted(text)), *(each for each in numbers if each == number)}
        return tuple(found) if len(found) == 1 else ()

    return fold


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    groups: dict[str, tuple[str, ...]] = {}
    for key, member in pairs:
        groups[key] = (*groups.get(key, ()), member)
    return groups


def _fold(text: str) -> str:
    return _GAP_BETWEEN_LETTERS.sub(" ", fold_case(text))


def _unquoted(text: str) -> str:
    quoted = len(text) > 1 and text[0] in _QUOTES and text[0] == text[-1]
    return text[1:-1].strip() if quoted else text


def _same_case(text: str, member: str) -> bool:
    """Check whether two texts of equal letters differ in case only where case has no meaning."""
    if len(text) == 1 or (_DIGIT.search(text) and _single_letters(text) != _single_letters(member)):
        return False
    return not (units_differ(text, member) or patterns_differ(text, member))


def _single_letters(text: str) -> list[str]:
    return [letters for letters in _LETTERS.findall(text) if len(letters) == 1]


def split_numbers(text: str, *, integers: bool = True) -> list[int | float] | None:
    """The numbers of a text that parts them by commas or semicolons; None where it may mean something else.

    Without spaces a comma may stand before decimals (``1,5``) or between thousands (``1,234,567``), and with
    spaces at only some of the commas it may be either, so those texts have no reading here.
    """
    if len(text) > _LONGEST_LIST:
        return None
    separator = ";" if ";" in text else ","
    if not _parts_clearly(text.strip()):
        return None
    numbers: list[int | float] = []
    for part in text.split(separator):
        number = number_in_text(part) if integers else exact_number_in_text(part)
        if number is None:
            return None
        numbers.append(number)
    return numbers if len(numbers) > 1 else None


def _parts_clearly(text: str) -> bool:
    bare = len(_BARE_COMMA.findall(text))
    otherwise = bare and (
        bare != text.count(",") or _OTHERWISE_READ.fullmatch(text) or _THOUSANDS.search(text)
    )
    return not otherwise


def split_members(text: str, members: Collection[str]) -> list[str] | None:
    """The members that a text lists, parted by one of ``, ; |`` or newline that no member holds."""
    if len(text) > _LONGEST_LIST:
        return None
    known = frozenset(members) - {""}
    for delimiter in _MEMBER_DELIMITERS:
        if delimiter in text and not any(delimiter in member for member in known):
            parts = [part.strip() for part in text.split(delimiter)]
            if known.issuperset(parts):
                return parts
    return None
