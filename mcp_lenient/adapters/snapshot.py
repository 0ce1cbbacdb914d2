"""A copy of a refused call's arguments, to see whether other middleware has changed them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

from mcp_lenient.values.json_values import unshared

_TOO_DEEP: Final = object()


class Snapshot:
    """A copy of arguments, which other middleware may replace or change in place.

    Args:
        arguments: The arguments as they are now.
    """

    __slots__ = ("_copy",)

    def __init__(self, arguments: Any) -> None:
        self._copy: Any = _TOO_DEEP
        with suppress(RecursionError):  # nested deeper than Python copies
            self._copy = unshared(arguments or {})

    def shows(self, arguments: Any) -> bool:
        """Return whether arguments are as they were; True where they are nested too deeply to compare."""
        try:
            return self._copy is _TOO_DEEP or bool((arguments or {}) == self._copy)
        except RecursionError:
            return True
