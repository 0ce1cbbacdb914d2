"""Run FastMCP's own tests, without and with the middleware in every server."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.environments import ROOT
from benchmarks.suites.comparison import Outcomes
from benchmarks.suites.fetched import fastmcp_python, source

_FOLDERS = tuple(f"tests/{name}" for name in ("server", "client", "tools", "prompts", "resources"))
_TIME = 4 * 3_600
_NOT_RUN = ("client_process", "subprocess_heavy", "integration", "conformance")
"""Marks of tests whose servers are other processes, on the network, or the next suite's."""


def fastmcp_outcomes(*, lenient: bool, tests: Iterable[str] = ()) -> Outcomes:
    """Return the outcome of each test; of some tests, one after the other, if they are named.

    Raises:
        NotInstalledError: If FastMCP's tests or what they need cannot be installed.
    """
    folder, python, named = source("fastmcp"), fastmcp_python(), sorted(tests)
    with TemporaryDirectory() as scratch:
        written, listed = Path(scratch, "outcomes.jsonl"), Path(scratch, "tests.txt")
        listed.write_text("\n".join(named), encoding="utf-8")
        chosen = [f"@{listed}"] if named else [*_FOLDERS, "--numprocesses", "auto"]
        plugins = ["recorded_outcomes", *(["lenient_everywhere"] if lenient else [])]
        command = [python, "-m", "pytest", *chosen, "--quiet", "--timeout", "60", "-p", "no:cacheprovider"]
        command += ["--ignore-glob", "*performance*", "-m", " and ".join(f"not {mark}" for mark in _NOT_RUN)]
        command += [part for name in plugins for part in ("-p", f"benchmarks.suites.inside.{name}")]
        done = subprocess.run(  # noqa: S603 - our own environment
            command,
            cwd=folder,
            env=environment(python, folder) | {"SUITES_OUTCOMES": str(written)},
            capture_output=True,
            text=True,
            timeout=_TIME,
            check=False,
        )
        if not written.exists():
            raise RuntimeError(f"pytest ran no test: {done.stdout[-2_000:]}{done.stderr[-2_000:]}")
        return _read(written)


def environment(python: str, folder: Path) -> dict[str, str]:
    """Return the variables of a process that imports this checkout and FastMCP's tests, and finds their commands."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("MCP_LENIENT")}
    packages = (folder, folder / "fastmcp_slim", folder / "fastmcp_tasks", ROOT)
    path = os.pathsep.join((str(Path(python).parent), inherited.get("PATH", "")))
    return inherited | {"PYTHONPATH": os.pathsep.join(map(str, packages)), "PATH": path}


def _read(written: Path) -> Outcomes:
    phases: dict[str, dict[str, str]] = {}
    for line in written.read_text("utf-8").splitlines():
        test, phase, outcome = json.loads(line)
        phases.setdefault(test, {})[phase] = outcome
    return {test: _worst(outcomes.values()) for test, outcomes in phases.items()}


def _worst(outcomes: Iterable[str]) -> str:
    return next((worst for worst in ("failed", "skipped") if worst in {*outcomes}), "passed")
