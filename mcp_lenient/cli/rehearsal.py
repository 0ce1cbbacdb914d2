"""Plan the calls of ``mcp-lenient stress``, and read the file of arguments for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Final

from fastmcp import FastMCP
from fastmcp.client.transports import ClientTransport
from mcp.types import Tool
from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError
from rich import box
from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from mcp_lenient.adapters.sdk_caller import field
from mcp_lenient.cli.errors import fail
from mcp_lenient.devtools.check.surface import published
from mcp_lenient.engine.tool import is_read_only
from mcp_lenient.testing.damage import damaged
from mcp_lenient.testing.example_arguments import NoValueError
from mcp_lenient.testing.stress_run import example_calls
from mcp_lenient.values.display import cut, path_text, shown

Given = Mapping[str, list[dict[str, Any]]]
"""Valid arguments by tool."""


def given_arguments(file: Path) -> Given:
    """Read a JSON file of valid arguments by tool: an object, or a list of objects."""
    try:
        return _GIVEN.validate_json(file.read_bytes())
    except OSError as error:
        fail(f"--arguments: {file}: {error.strerror or error}")
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = f"{file}: {path_text(fault['loc'][:1])}".removesuffix(": ")
        fail(
            f"--arguments: {where}: {fault['msg']}; write the arguments of one call or several by tool, like"
            ' {"search": {"query": "tea"}}'
        )


def _listed(written: Any) -> Any:
    return written if isinstance(written, list) else [written]


_Calls = Annotated[list[dict[str, Any]], Field(min_length=1), BeforeValidator(_listed)]
_GIVEN: Final = TypeAdapter(Annotated[dict[str, _Calls], Field(min_length=1)])
_LONGEST: Final = 60


@dataclass(frozen=True, slots=True)
class Planned:
    """A tool to call: how often, and the first of its valid calls."""

    tool: str
    calls: int
    first: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The planned calls, and whether they reach the tools; prints as a table.

    ``left_out`` are the tools that are not called because they may change something.
    """

    reaches_the_tools: bool
    would_call: tuple[Planned, ...]
    left_out: tuple[str, ...]

    def __rich__(self) -> RenderableType:
        total = sum(planned.calls for planned in self.would_call)
        reaches = "reaching the tools" if self.reaches_the_tools else "stopped before the tools run"
        tools = "1 tool" if len(self.would_call) == 1 else f"{len(self.would_call)} tools"
        parts: list[RenderableType] = [Text(f"{total} calls (valid and damaged) of {tools}, {reaches}")]
        if self.would_call:
            columns = (
                Column("tool", overflow="fold"),
                Column("calls", justify="right"),
                Column("such as", overflow="fold"),
            )
            table = Table(*columns, box=box.SIMPLE_HEAD, pad_edge=False)
            for planned in self.would_call:
                table.add_row(Text(shown(planned.tool)), str(planned.calls), Text(_short(planned.first)))
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
    arguments: Given,
) -> Rehearsal:
    """Plan a stress run of a server. The tools of a server in this process never run."""
    is_real = not isinstance(target, FastMCP)
    tools = [surface.tool for surface in asyncio.run(published(target))]
    for unknown in [name for name in arguments if name not in {tool.name for tool in tools}]:
        fail(f"--arguments: the server has no tool {unknown!r}")
    matching = [tool for tool in tools if fnmatchcase(tool.name, pattern)]
    if not matching:
        fail(f"--tool: no tool of the server matches {pattern!r}")
    called = [tool for tool in matching if everything or not is_real or is_read_only(tool.annotations)]
    left_out = tuple(tool.name for tool in matching if tool not in called)
    planned = tuple(_planned(tool, arguments.get(tool.name), seed, per_tool) for tool in called)
    return Rehearsal(is_real, planned, left_out)


def _planned(tool: Tool, examples: list[dict[str, Any]] | None, seed: int, per_tool: int) -> Planned:
    schema = field(tool, "input_schema")
    try:
        rights = examples or example_calls(tool.name, schema, seed, per_tool)
    except NoValueError:
        return Planned(tool.name, 0, None)
    calls = len(rights) + sum(1 for right in rights for _ in damaged(schema, right))
    return Planned(tool.name, calls, rights[0])
