"""Plan the calls of ``mcp-lenient stress``, and read the file of arguments for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from fastmcp import Client, FastMCP
from fastmcp.client.transports import ClientTransport
from mcp.types import Tool
from rich import box
from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from mcp_lenient.adapters.client.compat import field
from mcp_lenient.adapters.gate import is_read_only
from mcp_lenient.cli.errors import fail
from mcp_lenient.testing.damage import damaged
from mcp_lenient.testing.example_arguments import NoValueError
from mcp_lenient.testing.stress_run import example_calls
from mcp_lenient.values.display import cut, shown

Given = Mapping[str, list[dict[str, Any]]]
"""Valid arguments by tool."""


def given_arguments(file: Path) -> Given:
    """Read a JSON file of valid arguments by tool: an object, or a list of objects."""
    try:
        written = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        fail(f"--arguments: {file}: {error.strerror or error}")
    except (ValueError, RecursionError) as error:
        fail(f"--arguments: {file}: not JSON: {error}")
    if not isinstance(written, dict) or not written:
        fail(
            f'--arguments: {file}: it must be an object with arguments by tool, like {{"search": {{"query": "tea"}}}}'
        )
    return {tool: _calls(file, tool, each) for tool, each in written.items()}


def _calls(file: Path, tool: str, written: Any) -> list[dict[str, Any]]:
    calls = written if isinstance(written, list) else [written]
    if not calls or not all(isinstance(call, dict) for call in calls):
        fail(
            f"--arguments: {file}: {tool!r} must be the arguments of a call as an object, or a list of such objects"
        )
    return calls


_LONGEST: Final = 60


@dataclass(frozen=True, slots=True)
class Planned:
    """A tool to call: how often, and the first of its valid calls."""

    name: str
    calls: int
    first: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The planned calls, and whether they reach the tools; prints as a table.

    ``left_out`` are the tools that are not called because they may change something.
    """

    tools: tuple[Planned, ...]
    left_out: tuple[str, ...]
    is_real: bool

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as JSON."""
        return {
            "reaches_the_tools": self.is_real,
            "would_call": [
                {"tool": each.name, "calls": each.calls, "first": each.first} for each in self.tools
            ],
            "left_out": list(self.left_out),
        }

    def __rich__(self) -> RenderableType:
        total = sum(each.calls for each in self.tools)
        reaches = "reaching the tools" if self.is_real else "stopped before the tools run"
        tools = "1 tool" if len(self.tools) == 1 else f"{len(self.tools)} tools"
        parts: list[RenderableType] = [Text(f"{total} calls (valid and damaged) of {tools}, {reaches}")]
        if self.tools:
            columns = (
                Column("tool", overflow="fold"),
                Column("calls", justify="right"),
                Column("such as", overflow="fold"),
            )
            table = Table(*columns, box=box.SIMPLE_HEAD, pad_edge=False)
            for each in self.tools:
                table.add_row(Text(shown(each.name)), str(each.calls), Text(_short(each.first)))
            parts.append(table)
        if self.left_out:
            names = ", ".join(map(shown, self.left_out))
            parts.append(Text(f"Left out because they may change something (--all calls them too): {names}"))
        return Group(*parts)


def _short(arguments: dict[str, Any] | None) -> str:
    if arguments is None:
        return "nothing: no valid call is known"
    return cut(shown(json.dumps(arguments, ensure_ascii=False), 4 * _LONGEST), _LONGEST)


def rehearse(
    target: FastMCP | ClientTransport,
    pattern: str,
    seed: int,
    per_tool: int,
    *,
    everything: bool,
    given: Given,
) -> Rehearsal:
    """Plan a stress run of a server. The tools of a server in this process never run."""
    is_real = not isinstance(target, FastMCP)
    tools = asyncio.run(_tools(target))
    for unknown in [name for name in given if name not in {tool.name for tool in tools}]:
        fail(f"--arguments: the server has no tool {unknown!r}")
    matching = [tool for tool in tools if fnmatchcase(tool.name, pattern)]
    if not matching:
        fail(f"--tool: no tool of the server matches {pattern!r}")
    called = [tool for tool in matching if everything or not is_real or is_read_only(tool.annotations)]
    left_out = tuple(tool.name for tool in matching if tool not in called)
    planned = tuple(_planned(tool, given.get(tool.name), seed, per_tool) for tool in called)
    return Rehearsal(planned, left_out, is_real)


async def _tools(target: FastMCP | ClientTransport) -> list[Tool]:
    async with Client(target) as client:
        tools: list[Tool] = await client.list_tools()
    return tools


def _planned(tool: Tool, given: list[dict[str, Any]] | None, seed: int, per_tool: int) -> Planned:
    schema = field(tool, "input_schema")
    try:
        rights = given or example_calls(tool.name, schema, seed, per_tool)
    except NoValueError:
        return Planned(tool.name, 0, None)
    calls = len(rights) + sum(1 for right in rights for _ in damaged(schema, right))
    return Planned(tool.name, calls, rights[0])
