"""Credentials for ``s3://`` addresses, as AWS's own tools take them from the environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SCHEMES: Final = ("s3://", "s3a://", "s3n://")
"""How the addresses begin that the credentials are for."""

_OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "KEY_ID": ("AWS_ACCESS_KEY_ID",),
    "SECRET": ("AWS_SECRET_ACCESS_KEY",),
    "SESSION_TOKEN": ("AWS_SESSION_TOKEN",),
    "REGION": ("AWS_REGION", "AWS_DEFAULT_REGION"),
}


def s3_secret(environment: Mapping[str, str]) -> str | None:
    """The statement that has DuckDB sign its requests; None where there is no key to sign with.

    Args:
        environment: Of the process; the first variable of each option that is not empty counts.
    """
    known = {
        option: next(filter(None, map(environment.get, names)), None) for option, names in _OPTIONS.items()
    }
    if not (known["KEY_ID"] and known["SECRET"]):
        return None
    given = ", ".join(f"{option} {_quoted(value)}" for option, value in known.items() if value)
    return f"CREATE SECRET (TYPE s3, {given})"


def _quoted(value: str) -> str:
    """A text of SQL: in quotes, those within doubled; nothing else in it is special."""
    return "'" + value.replace("'", "''") + "'"
