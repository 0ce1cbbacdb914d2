"""Bounds on repairs and on reported faults."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Final

from mcp_lenient.errors import PolicyError

MOST_FAULTS: Final = 1_000
"""Faults reported per call. Beyond this number of Pydantic errors, only the parameters are reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds that are checked before any repair is tried.

    A call that the tool refuses and that exceeds ``bytes``, ``depth`` or ``items`` is refused with
    ``ARGUMENTS_TOO_LARGE``. A text longer than ``text`` (``relaxed_text`` if it is not plain JSON) is not parsed.

    Args:
        bytes: Characters of all strings and keys, plus eight for each other value.
        depth: Levels of arrays and objects.
        items: Number of values, containers included.
        text: Characters of one JSON text.
        relaxed_text: Characters of one JSON5 or Python text.

    Raises:
        PolicyError: When a bound is not a positive integer.
    """

    bytes: int = 8 * 2**20
    depth: int = 64
    items: int = 1_000_000
    text: int = 8 * 2**20
    relaxed_text: int = 64 * 2**10

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                msg = f"Limits.{name} must be a positive integer, got {value!r}."
                raise PolicyError(msg)
