"""Print tables whole, also in a narrow terminal, a file or a pipe, and values in short."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Console

_WIDTH = 120
"""In a narrower terminal, wide tables are wrapped line by line: Rich would cut their cells."""
_FILE_WIDTH = 300
"""More than the widest table."""


def wide_console() -> Console:
    """Return a console that shows tables whole."""
    terminal = Console(soft_wrap=False)
    width = max(terminal.width, _WIDTH) if terminal.is_terminal else _FILE_WIDTH
    return Console(soft_wrap=False, width=width)


def line(console: Console, text: str) -> None:
    """Print a text as it is, however long it is."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def short(value: Any, limit: int) -> str:
    """Return a value as JSON, of at most this many characters and dots."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else f"{text[:limit]}..."
