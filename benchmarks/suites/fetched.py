"""Fetch others' suites from the package indices, once, into ``.benchmarks/suites``."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from contextlib import suppress
from importlib.metadata import requires, version
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.environments import FOLDER, NotInstalledError, interpreter

_SUITES = FOLDER / "suites"
_TIME = 600
_NODE = "node@22"
"""The runner needs this Node, which is a package too."""
_EXTRAS = "anthropic,apps,azure,code-mode,gemini,openai"
_TEST_PACKAGES = tuple(
    "dirty-equals fastapi httpx hypothesis inline-snapshot[dirty-equals] opentelemetry-exporter-otlp-proto-grpc "
    "opentelemetry-sdk psutil pydocket pyperclip pytest pytest-asyncio pytest-env pytest-retry pytest-timeout "
    "pytest-xdist".split()
)
"""Of FastMCP's development group what the tests of its servers import."""


def source(package: str) -> Path:
    """Return the unpacked source distribution of the installed version of a package.

    Raises:
        NotInstalledError: If it cannot be downloaded.
    """
    folder = _SUITES / f"{package}-{version(package)}"
    if not folder.exists():
        _SUITES.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=_SUITES) as unpacked:
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", package]
            _run([*pip, "--dest", unpacked, f"{package}=={version(package)}"])
            (archive,) = Path(unpacked).glob("*.tar.gz")
            with tarfile.open(archive) as files:
                files.extractall(unpacked, filter="data")
            archive.unlink()
            (content,) = Path(unpacked).iterdir()
            shutil.move(content, folder)
    return folder


def unbuilt_source(package: str, pinned: str) -> Path:
    """Return the unpacked source distribution of a package that cannot be built here.

    Raises:
        NotInstalledError: If it cannot be downloaded.
    """
    folder = _SUITES / f"{package}-{pinned}"
    if not folder.exists():
        _SUITES.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=_SUITES) as unpacked:
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
            # pip asks the build for the metadata, which fails without what the build needs, and leaves what it has unpacked.
            keep = ["--no-build-isolation", "--no-clean", "--dest", unpacked, f"{package}=={pinned}"]
            with suppress(NotInstalledError):
                _run([*pip, *keep], {**os.environ, "TMPDIR": unpacked})
            content = next(Path(unpacked).glob("pip-*/*/PKG-INFO"), None)
            if content is None:
                raise NotInstalledError(f"{package}=={pinned} cannot be downloaded")
            shutil.move(content.parent, folder)
    return folder


def fastmcp_python() -> str:
    """Return the Python of an environment for FastMCP's tests, at the installed version of FastMCP.

    Raises:
        NotInstalledError: If it cannot be made.
    """
    ours = tuple(needed for needed in requires("mcp-lenient") or () if "extra ==" not in needed)
    return interpreter((f"fastmcp[{_EXTRAS}]=={version('fastmcp')}", *_TEST_PACKAGES, *ours))


def conformance_runner(pinned_by: Path) -> list[str]:
    """Return the command of the conformance runner, in the version that FastMCP's own test pins.

    Raises:
        NotInstalledError: If it cannot be installed.
    """
    pin = re.search(r'^CONFORMANCE_VERSION = "(.+)"$', pinned_by.read_text("utf-8"), re.MULTILINE)
    if pin is None:
        raise NotInstalledError(f"{pinned_by.name} names no version of the conformance runner")
    folder = _SUITES / f"conformance-{pin[1]}"
    commands = folder / "node_modules" / ".bin"
    if not (commands / "conformance").exists():
        if shutil.which("npm") is None:
            raise NotInstalledError("there is no npm")
        folder.mkdir(parents=True, exist_ok=True)
        npm = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(folder)]
        _run([*npm, _NODE, f"@modelcontextprotocol/conformance@{pin[1]}"])
    return [str(commands / "node"), str(commands / "conformance")]


def _run(command: list[str], environment: dict[str, str] | None = None) -> None:
    try:
        done = subprocess.run(  # noqa: S603 - pip and npm
            command, capture_output=True, text=True, timeout=_TIME, check=False, env=environment
        )
    except subprocess.TimeoutExpired:
        raise NotInstalledError(f"{command[-1]} took longer than {_TIME} s") from None
    if done.returncode:
        reasons = [line for line in done.stderr.splitlines() if line.startswith(("ERROR", "npm error"))]
        raise NotInstalledError(reasons[-1] if reasons else f"{command[-1]}: exit code {done.returncode}")
