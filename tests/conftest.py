"""Select which tests run. ``shared/worker.py`` sets up the test processes."""

from __future__ import annotations

import gc
import logging
import re
import signal
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest

_USUAL = "not slow"
_SLOW = re.compile(r"^pytestmark = (\[\s*)?pytest\.mark\.slow\b", re.MULTILINE)


def _is_usual(config: pytest.Config) -> bool:
    return bool(config.getoption("markexpr") == _USUAL)


def pytest_configure(config: pytest.Config) -> None:
    """Set the number of Hypothesis examples before test files read it."""
    if _only_hands_out(config):
        return
    worker = import_module("worker")
    worker.prepare("usual" if _is_usual(config) else "all")
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


_IS_3 = version("fastmcp").startswith("3.")
_NOT_COLLECTED = (
    "adapters/fastmcp/proxy adapters/mcp_sdk attack/test_corpus.py telemetry/test_metrics.py "
    "examples/test_hosts.py conformance/test_differences.py examples/test_agent_platform.py examples/test_agent_platform_tools.py "
    "examples/test_chat_reading.py examples/test_smart_home.py examples/test_transcripts.py examples/test_models.py examples/test_chat.py "
    "examples/test_copies.py examples/test_pages.py examples/test_langchain_agent.py interop/test_clients.py "
    "interop/test_contextforge.py interop/test_oauth.py interop/test_hosts.py packaging/test_dockerfile.py"
).split()
"""Files and folders not imported on FastMCP 3: the proxy's tests and programs for SDK 2."""

collect_ignore = _NOT_COLLECTED if _IS_3 else []


def pytest_report_header() -> str | None:
    """Print the files that are not collected on FastMCP 3."""
    return f"FastMCP 3: not collected, for the proxy and SDK 2: {' '.join(_NOT_COLLECTED)}" if _IS_3 else None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Ignore files without a test to run, which saves the time to import them."""
    if not _is_usual(config) or collection_path.suffix != ".py":
        return None
    return bool(_SLOW.search(collection_path.read_text(encoding="utf-8"))) or None


@pytest.fixture
def ctrl_c():
    """Let SIGINT interrupt a test, also where the tests were started in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def without_lines_of_fastmcp() -> Iterator[None]:
    """Leave out what FastMCP logs itself, such as its line about invalid arguments."""
    logger = logging.getLogger("fastmcp")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    yield
    logger.setLevel(level)
