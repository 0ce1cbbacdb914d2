"""Run a file of tests in a separate environment, and read the outcomes that it prints."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from environments import environment

ROOT = Path(__file__).parents[2]


def names_in(file: Path) -> list[str]:
    """Return the names of the tests in a file."""
    return re.findall(r"^(?:async )?def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)


def outcomes_in(file: Path, *packages: str) -> dict[str, Any]:
    """Run a file with these packages. Return the failure of each test, or None."""
    done = subprocess.run(  # noqa: S603 - our own file
        [environment(*packages), "-W", "ignore", str(file)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    reported: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return reported
