"""Whether a text is surely one item of a list, and not several in one text."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Final

from mcp_lenient.names import fold_case
from mcp_lenient.rules.words import enum_folder

_LETTERS_AND_DIGITS: Final = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Nd"})
# UAX #31: Persian and the scripts of India write words with them. A variation selector is a mark of emoji.
_JOINERS: Final = frozenset("\u200c\u200d")
_EMOJI_STYLES: Final = frozenset(map(chr, range(0xFE00, 0xFE10)))
_SIGNS: Final = frozenset("-_.@/:#'*?=%~$")
# RFC 3986, but for `,` and `;`, which also part URIs, and for brackets.
_URI_SIGNS: Final = frozenset("-._~:/?#@!$&'()*+=%")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://(?=.)(?!.*://)")
# A `+` that has something on one side alone (C++, 18+, +47), in a time's offset (RFC 3339) or a mailbox (RFC
# 5322); a `&` beside a single capital (R&D, AT&T).
_JOINED: Final = re.compile(
    r"[^+]+\+{1,2}"
    r"|\+[0-9]+"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+\+[0-9]{2}:?[0-9]{2}"
    r"|[^\W_][\w.-]*\+[\w.-]+@[\w.-]+"
    r"|[A-Z]&[A-Z]{1,2}|[A-Z]{2}&[A-Z]"
)
_OPENS_EACH: Final = frozenset("#@$")
_QUOTE: Final = re.compile(r"(?<![^\W_])'|'(?![^\W_])")
_PATHS: Final = re.compile(r"/.*:/", re.DOTALL)
_PARTING: Final = re.compile(r"[,;|\n+&/]")
_LONGEST: Final = 2**16
"""Characters of the longest text in which known items are looked for."""

# Scripts that put no spaces between words, so that a space parts more than words: Han and Kana, and what UAX
# #14 calls complex context (Thai, Lao, Myanmar, Khmer, New Tai Lue, Tai Le, Tai Tham).
_WITHOUT_SPACES: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9ff\uaa60-\uaa7f\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff]"
)


def one_item(members: Sequence[str], examples: Sequence[str]) -> Callable[[str], bool]:
    """Compile the enum values and the examples of the items to the check that a text is surely one item.

    It is one where it is one of them, unless its parts are too; or an enum value in another spelling; or one
    absolute URI; or a single symbol, such as an emoji; or has no space, and only letters, digits and
    ``-_.@/:#'*?=%~$``; or is words of letters and digits with single spaces between. A text with a part that is
    itself one of the known items may be several.
    """
    items = frozenset({*members, *examples})
    fold = enum_folder(members)
    parts: dict[str, list[str]] = defaultdict(list)
    for item in items:
        words = _words(item)
        if words:
            parts[words[0]].append(f" {' '.join(words)} ")

    def check(text: str) -> bool:
        if text in items:
            return not is_a_list(text)
        whole = fold(text) or _is_uri(text) or _is_token(text) or _is_words(text) or _is_symbol(text)
        return bool(whole) and not has_known_part(text)

    def is_a_list(text: str) -> bool:
        listings = ([part.strip() for part in split(text)] for split in (_PARTING.split, str.split))
        return any(len(parts) > 1 and items.issuperset(parts) for parts in listings)

    def has_known_part(text: str) -> bool:
        if not parts:
            return False
        words = _words(text)
        padded = f" {' '.join(words)} "
        begun = (part for word in set(words) for part in parts.get(word, ()))
        return len(text) > _LONGEST or any(part in padded and part != padded for part in begun)

    return check


def _words(text: str) -> list[str]:
    return _PARTING.sub(" ", fold_case(text)).split()


def _is_letter_or_digit(character: str) -> bool:
    return character in _JOINERS or (
        unicodedata.category(character) in _LETTERS_AND_DIGITS and character not in _EMOJI_STYLES
    )


def _only(text: str, signs: frozenset[str]) -> bool:
    return all(character in signs or _is_letter_or_digit(character) for character in set(text))


def _is_uri(text: str) -> bool:
    return _SCHEME.match(text) is not None and _only(text, _URI_SIGNS)


def _is_token(text: str) -> bool:
    several = (text[:1] in _OPENS_EACH and text[0] in text[1:]) or _QUOTE.search(text) or _PATHS.match(text)
    joined = _JOINED.fullmatch(text)
    return not several and _only(text, _SIGNS | frozenset("+&") if joined else _SIGNS)


def _is_symbol(text: str) -> bool:
    return len(text) == 1 and unicodedata.category(text) == "So"


def _is_words(text: str) -> bool:
    words = text.split(" ")
    return (
        all(words) and _only(text, frozenset(" ")) and not (len(words) > 1 and _WITHOUT_SPACES.search(text))
    )
