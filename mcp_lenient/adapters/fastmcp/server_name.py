"""Name a server whose address alone is known."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from fastmcp import FastMCP
from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport

NAMELESS: Final = "mcp-lenient"
"""The name of a proxy for a server without a known name."""
AT_URL: Final = ("http://", "https://")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def name_of(target: Any) -> str:
    """Return a name for the server until it has said its own: the host of a URL, or the program of a command line.

    It contains no argument, path or query.
    """
    if isinstance(target, FastMCP):
        return target.name
    if isinstance(target, (StreamableHttpTransport, SSETransport)):
        target = str(target.url)
    name = ""
    if isinstance(target, StdioTransport):
        name = Path(target.command).stem
    elif isinstance(target, str) and target.startswith(AT_URL):
        name = urlsplit(target).hostname or ""
    return name if _NAME.fullmatch(name) else NAMELESS
