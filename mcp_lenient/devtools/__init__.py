"""Tools for authors and operators: report, check, explain, demo."""

from __future__ import annotations

import os


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
