"""Print the output of a command: formatted for a terminal, without trailing spaces for a pipe or file.

Everything that a command prints goes through here, where names and texts of others lose what could control a terminal. If
the reader closes early (``| head``), further output is dropped and the exit code stays the same.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import re
import sys
import traceback
import unicodedata
from collections.abc import Iterable
from typing import IO, Any, Final

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

_TRAILING: Final = re.compile(r" +$", re.MULTILINE)
_KEPT: Final = frozenset("\n\t\u200c\u200d")
"""Line breaks and tabs, and the joiners of Persian and of emoji."""


def printable(text: str) -> str:
    r"""Return text with every character escaped, as in JSON, that could control a terminal or is invisible.

    >>> print(printable("a\x1b[2J\u202eb"))
    a\u001b[2J\u202eb
    """
    return text if text.isprintable() else "".join(map(_printable, text))


def _printable(character: str) -> str:
    if character.isprintable() or character in _KEPT or unicodedata.category(character) == "Zs":
        return character
    return json.dumps(character)[1:-1]


class PrintableRecord(logging.LogRecord):
    """A log record of any library, with message and traceback :func:`printable`."""

    def __init__(self, *args: Any, **rest: Any) -> None:
        super().__init__(*args, **rest)
        if self.exc_info:
            self.exc_text = printable(logging.Formatter().formatException(self.exc_info))
            self.exc_info = None  # a handler would format it again

    def getMessage(self) -> str:  # noqa: N802 - logging's name
        """Return the message with its arguments."""
        return printable(super().getMessage())


def print_exception(*error: Any) -> None:
    """Print the traceback of an error that nobody expected, as ``sys.excepthook``."""
    sys.stderr.write(printable("".join(traceback.format_exception(*error))))


class Output(Console):
    """A console that prints its own styles and otherwise only :func:`printable` text, even when its reader closes."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render what is to be printed, with its text escaped."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else printable(text), style, control)

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
    """Print text, escaped as by :func:`printable`, and a final newline on stdout."""
    _write(sys.stdout, f"{printable(text)}\n")


def show(console: Output, *parts: RenderableType) -> None:
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


def count(number: int, what: str) -> str:
    """Return a number of things in words, as in "1 call", "2 calls"."""
    return f"{number:,} {what}" + ("" if number == 1 else "s")
