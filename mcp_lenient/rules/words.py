"""What texts say: nothing, several items or certainly one, and the same as another in another case."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import groupby
from typing import Any, Final

from mcp_lenient.values.display import name_words
from mcp_lenient.values.json_values import may_have_thousands, number_in_text, rounds_as_double
from mcp_lenient.values.names import by_key, fold_case, squashed

_EMPTY_WORDS: Final = frozenset({"", "-", "n/a", "nan", "nil", "none", "null", "undefined"})


def is_null_text(text: str) -> bool:
    """Return whether the text is exactly ``null`` or ``None``, as a serializer prints it; other words have meanings."""
    return text in ("null", "None")


def says_nothing(text: str) -> bool:
    """Return whether the text is empty or a word for an absent value."""
    return text.strip().lower() in _EMPTY_WORDS


IDENTIFIERS: Final = frozenset("id ids identifier identifiers uuid uuids guid guids uid uids".split())
"""Last words of names whose value is an identifier: under another name it would identify something else."""


def is_identifier(name: str | None) -> bool:
    """Return whether a parameter of this name holds an identifier, which is spelled in one way."""
    return (name_words(name or "") or ("",))[-1] in IDENTIFIERS


_JSON_TYPES: Final = "string integer number boolean array object".split()
SHORT_TYPES: Final = dict(zip("str int float bool list dict".split(), _JSON_TYPES, strict=True))
"""The JSON types by Python's names for them."""

# --- other spellings --------------------------------------------------------------------------------------

JSON_BOOLEANS: Final = {"true": True, "false": False}
_GAP_BETWEEN_WORDS: Final = re.compile(r"(?<=[^\W\d_]{2})[-_ ](?=[^\W\d_]{2})")
_QUOTED: Final = re.compile(r"([\"'])(.*)\1", re.DOTALL)
_AROUND_SPELLING: Final = 1_000
"""White space, quotes and digits around an allowed value; a letter folds to three at most (Unicode's full case folding)."""


class Spellings:
    """The members of an enum of these JSON types, by the texts that spell them, of ``longest`` characters at most."""

    def __init__(self, members: Sequence[Any], kinds: AbstractSet[str]) -> None:
        self._texts = [member for member in members if isinstance(member, str)]
        self.longest = _AROUND_SPELLING + 3 * max(map(len, self._texts), default=0)
        numbers = {member: member for member in members if type(member) in (int, float)}
        # Booleans alone are read by a rule of their own.
        has_both = sum(isinstance(member, bool) for member in members) > 1 and kinds != {"boolean"}
        self._literals: Mapping[Any, Any] = numbers | (JSON_BOOLEANS if has_both else {})
        # White space alone is a value of its own.
        texts = [text for text in dict.fromkeys(self._texts) if text.strip() or not text]
        self._alike = by_key((_spelling(text.strip()), text) for text in texts)
        self._letters = Counter(map(squashed, {*self._texts}))

    def of(self, text: str) -> Collection[Any]:
        """Return the only member that a stripped text spells; nothing if there are several."""
        number = None if may_have_thousands(text) else number_in_text(text)
        quoted = _QUOTED.fullmatch(text)
        spelled = {self._literals[literal] for literal in (number, text.lower()) if literal in self._literals}
        for spelling in {quoted[2].strip() or quoted[2], text} if quoted else {text} - {""}:
            spelled.update(self._in_other_case(spelling))
        return spelled if len(spelled) == 1 else ()

    def alike(self, text: str) -> Sequence[str]:
        """Return the members that a stripped text equals but for case and separators."""
        return self._alike.get(_spelling(text), ()) if len(text) <= self.longest else ()

    def _in_other_case(self, text: str) -> Sequence[str]:
        alike = self.alike(text)
        exact = [member for member in alike if member.strip() == text]
        if exact or len(alike) != 1:
            return exact or alike
        member = alike[0].strip()
        # `left-right` beside `left+right`
        has_twin = self._letters[squashed(alike[0])] > 1 and member.casefold() != text.casefold()
        return [] if has_twin or _case_matters(text, member, self) else alike

    @cached_property
    def codes(self) -> _Codes:
        """The members as codes."""
        return _Codes(self._texts)


def _spelling(text: str) -> str:
    return _GAP_BETWEEN_WORDS.sub(" ", text.casefold())


