"""The errors this package raises itself. A refused call raises none of them: it gets an envelope."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = [
    "DefinitionError",
    "LenientError",
    "LoggingError",
    "NoToolCallError",
    "NormalizationError",
    "PolicyError",
    "SchemaError",
    "ToolCallError",
]

_CODE = re.compile(r"[A-Z][A-Z0-9_{}]{0,99}")


class LenientError(Exception):
    """Base of all errors of this package."""


class PolicyError(LenientError, ValueError):
    """A policy has an invalid field; names the field and what is allowed."""


class SchemaError(LenientError, ValueError):
    """A schema that is not a JSON object, or a part of one that cannot be compiled; says why."""


class NormalizationError(LenientError, ValueError):
    """Raised by a normalizer to refuse a value.

    Args:
        code: The ``error_code`` of the envelope, like ``INVALID_TAGS_TYPE``; upper case, digits and ``_``.
        message: What is wrong and how to correct it, in one sentence for the caller; without the value.
        expected_types: The envelope's ``expected_types``, such as ``("array of strings", "null")``, if the
            parameter's own type does not determine them.

    Raises:
        ValueError: When the code has another form; codes are written to logs.
    """

    def __init__(self, code: str, message: str, expected_types: Iterable[str] = ()) -> None:
        check_code("NormalizationError", code)
        super().__init__(message)
        self.code = code
        self.message = message
        self.expected_types = tuple(expected_types)


def check_code(where: str, code: object) -> None:
    """Check an author's error code, which is written to logs.

    Raises:
        ValueError: When it contains anything but upper-case letters, digits and ``_``, or is too long.
    """
    if not isinstance(code, str) or _CODE.fullmatch(code) is None:
        msg = (
            f"{where}: code must be at most 100 upper-case letters, digits and _, such as INVALID_TAGS_TYPE."
        )
        raise ValueError(msg)


class DefinitionError(LenientError, ValueError):
    """A definitions file is wrong; says where: file, line or path, and field."""


class ToolCallError(LenientError, ValueError):
    """A text is not exactly one tool call; says what was found instead."""


class NoToolCallError(ToolCallError):
    """A text contains no tool call, like a model's final answer; says what was found instead."""


class LoggingError(LenientError, ValueError):
    """An argument of :func:`mcp_lenient.configure_logging` is wrong; says which, and what is allowed."""
