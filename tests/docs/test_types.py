"""Check the types of the code in the documents, as a reader's editor does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from fastmcp_versions import NOT_THERE, skip_on_3
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

ROOT = Path(__file__).parents[2]
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Write the code of each page to a module, in which a line has the number that it has on the page."""
    skip_on_3(NOT_THERE)
    folder = tmp_path_factory.mktemp("pages")
    for file in DOCUMENTS:
        code = ""
        for example in Sybil(parsers=[PythonCodeBlockParser()]).parse(file).examples():
            code += "\n" * (example.line - code.count("\n")) + example.parsed
        if code:
            name = "_".join(file.relative_to(ROOT).with_suffix("").parts).replace("-", "_")
            (folder / f"{name}.py").write_text(code, encoding="utf-8")
    return folder


def _check(module, folder, *options):
    return subprocess.run(  # noqa: S603
        [sys.executable, "-m", module, *options], cwd=folder, check=False, capture_output=True, text=True
    )


def test_mypy_accepts_every_page(pages):
    """The code of each page passes mypy's strict mode; a page may define a function again to show its next form."""
    (pages / "mypy.ini").write_text(f"[mypy]\nmypy_path = {ROOT}:{ROOT / 'examples'}\n", encoding="utf-8")
    done = _check("mypy", pages, "--strict", "--allow-redefinition", "--disable-error-code=no-redef", ".")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"in {len(list(pages.glob('*.py')))} source files" in done.stdout


def test_pyright_accepts_every_page(pages):
    """The code of each page passes pyright; a page may define a function again to show its next form."""
    pytest.importorskip("pyright", reason="pyright is not installed")
    settings = {
        "include": ["."],
        "extraPaths": [str(ROOT), str(ROOT / "examples")],
        "reportRedeclaration": False,
    }
    (pages / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    done = _check("pyright", pages, "--pythonpath", sys.executable, "--outputjson")
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    errors = found["generalDiagnostics"]
    assert [(each["file"], each["range"]["start"]["line"] + 1, each["message"]) for each in errors] == []
    assert found["summary"]["filesAnalyzed"] == len(list(pages.glob("*.py")))
