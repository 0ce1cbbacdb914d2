"""The files that a command takes: logs, where ``-`` is standard input, and definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclopts import Parameter, Token, UnknownOptionError

from mcp_lenient.cli.errors import fail

if TYPE_CHECKING:
    from pathlib import Path


def files_or_dash(command: str) -> Parameter:
    """Let a file be ``-``, for standard input; any other word with a hyphen in front is an unknown option."""

    def check(_: object, file: str) -> None:
        if file.startswith("-") and file != "-":
            from mcp_lenient.cli.commands import app

            known = app[command].assemble_argument_collection()
            raise UnknownOptionError(token=Token(keyword=file, source="cli"), argument_collection=known)

    return Parameter(allow_leading_hyphen=True, validator=check)


def check_config(config: Path | None) -> None:
    """End the command if the definitions file of ``--config`` is not there."""
    if config is not None and not config.is_file():
        fail(f"--config {config}: {'this is not a file' if config.exists() else 'no such file'}")
