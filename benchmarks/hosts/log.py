"""Read the events of each call from a log."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.hosts.calls import CALLS, SmokeCall
from mcp_lenient import configure_logging
from mcp_lenient.telemetry.setup import reset_logging


@contextmanager
def events_of() -> Iterator[list[dict[str, Any]]]:
    """Return a list that has the events after the block ends."""
    events: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "events.jsonl"
        configure_logging(file=file, accepted=1.0)
        try:
            yield events
        finally:
            reset_logging()
            events.extend(read_events(file))


def read_events(file: Path) -> list[dict[str, Any]]:
    """Return the events in a file so far."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else ()
    return [json.loads(line) for line in lines]


async def reported(ask: Callable[[SmokeCall], Awaitable[Any]], log: Path | None = None) -> dict[str, Any]:
    """Return the answer and the events of each call, from another process's log or from this one's."""
    found: dict[str, Any] = {}
    for name, call in CALLS.items():
        if log is None:
            with events_of() as events:
                answer = await ask(call)
        else:
            seen = len(read_events(log))
            answer = await ask(call)
            events = read_events(log)[seen:]
        found[name] = {"answer": answer, "events": events}
    return found
