"""Fixtures for the tests of several hosts."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function that advances the clock of the definition files by two seconds."""
    now = time.monotonic
    passed = [0.0]
    monkeypatch.setattr("mcp_lenient.declare.definitions.loading.monotonic", lambda: now() + passed[0])

    def wait() -> None:
        passed[0] += 2

    return wait
