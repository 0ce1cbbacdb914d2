"""Texts in which letter case has a meaning: single letters, escapes, and published notations."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from typing import Final

from mcp_lenient.rules.units import patterns_differ, units_differ
from mcp_lenient.values.names import fold_case

_LETTERS: Final = re.compile(r"[^\W\d_]+")
_DIGIT: Final = re.compile(r"\d")
_TWO: Final = 2
"""Letters of the longest run that is a symbol by its structure, and characters before it that decide about that."""
# Letters joined by a point, a slash or an ampersand are initials: `U.S.`, `N/A`, `R&D`.
_INITIALS: Final = re.compile(r"[^\W\d_](?:[./&][^\W\d_])+\.?")
# Programming languages: GitHub Linguist, languages.yml. Blood groups: ABO and RhD. Letter grades of schools.
_NAMES_OF_ONE_LETTER: Final = frozenset("C++ C# F# F* J# Q# A+ A- B+ B- O+ O- C+ C- D+ D-".split())
_OPENING: Final = frozenset({"Ps", "Pi", "Pf"})
_QUOTES: Final = frozenset("\"'`")
# POSIX.1-2017, Utility Syntax Guidelines: an option is one letter, and several may follow one hyphen.
_OPTIONS: Final = re.compile(r"(?:^|\s)-$")
_EXTENSION: Final = re.compile(r"[^\W_]\.$")


def case_differs(text: str, member: str, members: Collection[str] = ()) -> bool:
    """Return whether two texts of equal letters mean different things by their letter case.

    >>> case_differs("-R", "-r"), case_differs("GBp", "GBP"), case_differs("OPEN", "Open")
    (True, True, False)
    >>> case_differs("CO", "Co", ["Co", "Ni"]), case_differs("NO", "No", ["Yes", "No"])
    (True, False)

    Args:
        text: The text, without space around it.
        member: A text that differs from it in letter case, and perhaps in the gaps between words.
        members: All texts that are allowed there.
    """
    return (
        _letters_differ(text, member)
        or units_differ(text, member)
        or patterns_differ(text, member)
        or _notations_differ(text, member, members)
    )


def _letters_differ(text: str, member: str) -> bool:
    """Return whether the texts differ in letters that are symbols by their structure, and not parts of a word."""
    runs = [match.span() for match in _LETTERS.finditer(fold_case(text))]
    changed = [(start, end) for start, end in runs if text[start:end] != member[start:end]]
    if changed and all(end - start == 1 for start, end in runs):
        return not _is_name_of_letters(text, member)
    has_digit = _DIGIT.search(text) is not None
    return any(_is_symbol(text, member, start, end, has_digit=has_digit) for start, end in changed)


def _is_name_of_letters(text: str, member: str) -> bool:
    if text.upper() in _NAMES_OF_ONE_LETTER:
        return True
    return _INITIALS.fullmatch(text) is not None and not _is_mixed(text) and not _is_mixed(member)


def _is_symbol(text: str, member: str, start: int, end: int, *, has_digit: bool) -> bool:
    """Return whether the case of one run of letters has a meaning."""
    one, other, before = text[start:end], member[start:end], text[max(start - _TWO, 0) : start]
    if one[0] != other[0] and _is_escaped(before):
        return True
    if len(one) == 1:
        ends_name = end == len(text) and _EXTENSION.search(before) is not None
        return has_digit or ends_name or _is_marked(before)
    if len(one) > _TWO:
        is_option = _OPTIONS.search(before) is not None and (_is_cluster(one) or _is_cluster(other))
        return is_option or _is_minor_unit(one, other) or _is_minor_unit(other, one)
    has_index = one[0] == other[0] and _DIGIT.match(text, end) is not None  # `Cm7` and `CM7`
    return has_index or (_is_mixed(one) and _is_mixed(other)) or _OPTIONS.search(before) is not None


def _is_mixed(letters: str) -> bool:
    return letters not in (letters.lower(), letters.upper())


def _is_cluster(letters: str) -> bool:
    """Return whether letters after a hyphen have the case of several options, and not that of one word."""
    return _is_mixed(letters) and letters != letters.capitalize()


def _is_escaped(before: str) -> bool:
    """Return whether a letter follows the sign of an escape: a backslash, or a percent sign after no digit."""
    return before.endswith("\\") or (before.endswith("%") and not before[-2:-1].isdigit())


def _is_marked(before: str) -> bool:
    """Return whether a letter follows a sign at the beginning of a word, as an option does."""
    sign = before[-1:]
    if not sign or sign.isalnum() or sign.isspace() or sign == "_" or sign in _QUOTES:
        return False
    return unicodedata.category(sign) not in _OPENING and not before[-2:-1].isalnum()


# ISO 4217, list one of 2025, without funds and metals.
_CURRENCIES: Final = frozenset(
    """
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP
    CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF
    IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD
    MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB
    RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD
    UYU UZS VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG
    """.split()
)
# Grammars in which a letter of the other case is another symbol.
_GRAMMARS: Final = tuple(
    map(
        re.compile,
        (
            # POSIX.1-2017, chmod: symbolic modes.
            r"[ugoa]*(?:[-+=][rwxXstugo]*)+(?:,[ugoa]*(?:[-+=][rwxXstugo]*)+)*",
            # PGN standard, section 8.2.3: moves of chess; section 16.1.3.3: castling.
            r"(?:[KQRBN][a-h]?[1-8]?x?[a-h][1-8]|[a-h](?:x[a-h])?[1-8](?:=[QRBN])?|O-O(?:-O)?)[+#]?",
            r"K?Q?k?q?",
        ),
    )
)
# IUPAC, periodic table of the elements of 2022.
_ELEMENTS: Final = """
    H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb Mo
    Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl
    Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv Ts Og
