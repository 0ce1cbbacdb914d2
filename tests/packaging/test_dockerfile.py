"""Test the Dockerfile as far as possible without Docker."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from fastmcp import FastMCP
from wire import serving

from mcp_lenient import create_lenient_proxy
from mcp_lenient.cli import app, run

ROOT = Path(__file__).parents[2]
FILE = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
SOURCES = [
    source
    for names in re.findall(r"^COPY (?!--from)(.+)$", FILE, re.MULTILINE)
    for source in names.split()[:-1]
]


def _words(instruction: str) -> list[str]:
    """Return the words of an instruction in JSON form."""
    (found,) = re.findall(rf"^{instruction}.*?(\[.*\])$", FILE, re.MULTILINE)
    return json.loads(found)


def test_copied_files_exist():
    """Each file and folder that is copied exists in the project."""
    assert SOURCES
    assert [source for source in SOURCES if not (ROOT / source).exists()] == []


def test_the_entrypoint_accepts_its_options(capsys):
    """The entrypoint runs a command of the package with existing options, and asks for a server."""
    program, *arguments = _words("ENTRYPOINT")
    assert f'{program} = "mcp_lenient.cli:main"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert arguments[0] in {name for command in app for name in app[command].name}
    assert run(arguments) == 2
    assert "no server given" in capsys.readouterr().err


@pytest.mark.parametrize("is_there", [True, False])
def test_the_health_check_detects_failure(is_there):
    """The health check exits with 0 only while the server behind the proxy answers."""
    with serving(FastMCP("behind")) as behind:
        front = create_lenient_proxy(behind if is_there else "http://127.0.0.1:1/mcp")
        with serving(front) as url:
            _, option, code = _words("HEALTHCHECK")
            code = code.replace("http://127.0.0.1:8000", url.removesuffix("/mcp"))
            done = subprocess.run([sys.executable, option, code], stderr=subprocess.DEVNULL, check=False)  # noqa: S603
    assert (done.returncode == 0) is is_there


@pytest.mark.parametrize("page", ["Dockerfile", "docs/how-to/deploy.md"])
def test_a_linter_accepts_it(page):
    """The linter hadolint finds nothing, in the repository's file nor in the one to copy from the page."""
    program = Path(sysconfig.get_path("scripts")) / "hadolint"
    if not program.exists():
        pytest.skip("hadolint is only installed on Linux on x86_64")
    written = (ROOT / page).read_text(encoding="utf-8")
    (written,) = re.findall(r"^```dockerfile\n(.*?)^```", written, re.MULTILINE | re.DOTALL) or [written]
    done = subprocess.run([program, "-"], input=written, capture_output=True, text=True, check=False)  # noqa: S603
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.slow
def test_copied_files_build_the_package(tmp_path):
    """The package can be built from the copied files alone."""
    source = tmp_path / "source"
    for name in SOURCES:
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, target)
    pip = [sys.executable, *"-m pip wheel --no-deps --wheel-dir".split()]
    done = subprocess.run([*pip, tmp_path / "out", source], capture_output=True, text=True, check=False)  # noqa: S603 - our own
    assert done.returncode == 0, done.stderr[-2000:]
    assert [wheel.suffix for wheel in (tmp_path / "out").iterdir()] == [".whl"]
