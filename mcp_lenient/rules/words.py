"""What texts say: nothing, several items or certainly one, and the same as another in another case."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from itertools import accumulate
from typing import Final

from mcp_lenient.values.json_values import exact_number_in_text, number_in_text
from mcp_lenient.values.names import fold_case, words_in

_EMPTY_WORDS: Final = frozenset({"", "-", "n/a", "nan", "nil", "none", "null", "undefined"})


def is_null_text(text: str) -> bool:
    """Return whether the text is exactly ``null`` or ``None``, as a serializer prints it; other words have meanings."""
    return text in ("null", "None")


def says_nothing(text: str) -> bool:
    """Return whether the text is empty or a word for an absent value."""
    return text.strip().lower() in _EMPTY_WORDS


# --- letter case ------------------------------------------------------------------------------------------

_LETTERS: Final = re.compile(r"[^\W\d_²³¹⁰-⁹]+")
# SI Brochure, IEC 80000-13 and UCUM: prefixes and symbols. `M`: mole per liter.
_PREFIX: Final = "(?:[KMGTPEZY]i|da|[yzafpnuµμmcdhkKMGTPEZYRQ])?"
_UNIT: Final = re.compile(
    rf"{_PREFIX}(?:[smgAKNJWCVFSTHRUP]|mol|cd|rad|sr|Hz|Pa|Wb|lm|lx|Bq|Gy|Sv|kat|eV|Da|[Oo]hms?|Ω|cal|bar|rem"
    r"|Ci|IU|[Ee]q|[Oo]sm|VAr?|var|[WAV]h|Nm|[NJWVA]s|b(?:its?|ytes?)?|B)"
    r"|(?:[kmgtpKMGTPEZY]i?)?[bB]ps|(?:da|[yzafpnuµμmcdhkKMG])?[lL]|[mkMGT]?t|[mkM]?G|[fpnuµμmcd]?M|min|[hd]|Cal|per"
)
_SAME_UNIT: Final = str.maketrans("KLOμ", "kloµ")
# UTS #35: the letters of dates and times, in runs; a text without separators has only runs of several.
_DATE_LETTERS: Final = frozenset("yYuMLdDhHkKmsS")
_OTHER_DATE_LETTERS: Final = frozenset("EaGQqwWecbBzZOvVXx")
_RUN: Final = re.compile(r"([A-Za-z])\1*")
_LITERAL: Final = re.compile(r"'[^']*'|(?<=[dD])T(?=[hHkK])")
_JOINED: Final = re.compile(r"([A-Za-z])(?!\1)[A-Za-z]")
_LONG_RUN: Final = 3
# Letters alone: names of languages (`C++`) and initials (`N/A`).
_NAME_OF_LETTERS: Final = re.compile(r"[^\W\d_](?:\+\+|#|(?:[./&][^\W\d_])+\.?)")
# A single letter is a word after these, and else the letter of an option, an extension or a variable.
_BEFORE_WORD: Final = re.compile(r"(?:^|[\s_(\[{\"']|\w[-+/&'])$")
_ESCAPE: Final = re.compile(r"(?:\\|(?<!\d)%)$")
_OPTIONS: Final = re.compile(r"(?:^|\s)-$")
_MINOR_UNIT: Final = re.compile(r"[A-Z]{2}[a-z]")


def case_matters(text: str, other: str, members: Collection[str] = ()) -> bool:
    """Return whether two texts that are equal but for letter case mean different things by it.

    Case has a meaning in symbols: letters that are no words, units of measurement, and patterns of dates.

    >>> case_matters("-R", "-r"), case_matters("Mb", "MB"), case_matters("mm", "MM"), case_matters("OPEN", "Open")
    (True, True, True, False)

    Args:
        text: A text, without space around it.
        other: The same in another case.
        members: All texts that are allowed.
    """
    runs = [match.span() for match in _LETTERS.finditer(fold_case(text))]
    changed = [(start, end) for start, end in runs if text[start:end] != other[start:end]]
    if changed and all(end - start == 1 for start, end in runs):
        is_symbol = not (_NAME_OF_LETTERS.fullmatch(text) and _has_style(text) and _has_style(other))
    else:
        is_symbol = any(_is_symbol(text, other, start, end) for start, end in changed)
    # `CO` and `Co` among symbols alone, `iv` and `IV` among numerals of both cases.
    is_mixed = not (_has_style(text) and _has_style(other)) and (text.isupper() or other.isupper())
    is_symbol |= is_mixed and max(map(len, members), default=3) < 3
    short = [each for each in members if each.isalpha() and len(each) < 4] if len(text) < 4 else []
    is_symbol |= any(map(str.isupper, short)) and any(map(str.islower, short))
    return is_symbol or units_differ(text, other) or _patterns_differ(text, other)


def _has_style(letters: str) -> bool:
    return letters in (letters.lower(), letters.upper())


def _is_symbol(text: str, other: str, start: int, end: int) -> bool:
    """Return whether a run of letters that differ in case is no word."""
    before, one, two = text[:start][-2:], text[start:end], other[start:end]
    is_odd = [not _has_style(each) and each != each.capitalize() for each in (one, two)]
    after_digit = text[end : end + 1].isdigit()
    if _ESCAPE.search(before) and one[0] != two[0]:
        return True
    if len(one) == 1:
        return any(map(str.isdigit, text)) or (len(text) > 1 and not _BEFORE_WORD.search(before))
    if (any(is_odd) and before[-1:] in ("-", "+", "=")) or (all(is_odd) and one[1:] != two[1:]):
        return True
    if len(one) == 2:  # `-Rf` and `-rf`, `Cm7` and `CM7`, `pH` and `Ph`
        is_chord = one[0] == two[0] and after_digit
        is_flag = _OPTIONS.search(before) is not None or before[-1:] in ("+", "=")
        return is_chord or is_flag or not (_has_style(one) or _has_style(two))
    minor = [each for each in (one, two) if _MINOR_UNIT.fullmatch(each) and not _UNIT.fullmatch(each)]
    return len(minor) == 1 and (one.isupper() or two.isupper()) and not after_digit  # `GBp` are pence


def units_differ(text: str, other: str) -> bool:
    """Return whether two texts that are equal but for letter case differ in units alone.

    >>> units_differ("Mib", "MiB"), units_differ("mL", "ml"), units_differ("mhz", "MHz")
    (True, False, False)
    """
    pairs = list(zip(_LETTERS.findall(text), _LETTERS.findall(other), strict=False))
    all_units = all(_UNIT.fullmatch(one) for one, _ in pairs)
    changed = [pair for pair in pairs if pair[0] != pair[1]]
    return all(_UNIT.fullmatch(one) and _UNIT.fullmatch(two) for one, two in changed) and any(
        _meaning(one) != _meaning(two) and (all_units or len(one) > 1) for one, two in changed
    )


def _meaning(unit: str) -> str:
    if unit.lower().endswith("bps"):  # also written `mbps`
        return unit[:-3].lower() + unit[-3:]
    return unit.translate(_SAME_UNIT)


def named_units_differ(sent: str, name: str) -> bool:
    """Return whether two names that differ in case style have words that are different units.

    A word that is all lower case, all upper case or capitalized has the case of its style, but for bits and bytes:
    ``timeoutMS`` and ``timeoutMs`` are one name, ``sizeMB`` and ``sizeMb`` two.

    >>> named_units_differ("rateMBps", "rateMbps"), named_units_differ("timeoutMS", "timeout_ms")
    (True, False)
    """
    if len(name) > 1 and fold_case(sent) == fold_case(name) and units_differ(sent, name):
        return True
    ours, theirs = words_in(sent), words_in(name)
    if _is_in_seconds(ours) != _is_in_seconds(theirs):  # `expire_s`, and `expires` in another unit
        return True
    one, two = (each.lower() if each.isupper() else each for each in ("".join(ours), "".join(theirs)))
    if one != two and len(one) == 2 and not (_has_style(one) or _has_style(two)):  # `pH` and `Ph`
        return True
    ends = {*accumulate(map(len, ours)), *accumulate(map(len, theirs))}
    parts = [(one[at:end], two[at:end]) for end in ends for at in range(max(end - 6, 0), end - 1)]
    return any(
        units_differ(*part)
        and not any(map(_is_bare, part))
        and ("B" in "".join(part) or not _are_styled(part))
        for part in parts
    )


def _is_bare(word: str) -> bool:
    return word.islower() and not word.endswith("bps")


def _is_in_seconds(words: Sequence[str]) -> bool:
    return len(words) > 1 and words[-1] in ("s", "S")


def _are_styled(words: Collection[str]) -> bool:
    return all(_has_style(word) or word == word.capitalize() for word in words)


def _patterns_differ(text: str, other: str) -> bool:
    parts = [(text, other), *zip(text.split(), other.split(), strict=False)]
    return any(one != two and _is_pattern(one) and _is_pattern(two) for one, two in parts)


def _is_pattern(text: str) -> bool:
    """Return whether all letters are those of dates, in runs too long for a word, or parted."""
    bare = _LITERAL.sub(" ", text)
    runs = [match[0] for match in _RUN.finditer(bare)]
    letters = {run[0] for run in runs} - _OTHER_DATE_LETTERS
    if not letters or not letters <= _DATE_LETTERS or any(map(str.isdigit, text)):
        return False
    lengths = [len(run) for run in runs]
    parted = _JOINED.search(bare) is None and (max(lengths) > 1 or bare != text)
    return max(lengths) >= _LONG_RUN or min(lengths) > 1 or parted


# --- one item or several ----------------------------------------------------------------------------------

# In scripts without spaces between words a space separates phrases: Han and Kana, and the complex context of UAX #14
# (Thai, Lao, Myanmar, Khmer, New Tai Lue, Tai Le, Tai Tham).
_WITHOUT_SPACES: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9ff\uaa60-\uaa7f\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff]"
)
_JOINERS: Final = "\u200c\u200d"  # UAX #31: words in Persian and Indic scripts contain them
_EMOJI_STYLE: Final = re.compile("[\ufe00-\ufe0f]")
_SYMBOL: Final = "\u2606"
# After `_shape`. A URI as in RFC 3986, without brackets and the signs that also separate URIs.
_ONE_ITEM: Final = re.compile(
    rf"""
    [A-Za-z][A-Za-z0-9+.-]*://(?!.*://)[A-Za-z0-9._~:/?\#@!$&'()*+=%-]+
    | (?![\d ]+$)[A-Za-z0-9]+(?:[ ][A-Za-z0-9]+)+           # words, not all of them numbers
    | (?!.*@.*@|.*://.*://|.*\#[^#]+\#|([@#$]).*\1)          # one mailbox, address or tag
      (?![./~*].*:[./~*]|[^:=]+=[^:=]+:[^:=]+=.)            # not paths, globs or settings
      (?:[A-Za-z0-9_./@:\#*?=%~$-]|(?<=[A-Za-z0-9])'(?=[A-Za-z0-9]))+
    | [A-Za-z0-9_.-]+\+\+? | \+[0-9]+                       # C++, +47
    | [0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}T[0-9:.]+\+[0-9:]+       # a time with its offset
    | [A-Za-z0-9][A-Za-z0-9_.-]*\+[A-Za-z0-9_.-]+@[A-Za-z0-9_.-]+
    | [A-Z]&[A-Z]{{1,2}} | [A-Z]{{2}}&[A-Z]                    # R&D, AT&T
    | {_SYMBOL}
    """,
    re.VERBOSE,
)
_SEPARATOR: Final = re.compile(r"[,;|\n+&/]")
MAX_SEARCHED: Final = 2**16
"""Characters of the longest text that is split, or searched for known items, of which there may be thousands."""


class KnownItems:
    """The enum values and examples of a list's items.

    >>> KnownItems(["red", "blue"]).is_one("dark grey"), KnownItems(["red", "blue"]).is_one("dark red")
    (True, False)
    """

    def __init__(self, items: Collection[str]) -> None:
        self._items = frozenset(items)
        self._phrases = tuple(phrase for phrase in map(_phrase, self._items) if phrase.strip())

    def is_one(self, text: str, *, is_member: bool = False) -> bool:
        """Return whether a text is certainly one item.

        It is if it is a known item whose parts are not all known items; one absolute URI; a single symbol such as an
        emoji; without spaces, only letters, digits and ``-_.@/:#'*?=%~$``; or words of letters and digits with single
        spaces between. A text that contains a known item may be several.

        Args:
            text: The text.
            is_member: Whether it is an enum value in another spelling.
        """
        if text in self._items:
            listings = ([part.strip() for part in parts] for parts in (_SEPARATOR.split(text), text.split()))
            return not any(len(parts) > 1 and self._items.issuperset(parts) for parts in listings)
        is_whole = is_member or _ONE_ITEM.fullmatch(_shape(text)) is not None
        return is_whole and not self._has_part(text)

    def _has_part(self, text: str) -> bool:
        if self._phrases and len(text) > MAX_SEARCHED:
            return True
        whole = _phrase(text)
        return any(part in whole and part != whole for part in self._phrases)


def _phrase(text: str) -> str:
    return f" {' '.join(_SEPARATOR.sub(' ', fold_case(text)).split())} "


def _shape(text: str) -> str:
    """Return a text with an ASCII character of the same kind for each other letter and digit."""
    return text.translate({ord(each): _kind(each) for each in set(text) if not each.isascii()})


def _kind(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Nd":
        return "0"
    if character in _JOINERS or (
        category in ("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc") and not _EMOJI_STYLE.match(character)
    ):
        return "_" if _WITHOUT_SPACES.match(character) else "x"
    return _SYMBOL if category == "So" else "\0"


# Commas, semicolons, bars and line breaks of all scripts.
_DELIMITER: Final = re.compile(r"[,;|\n\r\t\u2028\u2029\uff0c\u3001\uff1b\uff5c\u060c\u061b\uff64]")
_BARE_COMMA: Final = re.compile(r"(?<!\s),(?!\s)")
_SPACED_COMMA: Final = re.compile(r"\s,|,\s")
# A decimal comma (`1,5`, `1.234,5`), or commas between thousands (`1,234,567`, `1,500,2,500`).
_OTHER_NUMBER: Final = re.compile(
    r"^[+-]?[0-9]+(?:\.[0-9]{3})*,[+-]?[0-9]+$|(?:^|,)[+-]?[1-9][0-9]{0,2},[0-9]{3}(?![0-9])"
)


def has_delimiter(text: str) -> bool:
    """Return whether the text contains a delimiter, so that it may be several items."""
    return _DELIMITER.search(text) is not None


def split_numbers(text: str, *, integers: bool = True) -> list[int | float] | None:
    """Split a text into numbers at commas or semicolons; None if it is ambiguous.

    A comma without a space may be a decimal comma (``1,5``) or a thousands separator (``1,234,567``), and if only
    some commas have a space, it may be either.
    """
    text = text.strip()
    if _BARE_COMMA.search(text) and (_SPACED_COMMA.search(text) or _OTHER_NUMBER.search(text)):
        return None
    parse = number_in_text if integers else exact_number_in_text
    numbers = [parse(part) for part in text.split(";" if ";" in text else ",")]
    found = [number for number in numbers if number is not None]
    return found if len(found) == len(numbers) > 1 else None


def split_members(text: str, members: Sequence[str]) -> list[str] | None:
    """Split a text into enum members at one of ``, ; |`` or newline that occurs in no member."""
    known = frozenset(members) - {""}
    for delimiter in ",;|\n":
        parts = [part.strip() for part in text.split(delimiter)]
        if len(parts) > 1 and known.issuperset(parts) and not any(delimiter in member for member in known):
            return parts
    return None
