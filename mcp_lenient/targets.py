"""The validator of a tool, found through mounted servers and transformed tools down to the function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from fastmcp import Context, FastMCP

from mcp_lenient import fastmcp_private
from mcp_lenient.declared import Declared
from mcp_lenient.errors import SchemaError
from mcp_lenient.judge import FunctionJudge, TransformedJudge
from mcp_lenient.marks import declared_of, marks_of
from mcp_lenient.policy import Policy
from mcp_lenient.types import Judge

if TYPE_CHECKING:
    from fastmcp.tools import FunctionTool, Tool
    from fastmcp.tools.tool_transform import TransformedTool
    from fastmcp.utilities.versions import VersionSpec

    from mcp_lenient.fastmcp_private import Forwarding


@dataclass(frozen=True, slots=True)
class Target:
    """What a tool's arguments are judged by.

    Attributes:
        tool: The tool as the server that was asked sees it.
        judge: Its own validator; None where only the published schema speaks.
        certain: Whether its own validator was reached.
        has_validators: Whether judging runs Python code of the author that FastMCP runs in a worker thread.
        function: The function below all mounts and transforms.
        route: The mounted servers that a call is handed down through, with the name it has there.
        declared: What annotations and ``@lenient`` declare on the function, by the published names.
        policy: The policy that ``@lenient`` gives the tool.
        settled: Whether a mounted tool is the one whose schema was seen above; it may be replaced in between.
        schema: The schema of what the tool accepts, where that is not what it publishes.
    """

    tool: Tool
    judge: Judge | None = None
    certain: bool = False
    has_validators: bool = False
    function: Callable[..., Any] | None = None
    route: tuple[tuple[FastMCP, str], ...] = ()
    declared: Declared = field(default_factory=Declared)
    policy: Policy | None = None
    settled: bool = True
    schema: Mapping[str, Any] | None = None

    @property
    def mounted(self) -> str | None:
        """The mounted servers down to the tool's own, by name; None for a server's own tool."""
        return "/".join(server.name for server, _ in self.route) or None


async def find_target(server: FastMCP, tool: Tool) -> Target:
    """Find the validator of a tool, down through mounted servers and transformed tools.

    Must run where the tool was looked up: mounted servers are asked for what this client may see.
    """
    delegated = fastmcp_private.delegate(tool)
    if delegated is not None:
        below = await _target_in(*delegated) or Target(tool)
        settled = below.settled and below.tool.parameters == tool.parameters
        return replace(below, tool=tool, route=(delegated[:2], *below.route), settled=settled)
    transformed = fastmcp_private.transformed(tool)
    if transformed is not None:
        return await _transformed(server, transformed)
    if fastmcp_private.runs_its_function(tool):
        return _reached(tool, strict=server.strict_input_validation)
    return Target(tool)


async def _transformed(server: FastMCP, tool: TransformedTool) -> Target:
    below = await find_target(server, tool.parent_tool)
    schema = fastmcp_private.accepted_schema(
        tool, below.schema or tool.parent_tool.parameters, certain=below.certain
    )
    forwarding = fastmcp_private.forwarding(tool)
    if forwarding is None:
        return Target(tool, schema=schema)
    judge = None if below.judge is None else TransformedJudge(below.judge, forwarding)
    return replace(
        below, tool=tool, judge=judge, schema=schema, declared=_renamed(below.declared, forwarding)
    )


async def _target_in(server: FastMCP, name: str, version: VersionSpec | None) -> Target | None:
    async with Context(fastmcp=server):
        tool = await server.get_tool(name, version)
        return None if tool is None else await find_target(server, tool)


def _reached(tool: FunctionTool, *, strict: bool) -> Target:
    try:
        judge = FunctionJudge(tool, strict=strict)
    except SchemaError:
        return Target(tool)
    target = Target(tool, judge, certain=True, has_validators=judge.has_validators, function=tool.fn)
    marks = marks_of(tool.fn)
    return replace(target, declared=declared_of(tool.fn), policy=marks.policy if marks is not None else None)


def _renamed(declared: Declared, forwarding: Forwarding) -> Declared:
    """What is declared of a transformed tool's parent, by the names that the transformed tool publishes."""
    published = {parents: name for name, parents in forwarding.names.items()}
    return Declared(
        normalizers={published[name]: own for name, own in declared.normalizers.items() if name in published},
        aliases={published[name]: own for name, own in declared.aliases.items() if name in published},
        policy=declared.policy,
    )
