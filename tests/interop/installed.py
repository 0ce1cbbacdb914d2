"""Install what the clients need, once, in the folder of these tests. Skip with a reason if that fails."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Final

import pytest
from installing import installing_in, run_installer

HERE: Final = Path(__file__).parent
_MODULES: Final = HERE / "node_modules"
_VENV: Final = HERE / ".venv"


def node() -> str:
    """Return Node, with the packages of the lock file. Skip if they cannot be installed."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("Node and npm are needed to run clients from npm")
    with installing_in(HERE):
        if not _is_ready(_MODULES, HERE / "package-lock.json"):
            run_installer(
                [npm, "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"], "npm ci", HERE
            )
            _note(_MODULES, HERE / "package-lock.json")
    return node


def langchain_python() -> str:
    """Return the Python of a virtual environment with LangChain's adapters. Skip if it cannot be made."""
    python = _VENV / ("Scripts" if os.name == "nt" else "bin") / "python"
    wanted = HERE / "requirements.txt"
    with installing_in(HERE):
        if not _is_ready(_VENV, wanted):
            run_installer([sys.executable, "-m", "venv", "--clear", str(_VENV)], "venv", HERE)
            quiet = ["--quiet", "--disable-pip-version-check"]
            run_installer(
                [str(python), "-m", "pip", "install", *quiet, "-r", str(wanted)], "pip install", HERE
            )
            _note(_VENV, wanted)
    return str(python)


def _is_ready(folder: Path, wanted: Path) -> bool:
    noted = folder / ".installed"
    return noted.exists() and noted.read_bytes() == wanted.read_bytes()


def _note(folder: Path, wanted: Path) -> None:
    (folder / ".installed").write_bytes(wanted.read_bytes())
