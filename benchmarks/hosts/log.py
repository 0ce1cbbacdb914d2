"""Read the events of one call from this process's log."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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
