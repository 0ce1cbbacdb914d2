"""What a command prints: for a terminal as rich lays it out, for a pipe or a file without trailing blanks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_TRAILING: Final = re.compile(r" +$", re.MULTILINE)


def show(console: Console, *parts: RenderableType) -> None:
    """Print parts below each other; the cells of a table leave no blanks at the end of a line that is kept.

    Args:
        console: Where they go.
        parts: What is printed.
    """
    for part in parts:
        if console.is_terminal:
            console.print(part)
            continue
        with console.capture() as captured:
            console.print(part)
        console.file.write(_TRAILING.sub("", captured.get()))
