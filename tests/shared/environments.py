"""Environments for hosts that need other packages, made once and kept with those of the benchmarks."""

from __future__ import annotations

import pytest
from installing import installing_in

from benchmarks.environments import FOLDER, NotInstalledError, interpreter


def environment(*packages: str) -> str:
    """Return the Python of an environment with these packages. Skip with the reason if it cannot be made."""
    FOLDER.mkdir(exist_ok=True)
    with installing_in(FOLDER):
        try:
            return interpreter(packages)
        except NotInstalledError as error:
            pytest.skip(f"{packages[0]} cannot be installed; is there a network? {error}")
