"""The files that a command takes: logs, where ``-`` is standard input, definitions, and those that name a server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, Token, UnknownOptionError

from mcp_lenient.cli.errors import fail


def files_or_dash(command: str) -> Parameter:
    """Let a file be ``-``, for standard input; any other word with a hyphen in front is an unknown option."""

    def check(_: object, file: str) -> None:
        if file.startswith("-") and file != "-":
            from mcp_lenient.cli.commands import app

            arguments = app[command].assemble_argument_collection()
            raise UnknownOptionError(token=Token(keyword=file, source="cli"), argument_collection=arguments)

    return Parameter(allow_leading_hyphen=True, validator=check)


def check_file(_: object, file: Path | None) -> None:
    """End the command if a file cannot be read, in the same words as for every other file."""
    if file is None:
        return
    try:
        file.open("rb").close()
    except (OSError, ValueError) as error:
        from mcp_lenient.devtools.printing import why_not_opened

        fail(f"{file}: {why_not_opened(error)}")


InputFile = Annotated[Path | None, Parameter(show_default=False, validator=check_file)]
"""A file that a command reads."""
Config = InputFile
"""A definitions file."""


def check_target(words: Sequence[str]) -> None:
    """End the command if its server is in a file that is not there, before anything large is imported."""
    word = words[0] if len(words) == 1 else ""
    file, colon, _ = word.rpartition(":")
    path = Path(file if colon and file.endswith(".py") else word)
    is_file = path.suffix in (".py", ".json") and "://" not in word and len(word.split()) == 1
    if is_file and not path.exists():
        fail(f"{path}: no such file")
