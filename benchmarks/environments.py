"""Create a virtual environment for each host or contender that needs one, once, under ``.benchmarks``."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".benchmarks"
_READY = ".ready"


class NotInstalledError(Exception):
    """The packages cannot be installed; gives the reason in one line."""


def interpreter(requirements: tuple[str, ...]) -> str:
    """Return the Python of an environment with these packages; create it if it is missing.

    Raises:
        NotInstalledError: If it cannot be created.
    """
    if not requirements:
        return sys.executable
    name = re.split(r"\W", requirements[0])[0]
    known = hashlib.sha256("\n".join((sys.version, *requirements)).encode()).hexdigest()[:12]
    folder = FOLDER / f"{name}-{known}"
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not (folder / _READY).exists():
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        _install(python, requirements)
        (folder / _READY).touch()
    return str(python)


def _install(python: Path, requirements: tuple[str, ...]) -> None:
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)  # noqa: S603 - pinned by the callers
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise NotInstalledError(said[-1] if said else f"pip ended with {done.returncode}")
