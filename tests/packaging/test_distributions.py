"""Test the archives to publish, and a fresh environment with only the wheel."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from email import message_from_bytes
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

import pytest
from engine_alone import ENGINE
from readme_renderer.markdown import render

ROOT = Path(__file__).parents[2]
VERSION = re.search(
    r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE
)[1]


def run(*command, cwd):
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True, timeout=600)  # noqa: S603


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """Build the source archive, and the wheel from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT), cwd=folder)
    return folder


@pytest.fixture(scope="module")
def wheel(archives):
    (file,) = archives.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def metadata(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return message_from_bytes(archive.read(f"mcp_lenient-{VERSION}.dist-info/METADATA"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Return the folder of programs of an environment with the wheel and its dependencies."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if sys.platform == "win32" else "bin")
    run(str(programs / "python"), "-m", "pip", "install", "--quiet", str(wheel), cwd=folder)
    return programs


@pytest.fixture(scope="module")
def engine_alone(wheel, metadata, tmp_path_factory):
    """Return the Python of an environment with the wheel and only the package that the engine needs."""
    folder = tmp_path_factory.mktemp("engine")
    venv.create(folder, with_pip=True)
    python = str(folder / ("Scripts" if sys.platform == "win32" else "bin") / "python")
    needed = [each for each in metadata.get_all("Requires-Dist") if each.startswith("jsonschema-rs")]
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", str(wheel), *needed, cwd=folder)
    return python


@pytest.mark.slow
def test_both_archives_pass_twine(archives):
    """Twine accepts both archives and their description."""
    files = sorted(map(str, archives.iterdir()))
    assert len(files) == 2
    run(sys.executable, "-m", "twine", "check", "--strict", *files, cwd=archives)


@pytest.mark.slow
def test_the_wheel_has_types_license_and_demo(wheel, metadata):
    """The wheel has the marker of typed packages, the license, the description and the demo, but no tests."""
    assert metadata.get_payload() == description()
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {
        "mcp_lenient/py.typed",
        "mcp_lenient/examples/chat.py",
        "mcp_lenient/examples/context_store.py",
        "mcp_lenient/examples/demo.py",
        "mcp_lenient/locale/zh/LC_MESSAGES/mcp_lenient.mo",
    } <= names
    assert f"mcp_lenient-{VERSION}.dist-info/licenses/LICENSE" in names
    assert {name.split("/")[0] for name in names} == {"mcp_lenient", f"mcp_lenient-{VERSION}.dist-info"}


@pytest.mark.slow
def test_the_source_archive_has_what_a_test_run_needs(archives):
    """The source archive has the files to test and document the library."""
    (file,) = archives.glob("*.tar.gz")
    with tarfile.open(file) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"Makefile", "mkdocs.yml", "CONTRIBUTING.md", "tests/conftest.py", "docs/index.md"} <= names


def description():
    """Return the README as the build makes the description of it."""
    hooks = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["metadata"]["hooks"]
    text = (ROOT / "README.md").read_text("utf-8")
    for each in hooks["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(each["pattern"], each["replacement"], text)
    return text


def test_the_description_renders_and_has_only_absolute_links():
    """The README renders as a package index would show it, without relative links or pictures."""
    shown = render(description())
    assert shown is not None
    assert ">mcp-lenient<" in shown
    assert re.findall(r'(?:href|src)="(?!https?:|#)([^"]*)"', shown) == []


@pytest.mark.slow
def test_the_wheel_can_be_imported_with_all_public_names(installed, tmp_path):
    """In a fresh environment every public name can be imported."""
    program = "import mcp_lenient as m; print(all(hasattr(m, name) for name in m.__all__))"
    assert run(str(installed / "python"), "-W", "error", "-c", program, cwd=tmp_path).stdout == "True\n"


@pytest.mark.slow
def test_the_engine_works_in_an_environment_without_a_framework(engine_alone, tmp_path):
    """Without FastMCP, the SDK and Pydantic, the engine repairs, refuses and parses calls."""
    absent = (
        "import importlib.util as u; print([n for n in ('fastmcp', 'mcp', 'pydantic') if u.find_spec(n)])"
    )
    assert run(engine_alone, "-c", absent, cwd=tmp_path).stdout == "[]\n"
    assert run(engine_alone, "-W", "error", "-c", ENGINE, cwd=tmp_path).stdout == ""


@pytest.mark.slow
def test_the_command_line_prints_its_version(installed, tmp_path):
    """The command that the wheel installs runs and prints its version."""
    assert run(str(installed / "mcp-lenient"), "--version", cwd=tmp_path).stdout.strip() == VERSION


@pytest.mark.slow
def test_the_demo_runs_from_the_wheel(installed, tmp_path):
    """The demo starts its servers, checks their answers and exits successfully."""
    shown = run(str(installed / "mcp-lenient"), "demo", cwd=tmp_path).stdout
    assert "more run after repair" in " ".join(shown.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("extra", "fastmcp"),
    [("langchain", "4."), ("langchain-mcp-adapters", "3.4."), ("sdk1", "3.4.")],
    ids=lambda each: each,
)
def test_an_extra_installs_a_compatible_fastmcp(extra, fastmcp, wheel):
    """An extra for the official SDK 1 installs FastMCP 3, which is built on it."""
    pip = [sys.executable, *"-m pip install --dry-run --ignore-installed --quiet --report -".split()]
    reported = json.loads(run(*pip, f"{wheel}[{extra}]", cwd=ROOT).stdout)
    versions = {each["metadata"]["name"]: each["metadata"]["version"] for each in reported["install"]}
    assert versions["fastmcp"].startswith(fastmcp)
