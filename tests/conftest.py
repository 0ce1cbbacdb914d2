"""What all tests share: how thoroughly Hypothesis looks, and the log of an application."""

from __future__ import annotations

import gc
import logging
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from inspect import iscoroutinefunction
from pathlib import Path

import pytest
from application_log import application_log
from calls import Log
from hypothesis import HealthCheck, settings

settings.register_profile("thorough", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fast", parent=settings.get_profile("thorough"), max_examples=10)
settings.register_profile("quick", parent=settings.get_profile("fast"))


_ALL_SLOW = re.compile(r"^pytestmark = (\[\s*)?pytest\.mark\.slow\b", re.MULTILINE)


_FEW = 9
"""So many rows of a table that goes through a server are no trouble for the quick part of the tests."""


class _Plain(logging.Handler):
    """FastMCP's own log without Rich, which takes longer to lay out a line than FastMCP to answer a call."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write to what is standard error just now."""
        sys.stderr.write(f"{self.format(record)}\n")


def _is_quick(config: pytest.Config) -> bool:
    return config.getoption("markexpr") == "not slow"


def pytest_configure(config: pytest.Config) -> None:
    """The quick part of the tests tries fewer examples; this runs before a test file asks how many."""
    settings.load_profile("quick" if _is_quick(config) else "fast" if os.environ.get("FAST") else "thorough")
    logging.getLogger("fastmcp").handlers[:] = [_Plain()]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is collected stays to the end, so that the collector of garbage need not look at it again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000)  # events and futures of a test are soon gone by themselves
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of a long table that goes through a server the quick part runs every third row."""
    if not _is_quick(config):
        return
    tables: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if iscoroutinefunction(getattr(item, "function", None)) and not item.get_closest_marker("slow"):
            tables[item.nodeid.partition("[")[0]].append(item)
    left = [each for table in tables.values() if len(table) > _FEW for each in _all_but_every_third(table)]
    config.hook.pytest_deselected(items=left)
    gone = set(left)
    items[:] = [item for item in items if item not in gone]


def _all_but_every_third(table: list[pytest.Item]) -> list[pytest.Item]:
    # Shifted by one every three rows, so that three kinds of servers get their turns.
    return [item for at, item in enumerate(table) if at % 3 != at // 3 % 3]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The quick part does not wait for the imports of files that it runs nothing of."""
    if not _is_quick(config) or collection_path.suffix != ".py":
        return None
    return bool(_ALL_SLOW.search(collection_path.read_text(encoding="utf-8"))) or None


@pytest.fixture
def events() -> Iterator[Log]:
    """The log of an application that configured structlog to write down everything."""
    with application_log() as log:
        yield log
