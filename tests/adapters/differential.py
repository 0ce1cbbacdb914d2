"""Compare what reaches a tool on a server with the middleware and on one without."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from calls import rules
from fastmcp import FastMCP
from fastmcp.exceptions import FastMCPError
from fastmcp.tools import ToolResult
from pydantic import BaseModel

from mcp_lenient import LenientMiddleware

Seen = list[Any]
Build = Callable[[FastMCP, Seen], None]
"""Adds a tool named ``tool`` to a server. Its body records its arguments."""


def exact(value: Any) -> Any:
    """Return a value as plain data with the type of each part, so that ``1``, ``1.0`` and ``True`` differ."""
    name = type(value).__name__
    if isinstance(value, BaseModel):
        extra = value.model_extra or {}
        return name, [(key, exact(each)) for key, each in {**dict(value), **extra}.items()]
    if is_dataclass(value):
        return name, [(each.name, exact(getattr(value, each.name))) for each in fields(value)]
    if isinstance(value, Mapping):
        return name, [(exact(key), exact(each)) for key, each in value.items()]
    if isinstance(value, (list, tuple)):
        return name, [exact(each) for each in value]
    if isinstance(value, (set, frozenset)):
        return name, sorted(map(repr, value))
    return name, value if isinstance(value, (bool, int)) else repr(value)


async def differences(
    build: Build, calls: Iterable[Mapping[str, Any]], *, strict: bool = False
) -> list[tuple[Any, ...]]:
    """Return the calls that FastMCP alone runs and that a lenient server runs differently or not at all.

    Args:
        build: Adds the tool.
        calls: The arguments to try.
        strict: Whether the servers are strict.
    """
    seen: tuple[Seen, Seen] = ([], [])
    servers = [FastMCP("server", strict_input_validation=strict) for _ in seen]
    for server, record in zip(servers, seen, strict=True):
        build(server, record)
    servers[1].add_middleware(LenientMiddleware())
    found = []
    for arguments in calls:
        alone, lenient = [await _answer(server, arguments) for server in servers]
        bodies = [exact(record) for record in seen]
        if alone is None:
            # A call that FastMCP refuses may be repaired, but must not run twice or be misreported.
            wrong = len(seen[1]) > 1 or (lenient is None) is bool(seen[1])
        else:
            wrong = lenient is None or bodies[0] != bodies[1] or rules(lenient) != []
        if wrong:
            found.append((arguments, bodies))
        for record in seen:
            record.clear()
    return found


async def _answer(server: FastMCP, arguments: Mapping[str, Any]) -> ToolResult | None:
    """Return what a call returns, or None if it is refused."""
    try:
        result = await server.call_tool("tool", dict(arguments))
    except (FastMCPError, ValueError):  # FastMCP 3 fails to log a very large number
        return None
    return None if result.is_error else result
