"""Follow the lines of a file that others write to."""

from __future__ import annotations

import os
from contextlib import suppress
from time import sleep
from typing import IO, TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from pathlib import Path

_BLOCK: Final = 65_536
_LONGEST: Final = 1_000_000
_PAUSE: Final = 0.2


def lines_of(
    path: Path, *, history: int, follow: bool, counts: Callable[[str], bool] | None = None
) -> Iterator[str]:
    """Yield the last lines of a file, and endlessly what is added; a line longer than a megabyte comes in pieces.

    Of the last lines only those are counted for which ``counts`` returns True, if it is given.

    After a rotation the old file is read to its end before the new one. A truncated file is read from its start. While
    the file does not exist, this waits for it.
    """
    file: IO[bytes] = path.open("rb")
    try:
        _go_back(file, history, counts)
        while follow:
            yield from _lines(file, unfinished=False)
            file = yield from _renewed(path, file)
        yield from _lines(file, unfinished=True)
    finally:
        file.close()


def _renewed(path: Path, file: IO[bytes]) -> Generator[str, None, IO[bytes]]:
    """Wait briefly; return the file to read next, at its start if it was replaced or truncated."""
    sleep(_PAUSE)
    with suppress(FileNotFoundError):
        now = path.stat()
        if not os.path.samestat(now, os.fstat(file.fileno())):
            fresh = path.open("rb")
            yield from _lines(file, unfinished=True)
            file.close()
            return fresh
        if now.st_size < file.tell():
            file.seek(0)
    return file


def text_of(line: bytes) -> str:
    """Decode a line without its newline; replace invalid UTF-8."""
    return line.decode("utf-8", "replace").rstrip("\r\n")


def _lines(file: IO[bytes], *, unfinished: bool) -> Iterator[str]:
    """Yield the lines from here on; leave an unfinished one in the file unless it is wanted."""
    while line := file.readline(_LONGEST):
        if not (unfinished or line.endswith(b"\n") or len(line) == _LONGEST):
            file.seek(-len(line), os.SEEK_CUR)
            return
        yield text_of(line)


def _go_back(file: IO[bytes], lines: int, counts: Callable[[str], bool] | None) -> None:
    """Move to where the last lines of a file begin."""
    end = file.seek(0, os.SEEK_END)
    for start in _starts_of_lines(file, end) if lines else ():
        file.seek(start)
        lines -= counts is None or counts(text_of(file.readline(_LONGEST)))
        if lines == 0:
            file.seek(start)
            return
    file.seek(0 if lines else end)


def _starts_of_lines(file: IO[bytes], end: int) -> Iterator[int]:
    """Yield where the lines of a file begin, from the last to the second."""
    at = end
    while at > 0:
        start = max(0, at - _BLOCK)
        file.seek(start)
        block = file.read(at - start)
        # The last newline does not start another line.
        upto = len(block) - (at == end)
        while (newline := block.rfind(b"\n", 0, upto)) >= 0:
            yield start + newline + 1
            upto = newline
        at = start
