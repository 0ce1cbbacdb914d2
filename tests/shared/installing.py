"""What tests install beside themselves, installed once however many processes run tests."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from filelock import FileLock

_TIME: Final = 400


@contextmanager
def installing_in(folder: Path) -> Iterator[None]:
    """Only one process at a time installs into a folder; the others find it done."""
    with FileLock(folder / ".installing.lock"):
        yield


def run_installer(command: list[str], what: str, folder: Path) -> None:
    """Run npm or pip in a folder; skips the test, with the reason, where that fails."""
    try:
        done = subprocess.run(  # noqa: S603 - npm and pip
            command, cwd=folder, capture_output=True, encoding="utf-8", timeout=_TIME, check=False
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"{what} took longer than {_TIME} s; is there a network?")
    if done.returncode:
        pytest.skip(f"{what} failed; is there a network? {done.stderr.strip()[-300:]}")
