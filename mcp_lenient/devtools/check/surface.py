"""What the linter knows of a tool: what a client sees, and more if the server runs in this process."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from fastmcp import Client, Context, FastMCP
from fastmcp.client.transports import ClientTransport
from mcp.types import Tool

from mcp_lenient.adapters.client.sdk_versions import server_name
from mcp_lenient.adapters.fastmcp.standing import check_statements, judged_by
from mcp_lenient.adapters.fastmcp.tools import find_target
from mcp_lenient.adapters.sdk_caller import field
from mcp_lenient.declare.decorator_metadata import as_written, marks_of
from mcp_lenient.engine.tool import is_destructive
from mcp_lenient.schema.node import Node, Tree
from mcp_lenient.values.names import fold_name

_DEEPEST: Final = 8
_MOST_SPOTS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Spot:
    """One place of an input schema, such as ``rows[].age``; items of lists and entries of maps have no name."""

    node: Node
    place: str
    name: str | None
    optional: bool
    depth: int

    @property
    def description(self) -> str:
        """Return its description, with those of the types it refers to."""
        descriptions = (*self.node.values_of("description"), *self.node.branch_values_of("description"))
        return " ".join(dict.fromkeys(text for text in descriptions if isinstance(text, str)))

    @property
    def direct_description(self) -> str:
        """Return the description at this place only."""
        schema = self.node.schema
        description = schema.get("description") if isinstance(schema, Mapping) else None
        return description if isinstance(description, str) else ""


@dataclass(frozen=True)
class Surface:
    """A published tool.

    Attributes:
        tool: The tool as a client sees it.
        file: The file of its function.
        line: The line at which that function begins.
        normalized: The parameters with a declared normalizer.
        drops_null: Whether a middleware leaves out a null that the schema forbids.
        judged_destructive: Whether a middleware treats the tool as destructive; None without a middleware.
        closed: Whether a middleware repairs or refuses names that open objects do not declare.
        decorated_alone: Whether the function has ``@lenient``, and no middleware stands before the tool.
        server: The name that the server gives itself; empty if unknown.
        listed: The names of all tools of the server.
    """

    tool: Tool
    file: str | None = None
    line: int | None = None
    normalized: frozenset[str] = frozenset()
    drops_null: bool = False
    judged_destructive: bool | None = None
    closed: bool = False
    decorated_alone: bool = False
    server: str = ""
    listed: frozenset[str] = frozenset()

    @property
    def destructive(self) -> bool:
        """Return whether the tool is destructive, according to its middleware or else its annotations."""
        if self.judged_destructive is not None:
            return self.judged_destructive
        return is_destructive(self.tool.annotations)

    @property
    def misspelled_hints(self) -> Mapping[str, str]:
        """Return the annotations that clients do not know, each with MCP's spelling; only SDK 1 keeps them."""
        annotations = self.tool.annotations
        if annotations is None:
            return {}
        spellings = {fold_name(name): name for name in type(annotations).model_fields}
        unknown = (annotations.model_extra or {}).keys()
        return {name: spellings[fold_name(name)] for name in unknown if fold_name(name) in spellings}

    @property
    def input_schema(self) -> Any:
        """Return the schema of the arguments."""
        return field(self.tool, "input_schema")

    @property
    def output_schema(self) -> Any:
        """Return the schema of the result, or None."""
        return field(self.tool, "output_schema")

    @cached_property
    def top(self) -> Node:
        """Return the node of the whole arguments."""
        return Tree(self.input_schema).top

    @cached_property
    def spots(self) -> tuple[Spot, ...]:
        """Return every place of the input schema, from the top down; a shared part appears once."""
        spots: list[Spot] = []
        seen: set[int] = set()
        waiting = deque(_below(self.top, "", 0))
        while waiting and len(spots) < _MOST_SPOTS:
            spot = waiting.popleft()
            # The nodes keep their schemas alive, so that ids are not reused.
            if id(spot.node.schema) in seen:
                continue
            seen.add(id(spot.node.schema))
            spots.append(spot)
            if spot.depth < _DEEPEST:
                waiting += (
                    below for node in spot.node.branches for below in _below(node, spot.place, spot.depth)
                )
        return tuple(spots)

    def is_normalized(self, spot: Spot) -> bool:
        """Return whether the author normalizes the values of this place."""
        return spot.depth == 1 and spot.name in self.normalized

    @property
    def parameters(self) -> Iterator[Spot]:
        """Yield the parameters."""
        return (spot for spot in self.spots if spot.depth == 1 and spot.name is not None)

    @property
    def objects(self) -> Iterator[tuple[str, Node]]:
        """Yield every object that declares properties, with its place."""
        yield "", self.top
        for spot in self.spots:
            for node in spot.node.branches:
                if node.property_nodes:
                    yield spot.place, node


def _below(node: Node, place: str, depth: int) -> Iterator[Spot]:
    for name, child in node.property_nodes.items():
        yield Spot(child, within(place, name), name, name not in node.required, depth + 1)
    for index, item in enumerate(node.prefix_items):
        yield Spot(item, f"{place}[{index}]", None, optional=False, depth=depth + 1)
    if isinstance(node.items.schema, Mapping) and node.items.schema and not node.prefix_items:
        yield Spot(node.items, f"{place}[]", None, optional=False, depth=depth + 1)
    if isinstance(node.additional, Mapping) and node.additional:  # the schema of undeclared names
        extra = node.tree.node(node.additional)
        yield Spot(extra, within(place, "*"), None, optional=True, depth=depth + 1)


def within(place: str, name: str) -> str:
    """Return the place of a property in an object; the place of the whole arguments is empty."""
    return f"{place}.{name}" if place else name


async def published(target: FastMCP | ClientTransport) -> list[Surface]:
    """List the tools as a client sees them, with the location of their functions for a server in this process."""
    if isinstance(target, FastMCP):
        await check_statements(target)
    async with Client(target) as client:
        tools = await client.list_tools()
        name = server_name(client) or ""
    if isinstance(target, FastMCP):
        return [replace(await _surface(target, tool), server=name) for tool in tools]
    return [Surface(tool, server=name) for tool in tools]


async def _surface(server: FastMCP, published_tool: Tool) -> Surface:
    async with Context(fastmcp=server):
        tool = await server.get_tool(published_tool.name)
        target = None if tool is None else await find_target(server, tool)
        if target is None:
            return Surface(published_tool)
        validators = await judged_by(server, target)
    normalized = set(target.declared.normalizers).union(*(judge.normalizers for judge in validators))
    drops_null = any(
        judge.mode == "repair" and judge.policy.allows("null_to_absent") and not judge.plan.destructive
        for judge in validators
    )
    file, line = _origin(target.function) if target.function is not None else (None, None)
    destructive = any(judge.plan.destructive for judge in validators) if validators else None
    closed = any(judge.mode == "repair" and judge.policy.closed for judge in validators)
    alone = not validators and marks_of(target.function) is not None
    return Surface(published_tool, file, line, frozenset(normalized), drops_null, destructive, closed, alone)


def _origin(function: Callable[..., Any]) -> tuple[str | None, int | None]:
    written = inspect.unwrap(as_written(function))
    try:
        file, line = inspect.getsourcefile(written), inspect.getsourcelines(written)[1]
    except (OSError, TypeError):
        return None, None
    if file is None:
        return None, None
    path, here = Path(file).resolve(), Path.cwd()
    return (path.relative_to(here) if path.is_relative_to(here) else path).as_posix(), line
