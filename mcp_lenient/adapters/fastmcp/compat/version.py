"""Find the installed version of FastMCP."""

from __future__ import annotations

import re
from typing import Final

from fastmcp import __version__

VERSION: Final = tuple(map(int, re.findall(r"\d+", __version__)[:2]))
"""Its major and minor version."""
