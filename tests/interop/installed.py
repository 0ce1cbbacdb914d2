"""What the clients need, installed once beside these tests, or a skip that says why it is not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from installing import installing_in

HERE: Final = Path(__file__).parent
_MODULES: Final = HERE / "node_modules"
_VENV: Final = HERE / ".venv"
_TIME: Final = 400


def node() -> str:
    """Node, with the packages of the lock file; skips where they cannot be had."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("Node and npm are needed to run clients from npm")
    with installing_in(HERE):
        if not _is_ready(_MODULES, HERE / "package-lock.json"):
            _run([npm, "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"], "npm ci")
            _note(_MODULES, HERE / "package-lock.json")
    return node


def langchain_python() -> str:
    """The interpreter of a virtual environment with LangChain's adapters; skips where it cannot be had."""
    python = _VENV / ("Scripts" if os.name == "nt" else "bin") / "python"
    wanted = HERE / "requirements.txt"
    with installing_in(HERE):
        if not _is_ready(_VENV, wanted):
            _run([sys.executable, "-m", "venv", "--clear", str(_VENV)], "venv")
            quiet = ["--quiet", "--disable-pip-version-check"]
            _run([str(python), "-m", "pip", "install", *quiet, "-r", str(wanted)], "pip install")
            _note(_VENV, wanted)
    return str(python)


def _is_ready(folder: Path, wanted: Path) -> bool:
    noted = folder / ".installed"
    return noted.exists() and noted.read_bytes() == wanted.read_bytes()


def _note(folder: Path, wanted: Path) -> None:
    (folder / ".installed").write_bytes(wanted.read_bytes())


def _run(command: list[str], what: str) -> None:
    try:
        done = subprocess.run(  # noqa: S603 - npm and pip
            command, cwd=HERE, capture_output=True, encoding="utf-8", timeout=_TIME, check=False
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"{what} took longer than {_TIME} s; is there a network?")
    if done.returncode:
        pytest.skip(f"{what} failed; is there a network? {done.stderr.strip()[-300:]}")
