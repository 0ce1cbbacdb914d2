"""Test the commands that the README names, in the environment that a reader made by it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import venv
from pathlib import Path

import pytest
from installing import run_installer

ROOT = Path(__file__).parents[2]
LEFT_OUT = shutil.ignore_patterns(".*", "node_modules", "__pycache__", "site", "dist")
README = (ROOT / "README.md").read_text(encoding="utf-8")

pytestmark = [
    pytest.mark.skipif(shutil.which("make") is None or os.name == "nt", reason="needs make and a Unix shell"),
]


OWN = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}


def _make(folder, *words):
    done = subprocess.run(  # noqa: S603
        ["make", *words],  # noqa: S607
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        env=OWN,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_readme_names_the_two_commands():
    """A reader finds the command that shows the library and the one that tests it; the Makefile has both."""
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"`make ([\w-]+)`", README))
    assert {"demo", "test"} <= named <= targets


@pytest.mark.slow
def test_the_environment_of_a_reader_is_kept(tmp_path):
    """`make` adds to a .venv with the package, runs the code of this folder, and checks no file of the reader's."""
    folder = tmp_path / "clone"
    shutil.copytree(ROOT, folder, ignore=LEFT_OUT)
    environment = folder / ".venv"
    python = environment / "bin" / "python"
    venv.create(environment, with_pip=True)
    run_installer([str(python), "-m", "pip", "install", "--quiet", str(folder)], "pip", folder)
    (environment / "kept.txt").write_text("a reader's", encoding="utf-8")
    assert re.search(r"\d+ calls: \d+ run either way", _make(folder, "demo"))
    blocks = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    (folder / "first.py").write_text("\n".join(blocks), encoding="utf-8")
    _make(folder, "lint")
    assert (environment / "kept.txt").read_text(encoding="utf-8") == "a reader's"
    where = subprocess.run(  # noqa: S603
        [python, "-c", "import mcp_lenient, pytest; print(mcp_lenient.__file__)"],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=OWN,
    ).stdout
    assert Path(where.strip()) == folder / "mcp_lenient" / "__init__.py"
