"""Print the output of a command: laid out for a terminal, without trailing blanks for a pipe or a file.

Where a reader leaves early (``| head``), the rest goes nowhere and the command ends as it would have.
"""

from __future__ import annotations

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
    """Print a text unchanged on stdout.

    Args:
        text: What is printed, without the end of its last line.
    """
    _write(sys.stdout, f"{text}\n")


def show(console: Console, *parts: RenderableType) -> None:
    """Print parts below each other, without blanks at the end of a line unless on a terminal.

    Args:
        console: Where they go.
        parts: What is printed.
    """
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
