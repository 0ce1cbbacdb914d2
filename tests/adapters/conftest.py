"""Fixtures for the tests of several hosts."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Stop the clock of the definition files; return a function that advances it by two seconds."""
    now = [time.monotonic()]
    monkeypatch.setattr("mcp_lenient.declare.definitions.loading.monotonic", lambda: now[0])

    def wait() -> None:
        now[0] += 2

    return wait
