"""Parse texts as booleans, null, enum values or lists."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from mcp_lenient.rules.notations import case_differs
from mcp_lenient.values.json_values import exact_number_in_text, number_in_text
from mcp_lenient.values.names import fold_case

_JSON_BOOLEANS = {"true": True, "false": False}
_BOOLEANS = {**_JSON_BOOLEANS, "yes": True, "no": False, "on": True, "off": False, "1": True, "0": False}

# Only the null of JSON and of Python as a serializer prints it. `NULL`, `none` and `nil` are words that tools give
# their own meanings.
_NULLS = frozenset({"null", "None"})
# mutant: a bound: no word in the tables is longer
_MAX_WORD = 9
"""Characters of the longest of these words: a longer text need not be lowercased to know that it is none."""
_EMPTY_WORDS = frozenset({"", "-", "n/a", "nan", "nil", "none", "null", "undefined"})

# , ; | and line breaks; then the fullwidth, ideographic and Arabic forms of the first three.
_DELIMITER = re.compile(r"[,;|\n\r\t\u2028\u2029\uff0c\u3001\uff1b\uff5c\u060c\u061b\uff64]")
_MEMBER_DELIMITERS = (",", ";", "|", "\n")

_MAX_LIST_TEXT = 2**16
"""Characters of the longest text that is split."""

_BARE_COMMA = re.compile(r"(?<!\s),(?!\s)")
_OTHER_NUMBER = re.compile(
    r"[+-]?[0-9]+,[+-]?[0-9]+"  # 1,5 with a decimal comma
    r"|[+-]?[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]+"  # 1.234,5 with a decimal comma
    # 1,234,567 or 1,500,2,500 with commas between thousands
    r"|[+-]?(?:[0-9]{1,2},)?[0-9]{3}(?:,(?:[+-]?[0-9]{1,2},)?[0-9]{3})*(?:\.[0-9]+)?"
)

_THOUSANDS = re.compile(r"(?:^|,)[+-]?[1-9][0-9]{0,2},[0-9]{3}(?![0-9])")

_GAP_BETWEEN_LETTERS = re.compile(r"(?<=[^\W\d_])[-_ ](?=[^\W\d_])")
_QUOTES = "\"'"


def boolean_in_text(text: str) -> bool | None:
    """Parse true/false, yes/no, on/off or 1/0, in any case and with space around; None for other text."""
    return _boolean(text, _BOOLEANS)


def json_boolean_in_text(text: str) -> bool | None:
    """Parse true/false, in any case and with space around; None for other text."""
    return _boolean(text, _JSON_BOOLEANS)


def _boolean(text: str, words: dict[str, bool]) -> bool | None:
    word = text.strip()
    return words.get(word.lower()) if len(word) <= _MAX_WORD else None


def is_null_text(text: str) -> bool:
    """Return whether the text is exactly ``null`` or ``None``."""
    return text in _NULLS


def says_nothing(text: str) -> bool:
    """Return whether the text is empty or a word for an absent value."""
    word = text.strip()
    return len(word) <= _MAX_WORD and word.lower() in _EMPTY_WORDS


def has_delimiter(text: str) -> bool:
    """Return whether the text contains a delimiter, so that it may be several items."""
    return _DELIMITER.search(text) is not None


def enum_folder(values: Sequence[Any]) -> Callable[[str], tuple[Any, ...]]:
    """Compile enum values to a function that finds the only member a text matches.

    A text matches a member that differs by letter case, by space or quotes around it, or by ``-``, ``_`` or a space
    between letters; the text of a JSON number also matches that number. The function returns an empty tuple if no
    member matches, or more than one, or if the other case has another meaning
    (:func:`~mcp_lenient.rules.notations.case_differs`).
    """
    texts = [value for value in values if isinstance(value, str)]
    known = frozenset(texts)
    numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    # White space alone is a value of its own: one separator is not another one.
    written = [(text.strip(), text) for text in texts if not text or text.strip()]
    trimmed = _grouped(written)
    folded = _grouped((_fold(stripped), text) for stripped, text in written)
    longest = 2 + max(map(len, texts), default=0)

    def members_for(text: str) -> tuple[str, ...]:
        # mutant: a bound
        if len(text) > longest:
            return ()
        if text in trimmed:
            return trimmed[text]
        members = folded.get(_fold(text), ())
        return () if len(members) == 1 and case_differs(text, members[0].strip(), texts) else members

    def fold(value: str) -> tuple[Any, ...]:
        if value in known:
            return (value,)
        text = value.strip()
        if not text:
            return ()
        number = number_in_text(text)
        found = {
            *members_for(text),
            *members_for(_unquoted(text)),
            *(each for each in numbers if each == number),
        }
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


def split_numbers(text: str, *, integers: bool = True) -> list[int | float] | None:
    """Split a text into numbers at commas or semicolons; None if it is ambiguous.

    A comma without a space may be a decimal comma (``1,5``) or a thousands separator (``1,234,567``), and if only
    some commas have a space, it may be either.
    """
    if len(text) > _MAX_LIST_TEXT:
        return None
    separator = ";" if ";" in text else ","
    if not _is_clearly_split(text.strip()):
        return None
    numbers: list[int | float] = []
    for part in text.split(separator):
        number = number_in_text(part) if integers else exact_number_in_text(part)
        if number is None:
            return None
        numbers.append(number)
    return numbers if len(numbers) > 1 else None


def _is_clearly_split(text: str) -> bool:
    bare = len(_BARE_COMMA.findall(text))
    otherwise = bare and (bare != text.count(",") or _OTHER_NUMBER.fullmatch(text) or _THOUSANDS.search(text))
    return not otherwise


def split_members(text: str, members: Collection[str]) -> list[str] | None:
    """Split a text into enum members at one of ``, ; |`` or newline that occurs in no member."""
    if len(text) > _MAX_LIST_TEXT:
        return None
    known = frozenset(members) - {""}
    for delimiter in _MEMBER_DELIMITERS:
        if delimiter in text and not any(delimiter in member for member in known):
            parts = [part.strip() for part in text.split(delimiter)]
            if known.issuperset(parts):
                return parts
    return None
