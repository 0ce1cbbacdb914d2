"""One thing that is wrong in a definitions file."""

from __future__ import annotations

from typing import NamedTuple

from mcp_lenient.types import Path

MAX_DEPTH = 32
"""Levels of a definitions file; the deepest place that means anything is far above."""


class Fault(NamedTuple):
    """What is wrong at a place, in words that go on from its name."""

    path: Path
    words: str