# Names of languages (`C++`) and initials (`N/A`).
_INITIALS: Final = re.compile(r"[^\W\d_](?:\+\+|#|(?:[./&][^\W\d_])+\.?)")
# `yyyy`, `ddMM`, `HHmmss`: letters of a pattern.
_REPEATED: Final = re.compile(r"(?:(.)\1+)+|.*(.)\2\2.*")
# `mbit` and `Mbit`; no word begins with an `m` and another consonant.
_MILLI_OR_MEGA: Final = re.compile(r"[mM][^aeiouyAEIOUY]")
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[^\W\dA-Z_]+\d*|\d+")
_SHORT: Final = 3
_LONG: Final = 6


def _case_matters(text: str, member: str, members: Spellings) -> bool:
    """Return whether a stripped text means something else than the member that it equals but for case and separators.

    Case has no meaning in words, and in codes (``usd``) if all members are of one case. It may have one in every other
    short run of letters (``Mb``), in patterns (``mm``), and in runs of both cases (``kN``).
    """
    if len(text) != len(member):  # `Masse` and `Maße`
        return True
    if _INITIALS.fullmatch(text):
        return "" in (_case_style(text), _case_style(member))
    runs = _runs(text)
    longest = max((end - start for start, end in runs), default=0)
    windows = [(run, slice(max(run[0] - 1, 0), run[1] + 1)) for run in runs]
    changed = (run for run, window in windows if text[window] != member[window])
    return any(_is_symbol(text, member, run, members, longest) for run in changed)


def _runs(text: str) -> list[tuple[int, int]]:
    groups = groupby(range(len(text)), lambda at: text[at].lower() != text[at].upper())
    runs = (tuple(group) for has_case, group in groups if has_case)
    return [(run[0], run[-1] + 1) for run in runs]


def _case_style(letters: str) -> str:
    """Return the case of letters: lower, upper, title, or "" if they have both in another way."""
    styles = {"lower": letters.lower(), "upper": letters.upper(), "title": letters.capitalize()}
    return next((style for style, same in styles.items() if letters == same), "")


def _is_symbol(text: str, member: str, run: tuple[int, int], members: Spellings, longest: int) -> bool:
    start, end = run
    one, two = text[start:end], member[start:end]
    styles = {_case_style(one), _case_style(two)}
    if one == two or _REPEATED.fullmatch(one):
        return _REPEATED.fullmatch(one) is not None
    if text[:start].endswith(("\\", "%")):
        return True
    if len(one) == 1:  # `plan b`, `X-ray`
        is_last = text[:start].endswith(" ") and end == len(text) and one.islower()
        return longest < _SHORT or not (is_last or (start == 0 and text[1] == "-"))
    if "" in styles:
        return len(one) < _LONG or styles == {""}
    if styles == {"lower", "title"} and _MILLI_OR_MEGA.match(one):
        return True
    if len(one) > _SHORT:
        return False
    is_numbered = len(one) < _SHORT and text[end : end + 1].isdigit()  # the chord `CM7` for `Cm7`
    if styles == {"title", "upper"} and (two.isupper() or is_numbered):
        return True
    return longest <= _SHORT and not members.codes.include(one, two)


class _Codes:
    """The members of an enum, as codes: short runs of letters that are all of one case."""

    def __init__(self, members: Collection[str]) -> None:
        every = [[member[start:end] for start, end in _runs(member)] for member in members]
        runs = [[run for run in member_runs if len(run) > 1] for member_runs in every]
        listed = [run for member_runs in runs for run in member_runs]
        self._styles = set(map(_case_style, listed))
        self._are_alike = len({tuple(map(_case_style, member_runs)) for member_runs in runs}) < 2
        has_long = any(len(run) >= _SHORT for run in listed)
        self._are_short = has_long and 2 * sum(len(run) <= _SHORT for run in listed) > len(listed)
        self._has_letter = any(list(map(len, member_runs)) == [1] for member_runs in every)

    def include(self, one: str, two: str) -> bool:
        """Return whether a short run of letters is a code (``usd``) that a member has in another case."""
        if one.islower() and two.isupper() and len(one) == _SHORT:
            return True
        if not self._are_alike and self._styles != {_case_style(two)}:
            return False
        if one.islower() or len(one) == _SHORT:
            return True
        # `SA` beside `nsw`; but not `NM` beside `um` and `mm`, nor the chord `AM` beside `A`.
        return one.isupper() and self._are_short and (two.islower() or not self._has_letter)