""".split()
# Grammars that short words match as well, so that all allowed texts have to match.
_SHARED_GRAMMARS: Final = tuple(
    map(
        re.compile,
        (
            # Red Book, IR-4: formulas of elements and their counts.
            rf"(?:(?:{'|'.join(sorted(_ELEMENTS, key=len, reverse=True))})[0-9]{{0,3}})+",
            # Chords as lead sheets write them: root, quality, extensions, bass (MusicXML 4.0, kind).
            r"[A-G][#b]?(?:maj|min|dim|aug|m|M)?[0-9]{0,2}(?:(?:sus|add|[#b])[0-9]{1,2})*(?:/[A-G][#b]?)?",
        ),
    )
)
_NUMERAL: Final = re.compile(r"X{0,3}(?:IX|IV|V?I{0,3})", re.IGNORECASE)
_MAX_NOTATION: Final = 64
"""Characters of the longest text that is matched."""


def _notations_differ(text: str, member: str, members: Collection[str]) -> bool:
    """Return whether both texts, exactly as written, are symbols of one notation."""
    # mutant: a bound
    if text == member or len(text) > _MAX_NOTATION:
        return False
    if any(_both_match(grammar, text, member) for grammar in _GRAMMARS):
        return True
    shared = (grammar for grammar in _SHARED_GRAMMARS if _both_match(grammar, text, member))
    return any(all(map(grammar.fullmatch, members)) for grammar in shared) or _has_both_numerals(members)


def _both_match(grammar: re.Pattern[str], text: str, member: str) -> bool:
    return grammar.fullmatch(text) is not None and grammar.fullmatch(member) is not None


def _is_minor_unit(minor: str, currency: str) -> bool:
    """Return whether the first is a hundredth of a currency as exchanges quote it: ``GBp``, pence, beside ``GBP``."""
    return currency in _CURRENCIES and minor == currency[:-1] + currency[-1].lower()


def _has_both_numerals(members: Collection[str]) -> bool:
    """Return whether the texts are Roman numerals of both cases, as those of chords (``ii``, ``V``)."""
    if not members or not all(map(_NUMERAL.fullmatch, members)):
        return False
    return any(map(str.isupper, members)) and any(map(str.islower, members))
