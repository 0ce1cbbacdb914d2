"""Names noticed in another spelling, or one letter apart. No rule renames by it: it refuses and advises."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from mcp_lenient.names import LONGEST_NAME, fold_case


def squashed(name: str) -> str:
    """The letters and digits of a name alone, without their case: ``$dry-run`` and ``dryRun`` are one."""
    return "".join(filter(str.isalnum, fold_case(name))) or name


_SHORTEST_SQUASHED = 3
_SHORTEST_REPLACED = 4
_MOST_SHORTENED = 2_000
"""Declared names of one object of which the slips are known."""

Spelt = Mapping[str, tuple[str, ...]]
"""Declared names by what is left of them."""


def by_letters(declared: Iterable[str]) -> Spelt:
    """The declared names by their letters and digits alone."""
    found: dict[str, tuple[str, ...]] = {}
    for name in declared:
        letters = squashed(name)
        found[letters] = (*found.get(letters, ()), name)
    return found


def by_letters_but_one(spelt: Spelt) -> Spelt:
    """The declared names by what is left of them without any one letter."""
    found: dict[str, tuple[str, ...]] = {}
    for letters in islice(spelt, _MOST_SHORTENED):
        if len(letters) <= LONGEST_NAME:
            for rest in _but_one(letters):
                found[rest] = (*found.get(rest, ()), *spelt[letters])
    return found


def one_slip_away(sent: str, spelt: Spelt, shortened: Spelt) -> Iterator[tuple[str, ...]]:
    """The declared names that a name may be a slip of: a letter too many, one missing, or two swapped.

    Args:
        sent: The name that came.
        spelt: What :func:`by_letters` made of the declared names.
        shortened: What :func:`by_letters_but_one` made of that.
    """
    letters = squashed(sent)
    if not _SHORTEST_SQUASHED <= len(letters) <= LONGEST_NAME:
        return
    for other in (*_but_one(letters), *_swaps(letters)):
        if other in spelt and len(other) >= _SHORTEST_SQUASHED:
            yield spelt[other]
    if letters in shortened:
        yield shortened[letters]


def is_slip(sent: str, name: str) -> bool:
    """Return whether two names are one letter apart, or two swapped letters.

    >>> is_slip("tgas", "tags"), is_slip("max_result", "max_results"), is_slip("gte", "lte")
    (True, True, False)
    """
    short, long = sorted((squashed(sent), squashed(name)), key=len)
    if short == long or len(long) - len(short) > 1 or len(short) < _SHORTEST_SQUASHED:
        return False
    at = next((at for at, letter in enumerate(short) if letter != long[at]), len(short))
    if len(short) < len(long):
        return long[at].isalpha() and short[at:] == long[at + 1 :]
    pair = short[at : at + 2]
    return pair.isalpha() and pair == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]


def is_replaced(sent: str, name: str) -> bool:
    """Return whether two names differ in one letter.

    >>> is_replaced("insure", "ensure"), is_replaced("gte", "lte")
    (True, False)
    """
    one, other = squashed(sent), squashed(name)
    if len(one) != len(other) or len(one) < _SHORTEST_REPLACED:
        return False
    pairs = [pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]]
    return len(pairs) == 1 and pairs[0][0].isalpha() and pairs[0][1].isalpha()


def _but_one(letters: str) -> set[str]:
    return {letters[:at] + letters[at + 1 :] for at, letter in enumerate(letters) if letter.isalpha()}


def _swaps(letters: str) -> Iterator[str]:
    for at in range(len(letters) - 1):
        pair = letters[at : at + 2]
        if pair[0] != pair[1] and pair.isalpha():
            yield f"{letters[:at]}{pair[::-1]}{letters[at + 2 :]}"
