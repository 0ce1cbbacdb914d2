"""Test that no two classes of the package have the same name."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import mcp_lenient


def test_no_two_classes_have_one_name():
    """Each class, public or private, has a unique name."""
    found = defaultdict(list)
    for path in sorted(Path(mcp_lenient.__file__).parent.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                found[node.name].append(path.name)
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}
