"""The allowed values that a text comes near to."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import islice
from typing import Any

from mcp_lenient.refusal.describe import allowed_values
from mcp_lenient.refusal.places import Place
from mcp_lenient.refusal.refused import Refusal

MAX_NEAR = 3
MAX_VALUE = 200
MAX_COMPARED = 200
_NEAR = 0.6
_MIN_START = 3


def near_at(_refusal: Refusal, place: Place) -> list[Any]:
    """Return :func:`near_values`, for :meth:`Refusal.once`."""
    return near_values(place)


def near_values(place: Place) -> list[Any]:
    """The allowed values that a text comes near to, best first."""
    if not isinstance(place.value, str) or not place.value or len(place.value) > MAX_VALUE:
        return []
    folded = {value.casefold(): value for value in allowed_values(place.forms) if isinstance(value, str)}
    if not folded:
        return []
    sent = place.value.strip().casefold()
    begun = [name for name in folded if _begins(name, sent) or _begins(sent, name)]
    compared: Iterable[str] = folded
    if len(folded) > MAX_COMPARED:
        compared = islice((name for name in folded if name[:1] == sent[:1]), MAX_COMPARED)
    near = difflib.get_close_matches(sent, compared, n=2 * MAX_NEAR, cutoff=_NEAR)
    likely = dict.fromkeys((*(begun if len(begun) == 1 else ()), *near))
    return [folded[name] for name in likely if _digits(name) == _digits(sent)][:MAX_NEAR]


def _begins(text: str, start: str) -> bool:
    return len(start) >= _MIN_START and text.startswith(start)


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))
