"""Apply every rule of the catalogue to the tools of a server."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from fastmcp import Client, Context, FastMCP
from fastmcp.client.transports import ClientTransport
from mcp_types import Tool

from mcp_lenient.adapters.fastmcp.middleware import judged_by
from mcp_lenient.adapters.fastmcp.tools import find_target
from mcp_lenient.declare.decorator_metadata import as_written
from mcp_lenient.devtools.check.catalogue import CHECKS
from mcp_lenient.devtools.check.finding import Check, Finding, Surface
from mcp_lenient.testing.trial import in_own_loop

Checkable = FastMCP | ClientTransport | Iterable[Tool]


@dataclass(frozen=True, slots=True)
class Published:
    """A tool as a client sees it, and what is known about it where its server runs in this process.

    Attributes:
        tool: The tool.
        file: The file of its function.
        line: The line at which that function begins.
        normalized: The parameters for which the author declares a normalizer.
        drops_null: Whether a middleware leaves out a null that the schema forbids.
        destructive: Whether a middleware treats the tool as destructive; None where there is no middleware.
    """

    tool: Tool
    file: str | None = None
    line: int | None = None
    normalized: frozenset[str] = frozenset()
    drops_null: bool = False
    destructive: bool | None = None


def check(
    target: Checkable, *, select: Collection[str] = (), ignore: Collection[str] = ()
) -> tuple[Finding, ...]:
    """Find what callers of a server's tools will misunderstand.

    Args:
        target: A server, a transport that leads to one, or tools as a client lists them.
        select: Codes of the only rules to apply, or patterns (``*_description``); all when empty.
        ignore: Codes or patterns of rules to leave out.

    Returns:
        The findings, tool by tool.

    Raises:
        ValueError: When a code or pattern names no rule.
    """
    chosen = chosen_checks(select, ignore)
    if isinstance(target, FastMCP | ClientTransport):
        return findings(in_own_loop(lambda: published(target)), chosen)
    return findings(map(Published, target), chosen)


def chosen_checks(select: Collection[str], ignore: Collection[str]) -> tuple[Check, ...]:
    """Return the rules that codes or patterns choose, in the order of the catalogue.

    Raises:
        ValueError: When a code or pattern names no rule.
    """
    for pattern in (*select, *ignore):
        if not any(fnmatchcase(each.code, pattern) for each in CHECKS):
            msg = f"{pattern!r} names no rule; there are {', '.join(each.code for each in CHECKS)}"
            raise ValueError(msg)
    return tuple(
        each
        for each in CHECKS
        if (not select or any(fnmatchcase(each.code, pattern) for pattern in select))
        and not any(fnmatchcase(each.code, pattern) for pattern in ignore)
    )


async def published(target: FastMCP | ClientTransport) -> list[Published]:
    """List the tools as a client sees them; for a server in this process, also where their functions are."""
    async with Client(target) as client:
        tools = await client.list_tools()
    if isinstance(target, FastMCP):
        return [await _known(target, tool) for tool in tools]
    return [Published(tool) for tool in tools]


async def _known(server: FastMCP, published_tool: Tool) -> Published:
    async with Context(fastmcp=server):
        tool = await server.get_tool(published_tool.name)
        target = None if tool is None else await find_target(server, tool)
        if target is None:
            return Published(published_tool)
        validators = await judged_by(server, target)
    normalized = set(target.declared.normalizers).union(*(known.normalizers for known in validators))
    drops_null = any(
        known.mode == "repair" and known.policy.allows("null_to_absent") and not known.plan.destructive
        for known in validators
    )
    file, line = _origin(target.function) if target.function is not None else (None, None)
    destructive = any(known.plan.destructive for known in validators) if validators else None
    return Published(published_tool, file, line, frozenset(normalized), drops_null, destructive)


def _origin(function: Callable[..., Any]) -> tuple[str | None, int | None]:
    written = inspect.unwrap(as_written(function))
    try:
        file, line = inspect.getsourcefile(written), inspect.getsourcelines(written)[1]
    except (OSError, TypeError):
        return None, None
    return (None, None) if file is None else (_relative(Path(file).resolve()), line)


def _relative(file: Path) -> str:
    here = Path.cwd()
    return file.relative_to(here).as_posix() if file.is_relative_to(here) else file.as_posix()


def findings(tools: Iterable[Published], checks: Iterable[Check]) -> tuple[Finding, ...]:
    """Return what these rules find in these tools."""
    chosen = tuple(checks)
    return tuple(finding for each in tools for finding in _of_tool(each, chosen))


def _of_tool(published_tool: Published, checks: Iterable[Check]) -> Iterator[Finding]:
    tool = published_tool.tool
    surface = Surface(
        tool,
        published_tool.normalized,
        drops_null=published_tool.drops_null,
        destructive=published_tool.destructive,
    )
    for each in checks:
        for hit in each.find(surface):
            level = hit.level or each.level
            yield Finding(
                each.code,
                level,
                tool.name,
                hit.place,
                hit.reason,
                hit.mend,
                published_tool.file,
                published_tool.line,
            )
