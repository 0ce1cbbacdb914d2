"""Print the output of a command: laid out for a terminal, without trailing blanks for a pipe or a file.

Where a reader leaves early (``| head``), the rest goes nowhere and the command ends as it would have.
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
    """A console on stdout that stays quiet once its reader is gone."""

    def on_broken_pipe(self) -> None:
        """Print no more."""
        self.quiet = True
        drop_output()


def drop_output() -> None:
    """Discard further output: the reader of stdout is gone."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def put(text: str) -> None:
    """Print a text and the end of its last line on stdout."""
    _write(sys.stdout, f"{text}\n")


def show(console: Console, *parts: RenderableType) -> None:
    """Print parts below each other, without blanks at the end of a line unless on a terminal."""
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
    """Say why a file cannot be opened, in a few words."""
    if not isinstance(error, OSError):
        return "this is not a file name"
    return _REASONS.get(error.errno or 0) or f"it cannot be read: {error.strerror}"
