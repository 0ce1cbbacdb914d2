"""What the documents say is true: their code runs, their tables match, their links lead somewhere."""

from __future__ import annotations

import doctest
import importlib
import json
import pkgutil
import re
from pathlib import Path

import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

import mcp_lenient
from mcp_lenient import DEFAULT_RULES

ROOT = Path(__file__).parent.parent
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
MODULES = sorted(module.name for module in pkgutil.walk_packages(mcp_lenient.__path__, "mcp_lenient."))

every_document = pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: str(file.relative_to(ROOT)))


@every_document
def test_python_blocks_run(file, tmp_path, monkeypatch):
    """Each Python block of a document runs, in order and in one namespace."""
    monkeypatch.chdir(tmp_path)
    for example in Sybil(parsers=[PythonCodeBlockParser()]).parse(file).examples():
        example.evaluate()


@every_document
def test_json_blocks_are_json(file):
    """Each JSON block of a document can be parsed."""
    for block in re.findall(
        r"^```json\n(.*?)^```", file.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    ):
        json.loads(block)


@every_document
def test_links_lead_to_files(file):
    """Each relative link of a document leads to a file of the project."""
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", file.read_text(encoding="utf-8"))
    assert [target for target in targets if not (file.parent / target).exists()] == []


@pytest.mark.parametrize("module", MODULES)
def test_docstrings_are_true(module):
    """Each example in a docstring prints what it says."""
    assert doctest.testmod(importlib.import_module(module)).failed == 0


def test_rules_page_names_each_rule_with_its_tier():
    """The table of the rules page is the table of the code."""
    page = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    told = [
        (rule, int(tier))
        for tier, rules in re.findall(r"^\| (\d+) \| (.+?) \|", page, re.MULTILINE)
        for rule in re.findall(r"`(\w+)`", rules)
    ]
    assert sorted(told) == sorted((rule.name, rule.tier) for rule in DEFAULT_RULES)


def test_changelog_tells_of_this_version():
    """The newest version in the changelog is the one that is built."""
    built = re.search(
        r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE
    )
    told = re.search(r"^## \[(\d.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert built
    assert told
    assert told[1] == built[1]
