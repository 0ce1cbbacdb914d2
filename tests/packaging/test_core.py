"""Test that the core works without the leaves, which `pyproject.toml` lists for import-linter."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mcp_lenient

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PACKAGE = Path(mcp_lenient.__file__).parent
CONTRACTS = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
    "importlinter"
]
FORBIDDEN = next(
    contract["forbidden_modules"] for contract in CONTRACTS["contracts"] if contract.get("id") == "core"
)
LEAVES = [name.split(".")[1:] for name in FORBIDDEN if name.startswith("mcp_lenient.")]
PACKAGES = [name for name in FORBIDDEN if not name.startswith("mcp_lenient.")]

PROGRAM = """
import asyncio, importlib, json, pkgutil, sys
from importlib.abc import MetaPathFinder

class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in PACKAGES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
import mcp_lenient

OF_OTHER_VERSION = "mcp_lenient.adapters.fastmcp.compat.v"
modules = [each.name for each in pkgutil.walk_packages(mcp_lenient.__path__, "mcp_lenient.")]
for name in modules:
    if not name.startswith(OF_OTHER_VERSION):
        importlib.import_module(name)

from fastmcp import Client, FastMCP
from mcp_lenient import LenientMiddleware, lenient

server = FastMCP("notes", middleware=[LenientMiddleware()])

@server.tool
def store(tags: list[str]) -> list[str]:
    return tags

@server.tool
@lenient
def keep(tags: list[str]) -> list[str]:
    return tags

async def call(tool, tags):
    async with Client(server) as client:
        result = await client.call_tool(tool, {"tags": tags}, raise_on_error=False)
        return result.meta["mcp_lenient"]

answers = [asyncio.run(call(tool, tags)) for tool in ("store", "keep") for tags in ('["a"]', 5)]
print(json.dumps({"file": mcp_lenient.__file__, "modules": modules, "answers": answers}))
"""


@pytest.fixture(scope="module")
def core(tmp_path_factory):
    """Return what a process prints and logs that has the package without the leaves."""
    folder = tmp_path_factory.mktemp("core")
    copy = folder / "mcp_lenient"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for parts in LEAVES:
        leaf = copy.joinpath(*parts)
        if leaf.is_dir():
            shutil.rmtree(leaf)
        else:
            leaf.with_suffix(".py").unlink()
    program = PROGRAM.replace("PACKAGES", repr(PACKAGES))
    done = subprocess.run(  # noqa: S603 - this process's own Python
        [sys.executable, "-c", program],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
    )
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert Path(printed["file"]).is_relative_to(folder)
    return printed, done.stderr


def test_the_core_has_no_leaf(core):
    """The copy of the package that the other tests run lacks each leaf, and has the rest."""
    printed, _ = core
    left = [name.split(".")[1:] for name in printed["modules"]]
    assert not [name for name in left if any(name[: len(leaf)] == leaf for leaf in LEAVES)]
    assert ["adapters", "fastmcp", "middleware"] in left


def test_the_core_repairs_and_refuses(core):
    """Middleware and decorator repair one call and refuse another without the leaves and their packages."""
    printed, _ = core
    repaired, refused, repaired_by_decorator, refused_by_decorator = printed["answers"]
    rules = [[repair["rule"] for repair in answer["repairs"]] for answer in (repaired, repaired_by_decorator)]
    assert rules == [["json_text_to_array"]] * 2
    assert refused["error_code"] == refused_by_decorator["error_code"] == "INVALID_TAGS_TYPE"


def test_the_core_logs(core):
    """Each of the calls is an event in the log."""
    _, logged = core
    names = [name for name in ("call_repaired", "call_rejected") for _ in range(logged.count(name))]
    assert names == ["call_repaired"] * 2 + ["call_rejected"] * 2
