"""How a normalizer refuses a value, and how a wrong argument of a normalizer is told to its author."""

from __future__ import annotations

import re
from typing import Final, NoReturn

INVALID_TYPE: Final = "INVALID_{PARAMETER}_TYPE"
"""The code for a value of a wrong type; ``{PARAMETER}`` is filled in by whoever knows the parameter."""

INVALID_VALUE: Final = "INVALID_{PARAMETER}_VALUE"
"""The code for a value of the right type that is not allowed; ``{PARAMETER}`` as in :data:`INVALID_TYPE`."""

_PLACEHOLDER: Final = "{PARAMETER}"
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NOT_IN_CODES: Final = re.compile(r"[^A-Za-z0-9]+")


def code_for(code: str, parameter: str = "value") -> str:
    """The code with the parameter's own name in it; a code without ``{PARAMETER}`` stays as it is.

    >>> code_for("INVALID_{PARAMETER}_TYPE", "maxResults"), code_for("QUOTA_EXCEEDED", "maxResults")
    ('INVALID_MAX_RESULTS_TYPE', 'QUOTA_EXCEEDED')

    Args:
        code: The code of a :class:`mcp_lenient.errors.NormalizationError`.
        parameter: The parameter's name.
    """
    name = _NOT_IN_CODES.sub("_", _HUMP.sub("_", parameter)).strip("_").upper()
    return code.replace(_PLACEHOLDER, name or "PARAMETER")


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
