"""One thing that is wrong with a call, and how its places are named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mcp_lenient.redaction import place, shown
from mcp_lenient.refusal.places import Forms, Place
from mcp_lenient.types import Path, ViolationCode

MAX_PLACES_TOLD = 3
MAX_DETAIL = 300
MAX_COUNTED = 300
"""Judges and searches stop at some number of faults, so that larger counts would not be true."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """One thing that is wrong, at one place or at several items of a list; ``count`` counts them all.

    ``broken`` are the keywords of the published schema with what they ask for; empty where only the tool
    itself is against the value. ``detail`` is the author's sentence, ``reason`` ours, which holds no value.
    """

    code: ViolationCode
    broken: tuple[tuple[str, Any], ...]
    detail: str | None
    places: tuple[Place, ...]
    forms: Forms
    count: int
    reason: str | None = None


def more_places(trouble: Trouble) -> str:
    """How many places more a line about one name speaks of."""
    return f" (and so at {trouble.count - 1} more places)" if trouble.count > 1 else ""


def parameter(path: Path) -> str | None:
    """The top-level name of a path, as it is shown."""
    return shown(path[0]) if path else None


def where(path: Path) -> str:
    """A place in quotes, or the arguments as a whole."""
    return f"'{place(path)}'" if path else "the arguments"


def is_or_are(trouble: Trouble) -> str:
    """The verb that goes with :func:`named`."""
    return "are" if trouble.count > 1 or not trouble.places[0].path else "is"


def named(trouble: Trouble) -> str:
    """The places of a trouble: the first ones, and how many more there are."""
    told = [where(spot.path) for spot in trouble.places[:MAX_PLACES_TOLD]]
    rest = trouble.count - len(told)
    if rest > 0:
        others = f"{rest} more" if rest <= MAX_COUNTED else f"more than {MAX_COUNTED} others"
        return f"{', '.join(told)} and {others}"
    return told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"
