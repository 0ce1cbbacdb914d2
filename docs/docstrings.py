"""Convert docstrings for the site: examples to code blocks, names of the library to links."""

from __future__ import annotations

import re
from typing import Any

import griffe

import mcp_lenient
import mcp_lenient.errors
import mcp_lenient.normalizers
import mcp_lenient.results
import mcp_lenient.testing

_PUBLIC = (
    mcp_lenient,
    mcp_lenient.normalizers,
    mcp_lenient.results,
    mcp_lenient.errors,
    mcp_lenient.testing,
)
_ROLE = re.compile(r":(?:class|func|meth|data|mod|attr):`~?([\w.]+)`")
_PROMPT = re.compile(r"^(?:>>>|\.\.\. )")


class Docstrings(griffe.Extension):
    """Converts each docstring of the library to Markdown before it is parsed."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Convert the docstring of one object, if it has one."""
        if obj.docstring is not None:
            obj.docstring.value = _fenced(_ROLE.sub(_linked, obj.docstring.value))


def _linked(role: re.Match[str]) -> str:
    name = role[1].rpartition(".")[2]
    home = next((module for module in _PUBLIC if name in module.__all__), None)
    return f"`{name}`" if home is None else f"[`{name}`][{home.__name__}.{name}]"


def _fenced(text: str) -> str:
    """Put each example session into a code fence; otherwise Markdown reads ``>>>`` as a quotation."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        starts = bool(_PROMPT.match(line))
        if starts and not inside:
            lines.append("```pycon")
        elif inside and not line.strip():
            lines.append("```")
        inside = starts or (inside and bool(line.strip()))
        lines.append(line)
    return "\n".join([*lines, "```"] if inside else lines)