def renderings(name: str) -> frozenset[str]:
    """Return a name as a whole in the other usual case styles, so that no case in it is a unit's: not ``powerMW``."""
    bare = name.lstrip("_-")
    words = [fold_case(word) for word in _WORD.findall(bare)]
    title = [word.capitalize() for word in words]
    plain = {separator.join(words) for separator in "_- "}
    plain |= {"".join(words)} if all(len(word) > 1 for word in words) else set()  # `expires` is no `expire_s`
    plain |= set(map(str.upper, plain))
    styled = {sign.join(title) for sign in ("", "_", "-", " ")} | {"".join([*words[:1], *title[1:]])} | plain
    if bare in styled - plain and len(words[0]) == 1:  # `mHz` is no `MHz`
        styled = {style for style in styled if style[0] == bare[0] or not style.isalnum()}
    names = styled if bare in styled else plain
    return frozenset(names | {name[: len(name) - len(bare)] + style for style in names}) - {name}


def ends_in_other_case(sent: str, name: str) -> bool:
    """Return whether names alike but for case style differ in the case of a short last word, which may be a unit."""
    sent_bare, name_bare = (spelling.rstrip("_- 0123456789") for spelling in (sent, name))
    length = max((len(words[-1]) for words in map(_WORD.findall, (sent_bare, name_bare)) if words), default=0)
    has_short_end = (
        length < len(name_bare) and length <= _SHORT
    )  # `Ph` for `pH` is a name, and no unit behind one
    return has_short_end and sent_bare[-length:] != name_bare[-length:] and not is_identifier(name_bare)


# --- one item or several ----------------------------------------------------------------------------------

# In scripts without spaces between words a space separates phrases: Han and Kana, and the complex context of UAX #14
# (Thai, Lao, Myanmar, Khmer, New Tai Lue, Tai Le, Tai Tham).
_WITHOUT_SPACES: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9ff\uaa60-\uaa7f\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff]"
)
_JOINERS: Final = "\u200c\u200d"  # UAX #31: words in Persian and Indic scripts contain them
_LETTERS: Final = ("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc")
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
    """The enum values and examples of a list's items."""

    def __init__(self, items: Collection[str]) -> None:
        self._items = frozenset(items)
        self._phrases = tuple(phrase for phrase in map(_phrase, self._items) if phrase.strip())

    def is_one(self, text: str, *, is_member: bool = False) -> bool:
        """Return whether a text is certainly one item: a known one, or one by its form that does not contain another.

        ``is_member`` says that it is an enum value in another spelling.
        """
        if text in self._items:
            listings = ([part.strip() for part in parts] for parts in (_SEPARATOR.split(text), text.split()))
            return not any(len(parts) > 1 and self._items.issuperset(parts) for parts in listings)
        is_whole = is_member or _ONE_ITEM.fullmatch(_shape(text)) is not None
        if not is_whole or (self._phrases and len(text) > MAX_SEARCHED):
            return False
        whole = _phrase(text)
        return not any(part in whole and part != whole for part in self._phrases)


def _phrase(text: str) -> str:
    return f" {' '.join(_SEPARATOR.sub(' ', fold_case(text)).split())} "


def _shape(text: str) -> str:
    """Return a text with an ASCII character of the same kind for each other letter and digit."""
    return text.translate({ord(char): _kind(char) for char in set(text) if not char.isascii()})


def _kind(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Nd":
        return "0"
    is_letter = category in _LETTERS and not _EMOJI_STYLE.match(character)
    if is_letter or character in _JOINERS:
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


def numbers_in(text: str, *, allow_large_integers: bool = True) -> list[int | float] | None:
    """Split a text into numbers at semicolons, else at commas, else at spaces; None if a part is not a number."""
    parts = text.strip().split(_separator(text))
    numbers = [number for part in parts if (number := number_in_text(part)) is not None]
    are_exact = allow_large_integers or not any(map(rounds_as_double, numbers))
    return numbers if are_exact and 1 < len(numbers) == len(parts) else None


def may_be_in_numbers(text: str) -> bool:
    """Return whether a comma or point between numbers may be part of one: decimal, or between thousands."""
    text = text.strip()
    is_mixed = _BARE_COMMA.search(text) and (_SPACED_COMMA.search(text) or _OTHER_NUMBER.search(text))
    return bool(is_mixed) or any(map(may_have_thousands, text.split(_separator(text))))


def _separator(text: str) -> str | None:
    return next((sign for sign in ";," if sign in text), None)
