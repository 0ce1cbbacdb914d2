"""How a normalizer refuses a value, and how a wrong argument of a normalizer is told to its author."""

from __future__ import annotations

from typing import Final, NoReturn

INVALID_TYPE: Final = "INVALID_{PARAMETER}_TYPE"
"""The code for a value of a wrong type; in the envelope the parameter's own name stands for ``{PARAMETER}``."""

INVALID_VALUE: Final = "INVALID_{PARAMETER}_VALUE"
"""The code for a value of the right type that is not allowed; ``{PARAMETER}`` as in :data:`INVALID_TYPE`."""


def refuse_argument(where: str, allowed: str, got: object) -> NoReturn:
    """Refuse an argument that an author gives to a normalizer.

    Raises:
        ValueError: Always; it names the argument, what is allowed, and what came.
    """
    msg = f"{where} must be {allowed}, got {got!r}."
    raise ValueError(msg)


def check_flag(where: str, value: object) -> None:
    """Raise where the value is not a boolean.

    Raises:
        ValueError: When it is anything else.
    """
    if not isinstance(value, bool):
        refuse_argument(where, "true or false", value)
