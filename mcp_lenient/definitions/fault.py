"""One thing that is wrong in a definitions file."""

from __future__ import annotations

from typing import NamedTuple

from mcp_lenient.types import Path

MAX_DEPTH = 32
"""Levels of a definitions file; the deepest place that means anything is far above."""


class Fault(NamedTuple):
    """What is wrong at a place.

    Attributes:
        path: The place.
        words: What is wrong, to stand behind the place and a colon.
        read: Whether the value that was read for this place is the one that is meant there.
    """

    path: Path
    words: str
    read: bool = False
