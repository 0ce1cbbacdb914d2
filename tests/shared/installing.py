"""Install packages for tests, once for all test processes."""

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
    """Let only one process at a time install into a folder. The others find it done."""
    with FileLock(folder / ".installing.lock"):
        yield


def run_installer(command: list[str], what: str, folder: Path) -> None:
    """Run npm or pip in a folder. Skip the test with the reason if that fails."""
    try:
        done = subprocess.run(  # noqa: S603 - npm and pip
            command, cwd=folder, capture_output=True, encoding="utf-8", timeout=_TIME, check=False
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"{what} took longer than {_TIME} s; is there a network?")
    if done.returncode:
        pytest.skip(f"{what} failed; is there a network? {done.stderr.strip()[-300:]}")
