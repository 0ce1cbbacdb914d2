"""Install what the clients need, once. Skip with a reason if that fails."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

import pytest
from environments import environment
from installing import installing_in, run_installer

HERE: Final = Path(__file__).parent


def node(folder: Path = HERE) -> str:
    """Return Node, with the packages of a folder's lock file. Skip if they cannot be installed."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("Node and npm are needed to run clients from npm")
    with installing_in(folder):
        noted, wanted = folder / "node_modules" / ".installed", (folder / "package-lock.json").read_bytes()
        if not noted.exists() or noted.read_bytes() != wanted:
            command = [npm, "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"]
            run_installer(command, "npm ci", folder)
            noted.write_bytes(wanted)
    return node


def langchain_python() -> str:
    """Return the Python of an environment with LangChain's adapters, which need the SDK's first version."""
    return environment("langchain==1.4.7", "langchain-mcp-adapters==0.3.2")
