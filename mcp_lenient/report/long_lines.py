"""Count lines where some are so long that DuckDB drops them without a word."""

from __future__ import annotations

import os
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Final

from mcp_lenient.report.lines import LONGEST_LINE
from mcp_lenient.report.sources import LogFiles, pour, unescaped

# Whatever is longer than the longest line covers a whole part.
_PART: Final = LONGEST_LINE // 2
_PIECE: Final = 2**14
_BLANK: Final = b" \t\r"
_BOM: Final = b"\xef\xbb\xbf"


def count_if_long(group: LogFiles) -> int | None:
    """Count the lines that are not blank, if some are too long for the engine to count.

    Args:
        group: Files that hold lines.

    Returns:
        The number of lines; None where the engine counts right, and where Python cannot unpack the files.
    """
    if group.kind != "lines" or group.compression not in ("none", "gzip"):
        return None
    look = _has_long_line if group.compression == "none" else _has_long_line_packed
    if not any(look(path) for path in group.paths):
        return None
    return sum(_count(path) for path in group.paths)


def _has_long_line(path: str) -> bool:
    """Look at the start of each part only, as far as the first line break: a log may be larger than memory."""
    with Path(unescaped(path)).open("rb", buffering=0) as file:
        size = file.seek(0, os.SEEK_END)
        return any(_without_break(file, start) for start in range(0, size - _PART + 1, _PART))


def _without_break(file: FileIO, start: int) -> bool:
    file.seek(start)
    left = _PART
    while left and (piece := file.read(min(_PIECE, left))):
        if b"\n" in piece:
            return False
        left -= len(piece)
    return not left


def _has_long_line_packed(path: str) -> bool:
    sink = _LongLines()
    pour(path, sink)
    return sink.found


def _count(path: str) -> int:
    sink = _Lines()
    pour(path, sink)
    return sink.count + sink.cut


@dataclass(slots=True)
class _LongLines:
    """Find out whether a part of a stream has no line break."""

    found: bool = False
    waiting: bytes = b""

    def write(self, block: bytes) -> None:
        """Take in the next bytes of the stream."""
        parts = self.waiting + block
        whole = len(parts) - len(parts) % _PART
        self.found = self.found or any(
            parts.find(b"\n", start, start + _PART) < 0 for start in range(0, whole, _PART)
        )
        self.waiting = parts[whole:]


@dataclass(slots=True)
class _Lines:
    """Count the lines of a stream that are not blank; ``cut`` says whether the last has no end and is one."""

    count: int = 0
    cut: bool = False
    started: bool = False

    def write(self, block: bytes) -> None:
        """Take in the next bytes of the stream."""
        if not self.started:
            block, self.started = block.removeprefix(_BOM), True
        first, *others = block.split(b"\n")
        self.cut = self.cut or bool(first.strip(_BLANK))
        if others:
            self.count += self.cut + sum(bool(line.strip(_BLANK)) for line in others[:-1])
            self.cut = bool(others[-1].strip(_BLANK))
