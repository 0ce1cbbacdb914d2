"""Write the outcome of each test as a line of JSON: a plugin of pytest, of the process that others report to."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from benchmarks.suites.inside import older_docket

older_docket.accept()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Write one phase of a test; the last line of a phase counts, since a test may be tried again."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    with Path(os.environ["SUITES_OUTCOMES"]).open("a", encoding="utf-8") as file:
        print(json.dumps([report.nodeid, report.when, report.outcome]), file=file)
