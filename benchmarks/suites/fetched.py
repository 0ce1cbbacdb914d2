"""Fetch others' suites from the package indices, once, into ``.benchmarks/suites``."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
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
_DOWNLOAD = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary")


def source(package: str) -> Path:
    """Return the unpacked source distribution of the installed version of a package.

    Raises:
        NotInstalledError: If it cannot be downloaded.
    """
    return _unpacked(package, version(package), _downloaded)


def unbuilt_source(package: str, pinned: str) -> Path:
    """Return the unpacked source distribution of a package that cannot be built here.

    Raises:
        NotInstalledError: If it cannot be downloaded.
    """
    return _unpacked(package, pinned, _left_by_pip)


def _unpacked(package: str, pinned: str, fetch: Callable[[str, Path], Path]) -> Path:
    """Return the folder of a source distribution, which is fetched once."""
    folder = _SUITES / f"{package}-{pinned}"
    if not folder.exists():
        _SUITES.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=_SUITES) as temporary:
            shutil.move(fetch(f"{package}=={pinned}", Path(temporary)), folder)
    return folder


def _downloaded(requirement: str, into: Path) -> Path:
    _run([*_DOWNLOAD, requirement.partition("==")[0], "--dest", str(into), requirement])
    (archive,) = into.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(into, filter="data")
    archive.unlink()
    (content,) = into.iterdir()
    return content


def _left_by_pip(requirement: str, into: Path) -> Path:
    # pip asks the build for the metadata, which fails without what the build needs, and leaves what it has unpacked.
    keep = [":all:", "--no-build-isolation", "--no-clean", "--dest", str(into), requirement]
    with suppress(NotInstalledError):
        _run([*_DOWNLOAD, *keep], {**os.environ, "TMPDIR": str(into)})
    content = next(into.glob("pip-*/*/PKG-INFO"), None)
    if content is None:
        raise NotInstalledError(f"{requirement} cannot be downloaded")
    return content.parent


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
