"""Units of measurement: what a symbol such as ``mOhm`` or ``MiB`` means, letter for letter."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

Meaning = tuple[str, str]
"""A prefix and a unit, each in one spelling."""

# SI Brochure, 9th edition, table 7. `u` is ASCII for the micro sign, which Unicode has twice.
_SUBMULTIPLES: Final = frozenset("d c m u µ μ n p f a z y r q".split())
_MULTIPLES: Final = frozenset("da h k M G T P E Z Y R Q".split())
_SI: Final = _SUBMULTIPLES | _MULTIPLES
# IEC 80000-13, table 3. `K`: JEDEC Standard 100B.01, "kilo (K)" for bits and bytes.
_BINARY: Final = frozenset("Ki Mi Gi Ti Pi Ei Zi Yi".split())
_DATA: Final = frozenset("K k M G T P E Z Y R Q".split()) | _BINARY
_NONE: Final[frozenset[str]] = frozenset()

_SAME_PREFIX: Final[Mapping[str, str]] = MappingProxyType({"µ": "u", "μ": "u", "K": "k"})


def _each(prefixes: frozenset[str], symbols: str) -> dict[str, tuple[str, frozenset[str]]]:
    return {symbol: (symbol, prefixes) for symbol in symbols.split()}


# Each symbol, its unit, and the prefixes it takes.
_SYMBOLS: Final[Mapping[str, tuple[str, frozenset[str]]]] = MappingProxyType(
    {
        # SI Brochure, tables 2 (with the gram for the kilogram) and 4. The two omegas: Greek letter, ohm sign.
        **_each(_SI, "s m g A K mol cd rad sr Hz N Pa J W C V F S Wb T H lm lx Bq Gy Sv kat"),
        **dict.fromkeys(("\u03a9", "\u2126", "Ohm", "ohm", "Ohms", "ohms"), ("Ohm", _SI)),
        "°C": ("°C", _SI),
        # SI Brochure, table 8, and the text below it: units of time and angle take no prefixes.
        **_each(_NONE, "min h d au ha Np °"),
        **_each(_SI, "eV Da"),
        # ISO 80000-1: multiples of the tonne, submultiples of the liter; kL, ML and GL are in use for water.
        "t": ("t", frozenset("m k M G T".split())),
        **dict.fromkeys(("l", "L"), ("L", _SUBMULTIPLES | frozenset("da h k M G".split()))),
        # IEC 80000-13 and SI Brochure, table 8 (bel). Submultiples count, too: as written, `mB` is no `MB`.
        **dict.fromkeys(("bit", "bits", "b"), ("bit", _SI | _DATA)),
        **dict.fromkeys(("byte", "bytes", "B"), ("B", _SI | _DATA)),
        "bps": ("bit/s", _DATA),
        "Bps": ("B/s", _DATA),
        # In use beside the SI. `Cal`: the kilocalorie. `M`: mole per liter, IUPAC Green Book, section 2.10.
        **_each(_SI, "cal bar Torr pc Wp"),
        # SI Brochure, 8th edition, table 9: units of the CGS system.
        **_each(_SI, "G Gal"),
        "Cal": ("Cal", _NONE),
        "M": ("M", _SUBMULTIPLES),
        # UCUM, units marked as metric: curie, roentgen, rem, international and enzyme units, equivalents, osmoles,
        # oersted, stokes, poise, gal, erg, dyne, baud.
        **_each(_SI, "Ci R rem IU U Oe St P Gal erg dyn Bd"),
        **dict.fromkeys(("Eq", "eq"), ("Eq", _SI - {"r"})),
        **dict.fromkeys(("Osm", "osm"), ("Osm", _SI)),
        # IEC 80000-6: the var.
        **dict.fromkeys(("var", "VAr"), ("var", _SI)),
        # Products that are written without a sign between: SI Brochure, tables 4 and 6; IEC 60050 for hours
        # and for volt amperes; ISO 80000-4 for the impulse.
        **_each(_SI, "Nm Ns Js Ws Vs As Pas Wh Ah VA VAh varh VArh"),
    }
)

_RATES: Final = frozenset({"bps", "Bps"})
"""Written in lower case throughout, too: `mbps` is `Mbps`, and `MBps` is eight times as much."""

_LONGEST: Final = 2 + max(map(len, _SYMBOLS))
# Superscript digits count as letters of words in `\w`.
_SEGMENT: Final = re.compile(r"°?[^\W\d_²³¹⁰-⁹]+|°")
_PER: Final = "per"


def units_differ(text: str, member: str) -> bool:
    """Check whether two texts of equal letters name two units of measurement by their letter case.

    Where both are units throughout, each symbol counts. Among words a unit counts where the texts differ in
    units alone; single letters are words there.

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
    """Read a symbol as a prefix and a unit, exactly as it is written."""
    if len(symbol) > _LONGEST:
        return None
    for end in range(min(3, len(symbol))):
        prefix, (unit, takes) = symbol[:end], _SYMBOLS.get(symbol[end:], ("", _NONE))
        if unit and (not prefix or prefix in takes):
            return _SAME_PREFIX.get(prefix, prefix), unit
        if symbol[end:] in _RATES and prefix.upper() in takes:
            return prefix.upper(), unit
    return None
