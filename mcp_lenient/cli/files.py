"""The files that a command takes, where ``-`` is standard input."""

from __future__ import annotations

from cyclopts import Parameter, Token, UnknownOptionError


def files_or_dash(command: str) -> Parameter:
    """Let a file be ``-``, for standard input; any other word with a hyphen in front is an unknown option."""

    def check(_: object, file: str) -> None:
        if file.startswith("-") and file != "-":
            from mcp_lenient.cli.commands import app

            known = app[command].assemble_argument_collection()
            raise UnknownOptionError(token=Token(keyword=file, source="cli"), argument_collection=known)

    return Parameter(allow_leading_hyphen=True, validator=check)
