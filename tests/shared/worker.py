"""Prepare a test process: Hypothesis's profile, FastMCP with the names of SDK 2, and logging."""

from __future__ import annotations

import logging
import ssl
import sys
from collections.abc import Iterator
from functools import cache

import pytest
from application_log import application_log
from calls import Log
from fastmcp_versions import IS_3, read_as_in_sdk_2, skip_strict_servers
from hypothesis import HealthCheck, settings

settings.register_profile("all", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("usual", parent=settings.get_profile("all"), max_examples=12)


class _Plain(logging.Handler):
    """FastMCP's own log without Rich, whose layout of a line takes longer than a call."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write to the current standard error."""
        sys.stderr.write(f"{self.format(record)}\n")


def prepare(profile: str) -> None:
    """Load a Hypothesis profile, and make FastMCP readable by the names of SDK 2."""
    settings.load_profile(profile)
    logging.getLogger("fastmcp").handlers[:] = [_Plain()]
    # Each HTTP client would load the certificates anew, which takes longer than most tests.
    ssl.create_default_context = cache(ssl.create_default_context)  # type: ignore[assignment]
    read_as_in_sdk_2()


@pytest.fixture
def events() -> Iterator[Log]:
    """Yield the log of an application that configured structlog to record everything."""
    with application_log() as log:
        yield log


@pytest.fixture(autouse=IS_3)
def _skip_strict_servers_on_3(monkeypatch: pytest.MonkeyPatch) -> None:
    skip_strict_servers(monkeypatch)
