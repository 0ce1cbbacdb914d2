"""The events of one call, read from where this process logs them."""

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
    """Return a list that holds the events once the block is left."""
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
    """Return the events that a file holds so far."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else ()
    return [json.loads(line) for line in lines]
