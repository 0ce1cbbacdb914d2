"""Test that the diagram on the architecture page shows the layers that import-linter checks."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def layers() -> list[str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    return next(contract["layers"] for contract in contracts if contract["type"] == "layers")


def test_the_diagram_matches_the_checked_layers():
    """The diagram has each layer of the contract, in order."""
    arrows = re.findall(r"^\s+(\w+)(?:\[[^\]]*\])? --> (\w+)$", PAGE, re.MULTILINE)
    assert arrows
    drawn = [arrows[0][0], *(below for _, below in arrows)]
    assert [above for above, _ in arrows] == drawn[:-1]
    assert drawn == [layer.split(" : ")[0] for layer in layers()]


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`([\w/]+\.py)`", PAGE))))
def test_the_page_names_files_that_exist(name):
    """Each file that the page names exists."""
    assert (ROOT / "mcp_lenient" / name).exists()
