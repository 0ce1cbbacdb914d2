"""A linter for the tools of a server: what callers will misunderstand, why, and how to fix it.

>>> from fastmcp import FastMCP
>>> from mcp_lenient.devtools.check import check
>>> server = FastMCP("notes")
>>> @server.tool
... def store(content: str, tags: str | list[str]) -> None:
...     '''Store a note.'''
>>> [(finding.code, finding.place) for finding in check(server)]
[('text_or_container', 'tags')]
"""

from mcp_lenient.devtools.check.catalogue import CHECKS
from mcp_lenient.devtools.check.checking import check
from mcp_lenient.devtools.check.finding import LEVELS, Check, Finding, Level

__all__ = ["CHECKS", "LEVELS", "Check", "Finding", "Level", "check"]
