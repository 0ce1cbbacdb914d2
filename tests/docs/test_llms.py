"""The texts of the documentation for agents, which the build of the site writes."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} - {"NAVIGATION.md"}


@pytest.fixture
def llms(monkeypatch):
    """Return the script that writes them."""
    monkeypatch.syspath_prepend(str(DOCS))
    import llms

    yield llms
    sys.modules.pop("llms")


def test_the_index_links_every_page(llms):
    """``llms.txt`` begins with a title and a summary, and links each page of the site once."""
    written = llms.index()
    assert written.startswith("# mcp-lenient\n\n> A model that calls a tool")
    links = re.findall(r"^- \[[^]]+\]\((\S+)\.html\)$", written, re.MULTILINE)
    assert len(links) == len(set(links))
    assert {f"{link}.md" for link in links} == PAGES


def test_the_whole_text_has_every_page_and_docstring(llms):
    """``llms-full.txt`` has all pages, with docstrings in place of the directives that name them."""
    written = llms.whole()
    assert set(re.findall(r"^<!-- (\S+\.md) -->$", written, re.MULTILINE)) == PAGES
    assert "[[[cog" not in written
    assert not re.search(r"^::: ", written, re.MULTILINE)
    assert "mcp_lenient.tool_error(" in written
    assert "The leniency of a server, or of some of its tools" in written
