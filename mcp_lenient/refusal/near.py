"""The allowed values that a text comes near to."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mcp_lenient.refusal.describe import allowed_values
from mcp_lenient.refusal.places import Forms, Place, Schema
from mcp_lenient.refusal.refused import Refusal

MAX_NEAR = 3
MAX_VALUE = 200
_MAX_COMPARED = 6
"""Values of one list that are compared letter by letter, the likeliest first."""
_NEAR = 0.6
_MIN_START = 3


@dataclass(frozen=True, slots=True)
class _Listed:
    """The allowed texts of a place, folded, each with its letters and its digits."""

    values: dict[str, str]
    letters: tuple[tuple[str, frozenset[str], str], ...]


def near_at(refusal: Refusal, place: Place) -> list[Any]:
    """Return the allowed values that a text comes near to, best first: for :meth:`Refusal.once`."""
    if not isinstance(place.value, str) or not place.value or len(place.value) > MAX_VALUE:
        return []
    listed = refusal.say(_listed, place.forms)
    sent = place.value.strip().casefold()
    digits = _digits(sent)
    names = [(name, letters) for name, letters, own in listed.letters if own == digits]
    begun = [name for name, _ in names if _begins(name, sent) or _begins(sent, name)]
    near = [name for name, _ in names if _one_slip_apart(sent, name)]
    if not near and refusal.may_compare():
        near = _alike(sent, names)
    likely = dict.fromkeys((*(begun if len(begun) == 1 else ()), *near))
    return [listed.values[name] for name in likely][:MAX_NEAR]


def _listed(_schema: Schema, choices: Forms) -> _Listed:
    values = {value.casefold(): value for value in allowed_values(choices) if isinstance(value, str)}
    return _Listed(values, tuple((name, frozenset(name), _digits(name)) for name in values))


def _alike(sent: str, names: list[tuple[str, frozenset[str]]]) -> list[str]:
    """Return the names most like a text, of those that share enough letters to be like it at all."""
    own = frozenset(sent)
    likely = sorted(_shared(sent, own, names), reverse=True)[:_MAX_COMPARED]
    return difflib.get_close_matches(sent, [name for _, name in likely], n=2 * MAX_NEAR, cutoff=_NEAR)


def _shared(
    sent: str, own: frozenset[str], names: list[tuple[str, frozenset[str]]]
) -> Iterator[tuple[float, str]]:
    """Yield each name with a bound on how alike it is: a letter that only one of the two has matches nothing."""
    for name, letters in names:
        most = min(len(sent) - len(own - letters), len(name) - len(letters - own))
        bound = 2 * most / (len(sent) + len(name))
        if bound >= _NEAR:
            yield bound, name


def _one_slip_apart(one: str, other: str) -> bool:
    """Return whether one letter is missing or two neighbors are swapped."""
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    if len(long) - len(short) > 1 or len(short) < _MIN_START:
        return False
    at = next((at for at, letter in enumerate(short) if letter != long[at]), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    return (
        short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :] and short != long
    )


def _begins(text: str, start: str) -> bool:
    return len(start) >= _MIN_START and text.startswith(start)


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))
