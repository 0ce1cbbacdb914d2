"""What all tests share: how thoroughly Hypothesis looks, and the log of an application."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from application_log import application_log
from calls import Log
from hypothesis import HealthCheck, settings

settings.register_profile("thorough", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fast", parent=settings.get_profile("thorough"), max_examples=10)
settings.load_profile("fast" if os.environ.get("FAST") else "thorough")


@pytest.fixture
def events() -> Iterator[Log]:
    """The log of an application that configured structlog to write down everything."""
    with application_log() as log:
        yield log
