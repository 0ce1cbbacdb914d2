"""Find the installed version of FastMCP."""

from __future__ import annotations

import re
from typing import Final

from fastmcp import __version__

_OLDEST: Final = (3, 4)
_NEWEST: Final = (4, 99)


def _read(version: str) -> tuple[int, int]:
    found = re.match(r"(\d+)\.(\d+)", version)
    read = (int(found[1]), int(found[2])) if found is not None else _NEWEST
    return read if read >= _OLDEST else _NEWEST  # a build without tags calls itself 0.0


VERSION: Final = _read(__version__)
"""Its major and minor version."""
