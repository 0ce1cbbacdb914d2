"""What tests install beside themselves, installed once however many processes run tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock


@contextmanager
def installing_in(folder: Path) -> Iterator[None]:
    """Only one process at a time installs into a folder; the others find it done."""
    with FileLock(folder / ".installing.lock"):
        yield
