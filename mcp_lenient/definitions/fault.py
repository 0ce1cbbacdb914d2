"""One thing that is wrong in a definitions file."""

from __future__ import annotations

from typing import NamedTuple

from mcp_lenient.types import Path

MAX_DEPTH = 32
"""Levels of a definitions file; the deepest place that means anything is far above."""


class Fault(NamedTuple):
    """What is wrong at a place, in words to stand behind its name and a colon."""

    path: Path
    words: str
