"""Write ``llms.txt`` and ``llms-full.txt`` into the built site, for agents that read the documentation; ``make docs`` runs this.

``llms.txt`` (https://llmstxt.org) lists the pages, ``llms-full.txt`` has them whole, both in the order of the navigation.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from inspect import getdoc, isclass, isfunction, signature
from pathlib import Path
from pkgutil import resolve_name
from typing import Final

FOLDER: Final = Path(__file__).parent
_ENTRY: Final = re.compile(r"^( *)- (?:\[(?P<title>.+)\]\((?P<page>\S+)\)|(?P<text>.+))$", re.MULTILINE)
_TITLE: Final = re.compile(r"^# (.+)$", re.MULTILINE)
_OBJECT: Final = re.compile(r"^::: ([\w.]+)(?:\n(?: {4}.*|(?=\n {4})))*", re.MULTILINE)
_GENERATED: Final = re.compile(r"^<!-- \[\[\[cog\n.*?\]\]\] -->\n|^<!-- .*?-->\n", re.MULTILINE | re.DOTALL)


def pages() -> Iterator[tuple[str, Path | None]]:
    """Yield the headings of the navigation, with None, and the pages with their titles."""
    for entry in _ENTRY.finditer((FOLDER / "NAVIGATION.md").read_text(encoding="utf-8")):
        name = entry["page"] or entry["text"]
        if entry["page"] is not None:
            yield entry["title"], FOLDER / name
        elif name.endswith(".md"):
            for page in sorted(FOLDER.glob(name)):
                yield _title(page), page
        else:
            yield name, None


def _title(page: Path) -> str:
    heading = _TITLE.search(_text(page))
    return page.stem if heading is None else heading[1]


def _text(page: Path) -> str:
    """Return a page with the docstrings that it names, without what generates its tables and tests its blocks."""
    return _OBJECT.sub(_documented, _GENERATED.sub("", page.read_text(encoding="utf-8"))).strip()


def _documented(name: re.Match[str]) -> str:
    """Return the heading, signature and docstring of an object of the package."""
    try:
        value = resolve_name(name[1])
    except ImportError:  # of a framework that is not installed
        return f"## {name[1]}"
    parts = [f"## {name[1]}", getdoc(value) or ""]
    if isfunction(value) or (isclass(value) and not issubclass(value, (dict, Exception))):
        parts.insert(1, f"```python\n{name[1]}{signature(value)}\n```")
    return "\n\n".join(parts)


def index() -> str:
    """Return the text of ``llms.txt``."""
    home = _text(FOLDER / "index.md")
    summary = next(part for part in home.split("\n\n")[1:] if part[:1].isalpha())
    lines = ["# mcp-lenient", "", f"> {' '.join(summary.split())}", "", "## Pages", ""]
    for title, page in pages():
        if page is None:
            lines += ["", f"## {title}", ""]
        else:
            lines.append(f"- [{title}]({page.relative_to(FOLDER).with_suffix('.html').as_posix()})")
    return "\n".join(lines) + "\n"


def whole() -> str:
    """Return the text of ``llms-full.txt``."""
    listed = (page for _, page in pages() if page is not None)
    return (
        "\n\n".join(f"<!-- {page.relative_to(FOLDER).as_posix()} -->\n\n{_text(page)}" for page in listed)
        + "\n"
    )


if __name__ == "__main__":
    site = Path(sys.argv[1])
    (site / "llms.txt").write_text(index(), encoding="utf-8")
    (site / "llms-full.txt").write_text(whole(), encoding="utf-8")
