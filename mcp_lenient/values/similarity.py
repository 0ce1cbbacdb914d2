"""How alike two parameter names are: shared words, a shared ending, a slip of the finger."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import lru_cache

from mcp_lenient.values.display import name_words
from mcp_lenient.values.names import LONGEST_NAME, is_replaced, is_slip

_SAME_WORDS = 1.0
_ONE_SLIP = 0.95
_CONTAINED = 0.9
_SAME_END = 0.8
_SLIP = 0.75
_SHARED = 0.5
_UNLIKE = -1.0
_MIN_END = 3
_LONGEST = 128

_OPPOSITES = tuple(
    frozenset(pair.split("/"))
    for pair in (
        "start/end begin/end start/stop min/max minimum/maximum from/to before/after since/until first/last "
        "source/target source/destination src/dst old/new lat/lon lat/lng latitude/longitude width/height "
        "height/weight x/y lte/gte lt/gt in/out input/output sender/receiver left/right top/bottom "
        "origin/destination departure/arrival open/close next/previous include/exclude"
    ).split()
)


@lru_cache(maxsize=8192)
def likeness(sent: str, name: str) -> float:
    """How alike two names are: 1 for the same words, 0 for nothing in common, below 0 for opposites.

    >>> likeness("user_name", "name") > likeness("user_name", "file_name") > likeness("user_name", "city")
    True
    >>> likeness("startDate", "end_date")
    -1.0
    """
    left, right = _stems(sent), _stems(name)
    if not left or not right:
        return 0.0
    if _opposed(left, right):
        return _UNLIKE
    shared = left & right
    if left == right:
        return _SAME_WORDS
    if is_slip(sent[:LONGEST_NAME], name[:LONGEST_NAME]):
        return _ONE_SLIP
    if is_replaced(sent[:LONGEST_NAME], name[:LONGEST_NAME]):
        return _SAME_END
    if shared in (left, right):
        return _CONTAINED - 0.02 * (len(left | right) - len(shared))
    return _spelt_alike(sent, name) or (_SHARED * len(shared) / len(left | right))


def near(sent: str, names: Iterable[str]) -> list[str]:
    """The names that were likely meant, likeliest first.

    >>> near("store_contxt", ["search_mail", "store_context"])
    ['store_context']
    """
    likely = {name: likeness(sent[:_LONGEST], name) for name in names}
    return sorted(
        (name for name, how in likely.items() if how > _SHARED), key=lambda name: (-likely[name], name)
    )


def _stems(name: str) -> frozenset[str]:
    return frozenset(_singular(word) for word in name_words(name))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 2 else word


def _opposed(left: frozenset[str], right: frozenset[str]) -> bool:
    only_left, only_right = left - right, right - left
    return any(
        pair & only_left and pair & only_right and (pair & only_left) != (pair & only_right)
        for pair in _OPPOSITES
    )


def _spelt_alike(sent: str, name: str) -> float:
    left, right = ("".join(name_words(text)) for text in (sent, name))
    short, long = sorted((left, right), key=len)
    if len(short) >= _MIN_END and (long.endswith(short) or long.startswith(short)):
        return _SAME_END
    ratio = difflib.SequenceMatcher(None, left, right).ratio() if left[0] == right[0] else 0.0
    return ratio * _CONTAINED if ratio >= _SLIP else 0.0
