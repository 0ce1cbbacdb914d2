"""Wait for what a test needs, however long a busy machine takes."""

from __future__ import annotations

from collections.abc import Callable

import anyio

PATIENCE = 60
"""Seconds after which a test fails that waits for something."""


async def until(holds: Callable[[], object]) -> None:
    """Wait until a condition holds, while the event loop runs."""
    with anyio.fail_after(PATIENCE):
        while not holds():  # noqa: ASYNC110 - it may be set from another thread or by a server
            await anyio.sleep(0.01)
