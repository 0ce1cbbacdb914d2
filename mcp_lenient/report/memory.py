"""How much memory the engine needs for a log, where its limit was too low."""

from __future__ import annotations

import gzip
import zlib
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from mcp_lenient.report.database import LOWEST_MEMORY
from mcp_lenient.report.lines import LONGEST_LINE
from mcp_lenient.report.sources import FoundLogs, LogFiles

_MEGA: Final = 1_000_000
_TOGETHER: Final = 2048
"""How many lines the engine handles at a time."""
_COPIES: Final = 4
"""How often the engine holds what it handles, measured with lines of 8 KB to 1 MB."""
_BASE: Final = 55 * _MEGA
"""What it holds besides; measured, the sum is 4 to 22 percent above the least that works, more for 8 to 10 KB."""


def enough_memory(logs: FoundLogs) -> str:
    """Say which limit is enough for logs: by the length of their lines, where they can be seen.

    Args:
        logs: The logs.
    """
    if any(group.kind == "parquet" or group.compression not in ("none", "gzip") for group in logs.groups):
        return f"give four times as much, {LOWEST_MEMORY // _MEGA}MB at least"
    heaviest = max(_heaviest(name, group) for group in logs.groups for name in group.names)
    needed = max(LOWEST_MEMORY, _BASE + _COPIES * heaviest)
    return f"the lowest limit that works is {-(-needed // _MEGA)}MB"


def _heaviest(name: str, group: LogFiles) -> int:
    """The most bytes that lines have which the engine handles at a time."""
    together: deque[int] = deque(maxlen=_TOGETHER)
    held = most = 0
    for length in _lengths(name, group):
        held += length - (together[0] if len(together) == _TOGETHER else 0)
        together.append(length)
        most = max(most, held)
    return most


def _lengths(name: str, group: LogFiles) -> Iterator[int]:
    with (
        suppress(EOFError, zlib.error, OSError),  # cut off
        gzip.open(name) if group.compression == "gzip" else open(name, "rb") as file,  # noqa: PTH123
    ):
        while line := file.readline(LONGEST_LINE):
            yield len(line)
