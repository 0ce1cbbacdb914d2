"""Stderr as a sink that may be full: written to, but never waited for."""

from __future__ import annotations

import select
import sys
from typing import Final, TextIO

_CHUNK: Final = 1_000
"""Characters written at once: in UTF-8 at most the 4,096 bytes for which a pipe that is ready has room."""
_WAIT_MS: Final = 20
"""How long the rest of a line waits for a reader that has begun to read it."""


class StderrFullError(BlockingIOError):
    """Nobody reads what is written to stderr."""


class Stderr:
    """The stream that ``sys.stderr`` is at the moment of writing.

    A client that starts a server over stdio and never reads its stderr lets the pipe fill up. Whoever
    writes to it then waits for ever, and a call waits with it; so a line for which there is no room is
    given up.
    """

    def info(self, line: str) -> None:
        """Write one line.

        Raises:
            StderrFullError: When nobody reads; of a long line, part may have been written.
        """
        stream = sys.stderr
        if stream is None:
            return
        text = f"{line}\n"
        for at in range(0, len(text), _CHUNK):
            if not _has_room(stream, _WAIT_MS if at else 0):
                raise StderrFullError
            stream.write(text[at : at + _CHUNK])
            stream.flush()

    debug = warning = info


def _has_room(stream: TextIO, wait_ms: int) -> bool:
    """Whether a write would not wait; taken for granted where the system cannot tell."""
    if not hasattr(select, "poll"):
        return True
    try:
        number = stream.fileno()
    except (AttributeError, OSError, ValueError):  # a stream of its own kind, with nothing behind it
        return True
    poll = select.poll()
    poll.register(number, select.POLLOUT)
    return bool(poll.poll(wait_ms))
