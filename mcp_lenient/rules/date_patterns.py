"""Patterns of dates and times, in which the case of a letter is its meaning: ``MM`` and ``mm``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

# UTS #35, Date Field Symbol Table: the letters of a calendar date and of the time of day, each by its field.
_FIELDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys("yYu", "y"),
        **dict.fromkeys("ML", "M"),
        **dict.fromkeys("dD", "d"),
        **dict.fromkeys("hHkK", "h"),
        **{letter: letter for letter in "msS"},
        # May come anywhere: the day of the week, the part of the day; era, quarter, week, zone.
        **dict.fromkeys("EaGQqwWecbBzZOvVXx", ""),
    }
)
_WORD_LIKE_LETTERS: Final = re.compile(r"[yYMdDhHmsSE]+a?")
_QUOTED: Final = re.compile(r"'[^']*'|(?<=[dD])T(?=[hHkK])")
_RUN: Final = re.compile(r"([^\W\d_])\1*")
_PARTED: Final = re.compile(r"[^\W\d_][\W_]+[^\W\d_]")
_LONGEST_RUN: Final = 9
"""Letters of the longest run: nine digits of a fraction of a second."""
_LONGEST: Final = 64
_NO_WORD: Final = 3
"""Letters of a run that no English word has."""
_WORD_LIKE: Final = re.compile(r"(?:yMd?|dMy?|Mdy?|My)(?:hm?s?S?)?|hms?S?|msS?")
# A month's letter may be in the place of the minute and the other way round: `yyyy-mm-dd`, `HH:MM`.
_CLEAR: Final = re.compile(
    r"(?:ymd?|dmy?|mdy?|my|[ymdhs]|hms{0,2}|mss?)|(?:ymd|dmy|mdy)hm?s{0,2}|hms{0,2}(?:ymd|dmy|mdy)"
)

# POSIX.1-2017 strftime, with the flags and directives of the GNU C library.
_DIRECTIVE: Final = re.compile(
    r"%[-_0^#]?[0-9]{0,3}(?:E(?=[cCxXyY])|O(?=[deHImMSuUVwWy]))?[aAbBcCdDeFgGhHIjklmMnNpPrRsStTuUvVwWxXyYzZ]"
)


def patterns_differ(text: str, member: str) -> bool:
    """Check whether two texts of equal letters, but not of equal case, hold two patterns of CLDR or strftime.

    >>> patterns_differ("MM", "mm"), patterns_differ("%Y-%m", "%y-%m"), patterns_differ("SMS", "sms")
    (True, True, False)
    """
    if _is_pattern(text) and _is_pattern(member):
        return True
    pairs = zip(text.split(), member.split(), strict=False)
    if any(one != other and _is_clear(one) and _is_clear(other) for one, other in pairs):
        return True
    ours, theirs = _DIRECTIVE.findall(text), _DIRECTIVE.findall(member)
    return bool(ours and theirs) and ours != theirs


def _is_pattern(text: str) -> bool:
    """Check for runs of field letters, in an order in which dates and times are written.

    Without separators, a letter that is not doubled makes a text a word (``day``, ``dmy``) unless each letter
    has the case of its field (``Hms``, ``DMY``).
    """
    in_case = _WORD_LIKE_LETTERS.fullmatch(text) and _WORD_LIKE.fullmatch(_fields(text) or "")
    return in_case is not None or _is_clear(text)


def _is_clear(text: str) -> bool:
    """Check for such runs where separators or doubled letters show that they are no word."""
    fields = _fields(text)
    if not fields or _CLEAR.fullmatch(fields.lower()) is None:
        return False
    runs = [len(match[0]) for match in _RUN.finditer(text)]
    doubled = min(runs) > 1 or max(runs) >= _NO_WORD
    return doubled or (len(fields) > 1 and _PARTED.search(text) is not None)


def _fields(text: str) -> str | None:
    """Spell the fields of the letters, in their order; None where a letter is of no field."""
    if len(text) > _LONGEST or any(map(str.isdigit, text)):
        return None
    runs = [match[0] for match in _RUN.finditer(_QUOTED.sub(" ", text))]
    if any(len(run) > _LONGEST_RUN or run[0] not in _FIELDS for run in runs):
        return None
    return "".join(_FIELDS[run[0]] for run in runs)
