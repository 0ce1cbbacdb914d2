"""What keeps a report from being made."""

from __future__ import annotations

from mcp_lenient.errors import LenientError


class ReportError(LenientError):
    """A log that is not there or cannot be read, or a package that is missing; says which, in one line."""


class OutOfMemoryError(ReportError):
    """The engine's memory limit is too low for a log."""
