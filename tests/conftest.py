"""Select which tests run. ``shared/worker.py`` sets up the test processes."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest

_QUICK = "not slow"
_USUAL = "not full"
_LEFT_OUT = {
    _QUICK: re.compile(r"^pytestmark = (\[\s*)?pytest\.mark\.(slow|full)\b", re.MULTILINE),
    _USUAL: re.compile(r"^pytestmark = (\[\s*)?pytest\.mark\.full\b", re.MULTILINE),
}


def _chosen(config: pytest.Config) -> str:
    return str(config.getoption("markexpr"))


def pytest_configure(config: pytest.Config) -> None:
    """Set the number of Hypothesis examples before test files read it."""
    if _only_hands_out(config):
        return
    worker = import_module("worker")
    quick = _chosen(config) == _QUICK or "FAST" in os.environ
    worker.prepare("quick" if quick else "usual" if _chosen(config) == _USUAL else "all")
    config.pluginmanager.register(worker)


def _only_hands_out(config: pytest.Config) -> bool:
    """Return whether this is xdist's controller, which runs no tests and need not import FastMCP."""
    return (
        bool(config.getoption("tx", None))
        and config.getoption("dist") != "no"
        and not hasattr(config, "workerinput")
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Freeze what collection created, so that the garbage collector does not scan it again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000)  # a test's events and futures are freed without it
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the rows that a mark does not list as slow or full. A full test is also slow."""
    for item in items:
        _leave_out(item, "quick_rows", pytest.mark.slow)
        if item.get_closest_marker("slow"):
            _leave_out(item, "usual_rows", pytest.mark.full)
        if item.get_closest_marker("full"):
            item.add_marker(pytest.mark.slow)
    if not any("::" in each for each in config.args):
        _refuse_unknown_rows(items)


def _row(item: pytest.Item) -> tuple[str, str]:
    """Return the names of the test and of its row."""
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
        message = f"quick_rows or usual_rows names unknown rows: {sorted(unknown)}"
        raise pytest.UsageError(message)


_IS_3 = version("fastmcp").startswith("3.")
_NOT_COLLECTED = (
    "adapters/fastmcp/proxy adapters/mcp_sdk attack/test_corpus.py telemetry/test_metrics.py "
    "examples/test_hosts.py conformance/test_differences.py examples/test_agent_platform.py examples/test_agent_platform_tools.py "
    "examples/test_smart_home.py examples/test_transcripts.py examples/test_models.py examples/test_chat.py "
    "examples/test_copies.py examples/test_pages.py examples/test_langchain_agent.py interop/test_clients.py "
    "interop/test_contextforge.py packaging/test_dockerfile.py"
).split()
"""Files and folders not imported on FastMCP 3: the proxy's tests and programs for SDK 2."""

collect_ignore = _NOT_COLLECTED if _IS_3 else []


def pytest_report_header() -> str | None:
    """Print the files that are not collected on FastMCP 3."""
    return f"FastMCP 3: not collected, for the proxy and SDK 2: {' '.join(_NOT_COLLECTED)}" if _IS_3 else None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Ignore files without a test to run, which saves the time to import them."""
    left_out = _LEFT_OUT.get(_chosen(config))
    if left_out is None or collection_path.suffix != ".py":
        return None
    return bool(left_out.search(collection_path.read_text(encoding="utf-8"))) or None
