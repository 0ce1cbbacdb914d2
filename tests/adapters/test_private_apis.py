"""Private APIs of frameworks are used in ``compat`` and ``private_`` modules alone, and are those that ``docs/architecture.md`` lists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ADAPTERS = ROOT / "mcp_lenient" / "adapters"
SECTION = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").partition("## Private APIs")[2]
ROWS = [
    line.split("|")[1:-1] for line in SECTION.partition("\n## ")[0].splitlines() if line.startswith("| ")
][1:]
LISTED = {name for row in ROWS for name in re.findall(r"`(_\w+)`", row[1])}
EXTENSION_POINTS = {"_run", "_arun", "_getframe"}
"""What LangChain and Python document to be used, in spite of the name."""
FILES = sorted(ADAPTERS.rglob("*.py"))
COMPAT = {file for file in FILES if file.parent.name == "compat" or file.name.startswith("private_")}
FOLDERS = {"FastMCP": "fastmcp", "official SDK": "mcp_sdk", "LiteLLM": "litellm"}


def _private(file: Path) -> set[str]:
    """Return the private names that a file reads of other objects, also with ``getattr``."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and not (
            isinstance(node.value, ast.Name) and node.value.id == "self"
        ):
            names.add(node.attr)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
            names |= {each.value for each in node.args[1:2] if isinstance(each, ast.Constant)}
    own = re.findall(r"(?:def |self\.)(_\w+)", file.read_text(encoding="utf-8"))
    return {name for name in names if re.match(r"_[a-z]", name)} - set(own)


def test_only_compat_modules_use_private_apis():
    """No other module of a host reads a private attribute of a framework."""
    used = {
        file.relative_to(ADAPTERS).as_posix(): names
        for file in FILES
        if file not in COMPAT and (names := _private(file) - EXTENSION_POINTS)
    }
    assert used == {}


def test_the_list_has_every_private_api():
    """Every private name in such a module is in the list."""
    used = {name for file in COMPAT for name in _private(file)}
    assert used - EXTENSION_POINTS <= LISTED
    assert len(ROWS) <= 12


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[1].strip())
def test_every_entry_is_used_and_tested(row):
    """Each name is in its framework's modules of private APIs, and its tests exist."""
    framework, names, _, tests = row
    text = "".join(
        file.read_text(encoding="utf-8")
        for file in COMPAT
        if file.is_relative_to(ADAPTERS / FOLDERS[framework.strip()])
    )
    assert [name for name in re.findall(r"`(_\w+)`", names) if name not in text] == []
    assert (Path(__file__).parent / f"{tests.strip(' `')}.py").is_file()
