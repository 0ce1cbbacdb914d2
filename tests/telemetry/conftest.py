"""Provide one metrics provider for the process."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from meters import Points, points, provide


@pytest.fixture
def counted() -> Iterator[Callable[[], dict[str, Points]]]:
    """Yield a function that returns what was counted since the test began."""
    provide()
    points()
    yield points
    points()
