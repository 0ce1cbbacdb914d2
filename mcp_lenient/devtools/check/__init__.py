"""Lint the tools of a server: what callers will misunderstand, why, and how to fix it.

>>> from fastmcp import FastMCP
>>> from mcp_lenient.devtools.check import check
>>> server = FastMCP("notes")
>>> @server.tool
... def store(content: str, tags: str | list[str]) -> None:
...     '''Store a note.'''
>>> [(finding.code, finding.place) for finding in check(server)]
[('text_or_container', 'tags')]
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from fnmatch import fnmatchcase

from fastmcp import FastMCP
from fastmcp.client.transports import ClientTransport
from mcp.types import Tool

from mcp_lenient.devtools.check.catalogue import CHECKS, LEVELS, Check, Finding, Level, UnknownNameError
from mcp_lenient.devtools.check.surface import Surface, published
from mcp_lenient.testing.trial import in_new_loop

__all__ = ["CHECKS", "LEVELS", "Check", "Finding", "Level", "check"]


def check(
    target: FastMCP | ClientTransport | Iterable[Tool],
    *,
    select: Collection[str] = (),
    ignore: Collection[str] = (),
) -> tuple[Finding, ...]:
    """Find what callers of a server's tools will misunderstand.

    Args:
        target: A server, a transport to one, or tools as a client lists them.
        select: Codes or patterns (``*_description``) of the rules to apply; all if empty.
        ignore: Codes or patterns of rules to leave out.

    Returns:
        The findings, tool by tool.

    Raises:
        UnknownNameError: A ``ValueError``, when a code or pattern names no rule.
    """
    chosen = chosen_checks(select, ignore)
    if isinstance(target, FastMCP | ClientTransport):
        return findings(in_new_loop(lambda: published(target)), chosen)
    return findings(map(Surface, target), chosen)


def chosen_checks(select: Collection[str], ignore: Collection[str]) -> tuple[Check, ...]:
    """Return the selected rules, in the order of the catalogue.

    Raises:
        UnknownNameError: When a code or pattern names no rule.
    """
    codes = [check.code for check in CHECKS]
    for pattern in (*select, *ignore):
        if not any(fnmatchcase(code, pattern) for code in codes):
            msg = f"{pattern!r} matches no rule; the rules are {', '.join(codes)}"
            raise UnknownNameError(msg)
    chosen = {code for pattern in select or ("*",) for code in codes if fnmatchcase(code, pattern)}
    ignored = {code for pattern in ignore for code in codes if fnmatchcase(code, pattern)}
    return tuple(check for check in CHECKS if check.code in chosen - ignored)


def findings(tools: Iterable[Surface], checks: Collection[Check]) -> tuple[Finding, ...]:
    """Return what these rules find in the tools of a server."""
    tools = tuple(tools)
    listed = frozenset(surface.tool.name for surface in tools)
    return tuple(
        Finding(
            check.code,
            hit.level or check.level,
            surface.tool.name,
            hit.place,
            hit.reason,
            hit.fix,
            surface.file,
            surface.line,
        )
        for surface in (replace(tool, listed=listed) for tool in tools)
        for check in checks
        for hit in check.find(surface)
    )
