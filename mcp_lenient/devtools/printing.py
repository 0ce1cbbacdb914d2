"""Print the output of a command: formatted for a terminal, without trailing spaces for a pipe or file.

If the reader closes early (``| head``), further output is dropped and the exit code stays the same.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from typing import IO, Final

from rich.console import Console, RenderableType

_TRAILING: Final = re.compile(r" +$", re.MULTILINE)


class Output(Console):
    """A console on stdout that drops output once its reader has closed."""

    def on_broken_pipe(self) -> None:
        """Drop further output."""
        self.quiet = True
        drop_output()


def drop_output() -> None:
    """Discard further output, since the reader of stdout has closed."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def put(text: str) -> None:
    """Print text and a final newline on stdout."""
    _write(sys.stdout, f"{text}\n")


def show(console: Console, *parts: RenderableType) -> None:
    """Print parts below each other, without trailing spaces unless on a terminal."""
    for part in parts:
        if console.is_terminal:
            console.print(part)
            continue
        with console.capture() as captured:
            console.print(part)
        _write(console.file, _TRAILING.sub("", captured.get()))


def _write(file: IO[str], text: str) -> None:
    try:
        file.write(text)
        file.flush()
    except BrokenPipeError:
        if file is not sys.stdout:
            raise
        drop_output()


_REASONS: Final = {
    errno.ENOENT: "no such file",
    errno.ELOOP: "its symbolic links form a loop",
}


def why_not_opened(error: OSError | ValueError) -> str:
    """Say briefly why a file cannot be opened."""
    if not isinstance(error, OSError):
        return "this is not a file name"
    return _REASONS.get(error.errno or 0) or f"it cannot be read: {error.strerror}"
