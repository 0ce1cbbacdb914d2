"""Let FastMCP's tasks run with the newest Docket of an index that does not have the one they ask for yet."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import Any

from docket import Worker

_LATER = "parent_task_spans"
"""The only argument that Docket 0.27 does not know; it concerns traces."""


def accept() -> None:
    """Have Docket's worker ignore the argument, where it does not know it."""
    init = Worker.__init__
    if _LATER in inspect.signature(init).parameters:
        return

    @wraps(init)
    def _init(self: Worker, *args: Any, **kwargs: Any) -> None:
        kwargs.pop(_LATER, None)
        init(self, *args, **kwargs)

    Worker.__init__ = _init  # type: ignore[method-assign]
