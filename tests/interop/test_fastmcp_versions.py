"""Make smoke calls on every supported FastMCP version, each in its own environment."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from installing import installing_in, run_installer

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SMOKE = Path(__file__).parent / "fastmcp_smoke"
VERSIONS = ["==3.4.3", "==3.4.*", "==4.0.*", "==4.1.*", ">=4.1,<5"]

EVENTS = ["call_repaired"] * 6 + ["call_rejected"] * 5
ON_3, ON_4 = ["hook_unavailable"], ["call_repaired"]
"""What a strict server logs for a list in a text, which the SDK of FastMCP 3 refuses itself."""


def _python(version: str, *, group: str | None = None) -> str:
    """Return the Python of an environment with this FastMCP. Skip if it cannot be installed."""
    folder = SMOKE / ".venvs"
    folder.mkdir(exist_ok=True)
    environment = folder / "-".join(filter(None, [version.strip("=<>").replace(",", ""), group]))
    noted = environment / ".installed"
    python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    wanted = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    with installing_in(folder):
        if not noted.exists() or noted.read_text(encoding="utf-8") != wanted:
            run_installer([sys.executable, "-m", "venv", "--clear", str(environment)], "venv", SMOKE)
            quiet = ["--quiet", "--disable-pip-version-check"]
            packages = ["--editable", str(ROOT), f"fastmcp{version}"]
            if version == VERSIONS[0]:
                packages.append(_oldest("ruamel.yaml", wanted))
            if group is not None:
                run_installer([str(python), "-m", "pip", "install", *quiet, "pip>=25.1"], "pip", SMOKE)
                packages += ["--group", f"{ROOT / 'pyproject.toml'}:{group}"]
            run_installer(
                [str(python), "-m", "pip", "install", *quiet, *packages], f"fastmcp{version}", SMOKE
            )
            noted.write_text(wanted, encoding="utf-8")
    return str(python)


def _oldest(package: str, project: str) -> str:
    """Return the requirement of the oldest version of a package that the project allows."""
    (requirement,) = re.findall(rf'"({re.escape(package)}>=[\d.]+)"', project)
    return requirement.replace(">=", "==")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_smoke_set_of_calls(version):
    """Valid calls run, the main repairs are made, others are refused and logged, and commands work."""
    done = subprocess.run(  # noqa: S603
        [_python(version), "-W", "error", str(SMOKE / "smoke.py")],
        check=True,
        capture_output=True,
        cwd=SMOKE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=600,
    )
    reported = json.loads(done.stdout)
    assert reported["wrong"] == {}
    logged = ON_3 if reported["version"].startswith("3.") else ON_4
    events = {"middleware": EVENTS, "decorator": ["call_repaired", "call_rejected"], "strict": logged}
    assert reported["events"] == events
    assert reported["commands"] == dict.fromkeys(reported["commands"], 0)


@pytest.mark.parametrize(
    ("version", "tests"),
    [
        pytest.param(VERSIONS[0], ["-m", "not slow"], id="usual tests"),
        pytest.param(VERSIONS[1], ["-m", "", "tests/docs", "tests/devtools/check"], id="docs"),
    ],
)
def test_tests_on_fastmcp_3(version, tests):
    """All usual tests pass on the oldest FastMCP 3 and all code in the docs on the newest, or are skipped with a reason."""
    python = _python(version, group="dev")
    done = subprocess.run(  # noqa: S603
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=1200,
    )
    assert done.returncode == 0, done.stdout[-5000:]
