"""What the tests of several hosts share."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Let two seconds pass at once, as far as a file of definitions is concerned."""
    now = time.monotonic
    passed = [0.0]
    monkeypatch.setattr("mcp_lenient.declare.definitions.loading.monotonic", lambda: now() + passed[0])

    def wait() -> None:
        passed[0] += 2

    return wait
