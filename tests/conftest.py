"""What all tests share: how thoroughly Hypothesis looks, and the log of an application."""

from __future__ import annotations

import gc
import logging
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from application_log import application_log
from calls import Log
from fastmcp_versions import IS_3, NOT_COLLECTED, read_as_in_sdk_2, skip_strict_servers
from hypothesis import HealthCheck, settings

settings.register_profile("all", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("usual", parent=settings.get_profile("all"), max_examples=25)
settings.register_profile("quick", parent=settings.get_profile("all"), max_examples=10)

_QUICK = "not slow"
_USUAL = "not full"
_LEFT_OUT = {
    _QUICK: re.compile(r"^pytestmark = (\[\s*)?pytest\.mark\.(slow|full)\b", re.MULTILINE),
    _USUAL: re.compile(r"^pytestmark = (\[\s*)?pytest\.mark\.full\b", re.MULTILINE),
}


class _Plain(logging.Handler):
    """FastMCP's own log without Rich, which takes longer to lay out a line than FastMCP to answer a call."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write to what is standard error just now."""
        sys.stderr.write(f"{self.format(record)}\n")


def _chosen(config: pytest.Config) -> str:
    return str(config.getoption("markexpr"))


def pytest_configure(config: pytest.Config) -> None:
    """Choose how many examples each law gets; this runs before a test file asks how many."""
    quick = _chosen(config) == _QUICK or "FAST" in os.environ
    settings.load_profile("quick" if quick else "usual" if _chosen(config) == _USUAL else "all")
    logging.getLogger("fastmcp").handlers[:] = [_Plain()]
    read_as_in_sdk_2()


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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave rows that a test does not name to the slower parts; what only the whole of the tests runs is slow as well."""
    for item in items:
        _leave_out(item, "quick_rows", pytest.mark.slow)
        if item.get_closest_marker("slow"):
            _leave_out(item, "usual_rows", pytest.mark.full)
        if item.get_closest_marker("full"):
            item.add_marker(pytest.mark.slow)
    if not any("::" in each for each in config.args):
        _refuse_unknown_rows(items)


def _row(item: pytest.Item) -> tuple[str, str]:
    """The name of a test and of its row."""
    test, _, row = item.nodeid.partition("[")
    return test, row.removesuffix("]")


def _leave_out(item: pytest.Item, mark: str, left_out: pytest.MarkDecorator) -> None:
    named = item.get_closest_marker(mark)
    if named and _row(item)[1] not in named.args:
        item.add_marker(left_out)


def _refuse_unknown_rows(items: list[pytest.Item]) -> None:
    named = {
        (_row(item)[0], name)
        for item in items
        for mark in ("quick_rows", "usual_rows")
        for each in item.iter_markers(mark)
        for name in each.args
    }
    if unknown := named - {_row(item) for item in items}:
        message = f"quick_rows or usual_rows names what is no row: {sorted(unknown)}"
        raise pytest.UsageError(message)


def pytest_report_header() -> str | None:
    """Print what FastMCP 3 cannot even import."""
    return f"FastMCP 3: not collected, for the proxy and SDK 2: {' '.join(NOT_COLLECTED)}" if IS_3 else None


collect_ignore = NOT_COLLECTED if IS_3 else []


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Nobody waits for the imports of files that nothing is run of."""
    left_out = _LEFT_OUT.get(_chosen(config))
    if left_out is None or collection_path.suffix != ".py":
        return None
    return bool(left_out.search(collection_path.read_text(encoding="utf-8"))) or None


@pytest.fixture
def events() -> Iterator[Log]:
    """The log of an application that configured structlog to write down everything."""
    with application_log() as log:
        yield log


@pytest.fixture(autouse=IS_3)
def _lax_servers_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    skip_strict_servers(monkeypatch)
