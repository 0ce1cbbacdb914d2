"""A fixture that collects log lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import structlog


@pytest.fixture
def log() -> Iterator[list[str]]:
    """Collect each log line as JSON text."""
    lines: list[str] = []

    def write(_logger: Any, _level: str, event: Any) -> Any:
        lines.append(json.dumps(event, default=repr))
        raise structlog.DropEvent

    structlog.configure(processors=[write])
    yield lines
    structlog.reset_defaults()
