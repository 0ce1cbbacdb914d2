"""Symbols in which case has a meaning: units of measurement, and patterns of dates and times."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import accumulate
from types import MappingProxyType
from typing import Final

from mcp_lenient.values.names import words_in

Meaning = tuple[str, str]
"""A prefix and a unit, each in one spelling."""
# SI Brochure, 9th edition, table 7. `u` is ASCII for the micro sign, which Unicode has twice.
_SUBMULTIPLES: Final = frozenset("d c m u µ μ n p f a z y r q".split())
_MULTIPLES: Final = frozenset("da h k M G T P E Z Y R Q".split())
_SI: Final = _SUBMULTIPLES | _MULTIPLES
# IEC 80000-13, table 3. `K`: JEDEC Standard 100B.01, "kilo (K)" for bits and bytes.
_BINARY: Final = frozenset("Ki Mi Gi Ti Pi Ei Zi Yi".split())
_DATA: Final = frozenset("K k M G T P E Z Y R Q".split()) | _BINARY
_NO_PREFIX: Final[frozenset[str]] = frozenset()
_SAME_PREFIX: Final[Mapping[str, str]] = MappingProxyType({"µ": "u", "μ": "u", "K": "k"})


def _each(prefixes: frozenset[str], symbols: str) -> dict[str, tuple[str, frozenset[str]]]:
    return {symbol: (symbol, prefixes) for symbol in symbols.split()}


def _alike(prefixes: frozenset[str], symbols: str) -> dict[str, tuple[str, frozenset[str]]]:
    return dict.fromkeys(symbols.split(), (symbols, prefixes))


# Each symbol with its unit and its prefixes.
_SYMBOLS: Final[Mapping[str, tuple[str, frozenset[str]]]] = MappingProxyType(
    {
        # SI Brochure, tables 2 (with the gram for the kilogram) and 4. The two omegas: Greek letter, ohm sign.
        **_each(_SI, "s m g A K mol cd rad sr Hz N Pa J W C V F S Wb T H lm lx Bq Gy Sv kat"),
        **_alike(_SI, "\u03a9 \u2126 Ohm ohm Ohms ohms"),
        **_each(_SI, "°C"),
        # SI Brochure, table 8, and the text below it: units of time and angle take no prefixes.
        **_each(_NO_PREFIX, "min h d au ha Np °"),
        **_each(_SI, "eV Da"),
        # ISO 80000-1: multiples of the tonne, submultiples of the liter; kL, ML and GL are in use for water.
        **_each(frozenset("m k M G T".split()), "t"),
        **_alike(_SUBMULTIPLES | frozenset("da h k M G".split()), "l L"),
        # IEC 80000-13 and SI Brochure, table 8 (bel). With submultiples, since `mB` is not `MB`.
        **_alike(_SI | _DATA, "bit bits b"),
        **_alike(_SI | _DATA, "byte bytes B"),
        **_each(_DATA, "bps Bps"),
        # In use beside the SI. `Cal`: the kilocalorie. `M`: mole per liter, IUPAC Green Book, section 2.10.
        **_each(_SI, "cal bar Torr pc Wp"),
        # SI Brochure, 8th edition, table 9: units of the CGS system.
        **_each(_SI, "G Gal"),
        **_each(_NO_PREFIX, "Cal"),
        **_each(_SUBMULTIPLES, "M"),
        # UCUM, units marked as metric: curie, roentgen, rem, international and enzyme units, equivalents, osmoles,
        # oersted, stokes, poise, gal, erg, dyne, baud.
        **_each(_SI, "Ci R rem IU U Oe St P Gal erg dyn Bd"),
        **_alike(_SI - {"r"}, "Eq eq"),
        **_alike(_SI, "Osm osm"),
        # IEC 80000-6: the var.
        **_alike(_SI, "var VAr"),
        # Products that are written without a separator: SI Brochure, tables 4 and 6; IEC 60050 for hours
        # and for volt amperes; ISO 80000-4 for the impulse.
        **_each(_SI, "Nm Ns Js Ws Vs As Pas Wh Ah VA VAh varh VArh"),
    }
)
_DATA_UNITS: Final = frozenset(_SYMBOLS[symbol][0] for symbol in ("bit", "byte"))
_RATES: Final = frozenset({"bps", "Bps"})
"""Also written all in lower case: `mbps` is `Mbps`, while `MBps` is eight times as much."""
# `\w` matches superscript digits.
_SEGMENT: Final = re.compile(r"°?[^\W\d_²³¹⁰-⁹]+|°")
_PER: Final = "per"


def units_differ(text: str, member: str) -> bool:
    """Return whether two texts of equal letters are different units of measurement by their letter case.

    In texts of units alone, each symbol counts. In texts with words, units count only if the texts differ in units
    alone; single letters are words there.

    >>> units_differ("Mib", "MiB"), units_differ("mL", "ml"), units_differ("mhz", "MHz")
    (True, False, False)
    >>> units_differ("size in Mb", "size in MB"), units_differ("ml engineer", "ML Engineer")
    (True, False)
    """
    ours, theirs = _SEGMENT.findall(text), _SEGMENT.findall(member)
    differing = [pair for pair in zip(ours, theirs, strict=False) if pair[0] != pair[1]]
    meanings = [(_meaning(one), _meaning(other)) for one, other in differing]
    if not all(one and other for one, other in meanings):
        return False
    if not all(each == _PER or _meaning(each) for each in ours):
        meanings = [pair for pair, (one, _) in zip(meanings, differing, strict=True) if len(one) > 1]
    return any(one != other for one, other in meanings)


def _meaning(symbol: str) -> Meaning | None:
    """Parse a symbol, exactly as written, into a prefix and a unit."""
    for prefix in ("", symbol[:1], symbol[:2]):
        name = symbol[len(prefix) :]
        unit, takes = _SYMBOLS.get(name, ("", _NO_PREFIX))
        if unit and (not prefix or prefix in takes):
            return _SAME_PREFIX.get(prefix, prefix), unit
        if name in _RATES and prefix.upper() in takes:
            return prefix.upper(), unit
    return None


_MAX_UNIT: Final = 12
"""Characters of the longest unit in a name; no symbol is longer."""


def named_units_differ(sent: str, name: str) -> bool:
    """Return whether two names that differ in case style contain different units, or only one contains a unit.

    A word that is all lower case, all upper case or capitalized has the case of its style: ``timeoutMS`` and
    ``timeoutMs`` are one name. Bits and bytes differ unless a word is all lower case.

    >>> named_units_differ("rateMBps", "rateMbps"), named_units_differ("powermW", "powerMW")
    (True, True)
    >>> named_units_differ("timeoutMS", "timeout_ms"), named_units_differ("sizeMB", "sizeMb")
    (False, True)
    >>> named_units_differ("expire_s", "expires")
    True
    """
    ours, theirs = words_in(sent), words_in(name)
    if _is_in_seconds(ours) != _is_in_seconds(theirs):  # `expire_s`, and `expires` in another unit
        return True
    one, other = (_without_constant_case("".join(each)) for each in (ours, theirs))
    if one == other or len(one) != len(other):
        return False
    bounds = sorted({*_bounds(sent), *_bounds(name)})
    return any(
        _words_differ(one[start:end], other[start:end])
        for at, start in enumerate(bounds)
        for end in bounds[at + 1 : at + 1 + _MAX_UNIT]
        if end - start <= _MAX_UNIT
    )


def _is_in_seconds(words: list[str]) -> bool:
    return len(words) > 1 and words[-1] in ("s", "S")


def _without_constant_case(letters: str) -> str:
    return letters.lower() if letters.isupper() else letters


def _bounds(name: str) -> list[int]:
    """Return where the words begin and end in a name without separators."""
    return [0, *accumulate(map(len, words_in(name)))]


def _words_differ(one: str, other: str) -> bool:
    # A single letter is a word.
    if one == other or len(one) == 1:
        return False
    first, second = _meaning(one), _meaning(other)
    if first is None or second is None or first == second:
        return False
    if (_is_bare(one) and first[1] not in _RATES) or (_is_bare(other) and second[1] not in _RATES):
        return False
    return not (_is_styled(one) and _is_styled(other)) or {first[1], second[1]} <= _DATA_UNITS


def _is_bare(word: str) -> bool:
    return word == word.lower()


def _is_styled(word: str) -> bool:
    return word in (word.lower(), word.upper(), word.capitalize())


# UTS #35, Date Field Symbol Table: the letters of a calendar date and of the time of day, by field.
_FIELDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys("yYu", "y"),
        **dict.fromkeys("ML", "M"),
        **dict.fromkeys("dD", "d"),
        **dict.fromkeys("hHkK", "h"),
        **{letter: letter for letter in "msS"},
        # Allowed anywhere: day of the week, part of the day, era, quarter, week, zone.
        **dict.fromkeys("EaGQqwWecbBzZOvVXx", ""),
    }
)
_WORD_LIKE_LETTERS: Final = re.compile(r"[yYMdDhHmsSE]+a?")
_QUOTED: Final = re.compile(r"'[^']*'|(?<=[dD])T(?=[hHkK])")
# UTS #35 reserves the letters of ASCII: every other character of a pattern is literal text.
_LITERAL: Final = re.compile(r"'[^']+'")
_RUN: Final = re.compile(r"([A-Za-z])\1*")
_SEPARATED: Final = re.compile(r"[A-Za-z][^A-Za-z0-9]+[A-Za-z]")
_MAX_RUN: Final = 9
"""Letters of the longest run: nine digits of a fraction of a second."""
_MAX_PATTERN: Final = 64
_MIN_NON_WORD_RUN: Final = 3
"""Letters of a run that is too long for an English word."""
_WORD_LIKE: Final = re.compile(r"(?:yMd?|dMy?|Mdy?|My)(?:hm?s?S?)?|hms?S?|msS?")
# The letters of month and minute may be swapped: `yyyy-mm-dd`, `HH:MM`.
_CLEAR: Final = re.compile(
    r"(?:ymd?|dmy?|mdy?|my|[ymdhs]|hms{0,2}|mss?)|(?:ymd|dmy|mdy)hm?s{0,2}|hms{0,2}(?:ymd|dmy|mdy)"
)
# POSIX.1-2017 strftime, with the flags and directives of the GNU C library.
_DIRECTIVE: Final = re.compile(
    r"%[-_0^#]?[0-9]{0,3}(?:E(?=[cCxXyY])|O(?=[deHImMSuUVwWy]))?[aAbBcCdDeFgGhHIjklmMnNpPrRsStTuUvVwWxXyYzZ]"
)


def patterns_differ(text: str, member: str) -> bool:
    """Return whether two texts of equal letters and different case are two patterns of CLDR or strftime.

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
    """Return whether a text has runs of field letters, in an order used for dates and times.

    Without separators, a text with a single letter is a word (``day``, ``dmy``) unless each letter has the case of
    its field (``Hms``, ``DMY``).
    """
    fields = _fields(text)
    in_case = fields and _WORD_LIKE_LETTERS.fullmatch(text) and _WORD_LIKE.fullmatch(fields)
    return bool(in_case) or _is_clear(text)


def _is_clear(text: str) -> bool:
    """Return whether a text is a pattern and, by separators or doubled letters, not a word."""
    fields = _fields(text)
    if not fields or _CLEAR.fullmatch(fields.lower()) is None:
        return False
    bare = _without_quoted(text)
    runs = [len(match[0]) for match in _RUN.finditer(bare)]
    doubled = min(runs) > 1 or max(runs) >= _MIN_NON_WORD_RUN
    parted = len(fields) > 1 and _SEPARATED.search(bare) is not None
    return doubled or parted or _LITERAL.search(text) is not None


def _fields(text: str) -> str | None:
    """Return the fields of the letters in order; None if a letter has no field."""
    if len(text) > _MAX_PATTERN or any(map(str.isdigit, text)):
        return None
    runs = [match[0] for match in _RUN.finditer(_without_quoted(text))]
    if any(len(run) > _MAX_RUN or run[0] not in _FIELDS for run in runs):
        return None
    return "".join(_FIELDS[run[0]] for run in runs)


def _without_quoted(text: str) -> str:
    return _QUOTED.sub(" ", text)
