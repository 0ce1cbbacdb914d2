"""The exit codes of commands, and the error they print in one line."""

from __future__ import annotations

from typing import Final, NoReturn

DONE: Final = 0
FOUND: Final = 1
"""A command that looks for something has found it.

`check` a finding; `stress` a corrupted call, a tool without the middleware or nothing to call.
"""
WRONG_USE: Final = 2
"""An argument is wrong: a file that is not there, a target that cannot be reached."""
INTERRUPTED: Final = 130
"""Ctrl-C ended the command, as shells define it."""


class CommandError(Exception):
    """The reason why a command cannot run, in one sentence."""


def fail(reason: str) -> NoReturn:
    """End the command with exit code 2 and this line."""
    raise CommandError(reason) from None
