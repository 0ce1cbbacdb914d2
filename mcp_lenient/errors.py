"""The errors this package raises itself. A refused call raises none of them: it gets an envelope."""

from __future__ import annotations


class LenientError(Exception):
    """Base of all errors of this package."""


class PolicyError(LenientError, ValueError):
    """A policy names something that does not exist; says which field and what is allowed."""


class SchemaError(LenientError, ValueError):
    """A schema that cannot be compiled; says why."""
