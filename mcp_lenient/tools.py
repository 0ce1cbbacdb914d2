"""The tools a middleware has met: what each accepts, compiled once."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from fastmcp.utilities.versions import VersionSpec

from mcp_lenient.contract import Decision, ToolContract
from mcp_lenient.envelope import envelope
from mcp_lenient.marks import combined
from mcp_lenient.normalizing import NormalizedArguments, NormalizingJudge
from mcp_lenient.plan import Plan
from mcp_lenient.readable import readable
from mcp_lenient.schema_judge import SchemaJudge
from mcp_lenient.targets import Target, find_target
from mcp_lenient.tool_results import as_result
from mcp_lenient.values import holds_many

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fastmcp import FastMCP
    from fastmcp.tools import Tool, ToolResult
    from mcp_types import CallToolRequestParams

    from mcp_lenient.normalizing import Normalizers
    from mcp_lenient.policies import Policies
    from mcp_lenient.policy import Mode, Policy
    from mcp_lenient.types import Judge, Repair, Violation

_MOST = 10_000
_MANY_PARAMETERS = 100
_TRIES = 3

Key = tuple[int, str, str | None]


@dataclass(frozen=True, slots=True)
class KnownTool:
    """A tool with what it accepts.

    Attributes:
        server: The server it was asked of, by weak reference.
        tool: The tool as that server sees it.
        target: How far down its own validator was reached.
        judge: That validator, or its published schema.
        plan: Its published schema under the policy in force.
        in_thread: Whether judging runs validators of the author that must not hold up the event loop.
        normalizers: What the author or operator declared to run on parameters before all else.
        mode: The mode of the policy in force.
    """

    server: weakref.ref[FastMCP]
    tool: Tool
    target: Target
    judge: Judge
    plan: Plan
    in_thread: bool = False
    normalizers: Normalizers = field(default_factory=dict)
    mode: Mode = "repair"

    @property
    def policy(self) -> Policy:
        """The policy in force for this tool."""
        return self.plan.policy

    @property
    def certain(self) -> bool:
        """Whether the tool's own validator judges, and not its published schema alone."""
        return self.target.certain

    async def accepts(self, arguments: Mapping[str, Any]) -> bool:
        """Whether the tool would take these arguments; slow validators leave the event loop free."""
        if self.in_thread:
            return await anyio.to_thread.run_sync(self.judge.accepts, arguments)
        return self.judge.accepts(arguments)

    @property
    def contract(self) -> ToolContract:
        """What decides about this tool's calls."""
        return ToolContract(self.plan, self.judge)

    def settled(self, arguments: Mapping[str, Any]) -> NormalizedArguments:
        """Return accepted arguments after the normalizers that were declared."""
        if isinstance(self.judge, NormalizingJudge):
            return self.judge.settled(arguments)
        return NormalizedArguments(arguments)

    async def decide_rejected(self, arguments: Mapping[str, Any]) -> Decision:
        """Decide about arguments that were not accepted; what takes long leaves the event loop free."""
        is_wide = len(self.plan.top.shape.properties) > _MANY_PARAMETERS
        if self.in_thread or is_wide or holds_many(arguments):
            return await anyio.to_thread.run_sync(self.contract.decide_rejected, arguments)
        return self.contract.decide_rejected(arguments)

    def refusal(
        self, name: str, found: tuple[Violation, ...], repairs: tuple[Repair, ...] = ()
    ) -> ToolResult:
        """The envelope for a call under this name, as this tool's callers can read it."""
        answer = envelope(name, self.plan.root, found, repairs)
        return as_result(answer, has_output_schema=self.tool.output_schema is not None)


class ToolCache:
    """Tools by server, name and version, compiled on first use and looked up afresh when it matters.

    Args:
        policies: The policies by tool name.
        not_compiled: Called with the tool's name and a sentence when part of its schema cannot be read.
    """

    def __init__(
        self,
        policies: Policies,
        not_compiled: Callable[[str, str], None],
    ) -> None:
        self._policies = policies
        self._not_compiled = not_compiled
        self._known: dict[Key, KnownTool] = {}

    def get(self, server: FastMCP, message: CallToolRequestParams) -> KnownTool | None:
        """What is known of the tool a message names; it may have been replaced since."""
        version = None if message.meta is None else _version_key(message)
        known = self._known.get((id(server), message.name, version))
        return known if known is not None and known.server() is server else None

    async def look_up(self, server: FastMCP, message: CallToolRequestParams) -> KnownTool | None:
        """Look the tool up as this client sees it now, compiled anew only where it is another one.

        Returns:
            The tool, or None where there is no such tool for this client.
        """
        for _ in range(_TRIES):
            tool = await server.get_tool(message.name, _version(message))
            if tool is None:
                return None
            target = await find_target(server, tool)
            if target.settled:
                break
        known = self.get(server, message)
        if known is not None and _same(known, target):
            return known
        compiled = self._compiled(server, message.name, target)
        if len(self._known) >= _MOST:
            self._known.pop(next(iter(self._known)))
        self._known[id(server), message.name, _version_key(message)] = compiled
        return compiled

    async def is_replaced(
        self,
        server: FastMCP,
        message: CallToolRequestParams,
        judged: KnownTool,
        arguments: Mapping[str, Any],
    ) -> bool:
        """Whether another tool stands there now, whose validator is what refused the call: no body did run."""
        fresh = await self.look_up(server, message)
        return fresh is not None and fresh is not judged and not await fresh.accepts(arguments)

    def _compiled(self, server: FastMCP, name: str, target: Target) -> KnownTool:
        read = readable(target.schema or target.tool.parameters)
        if read.unread:
            self._not_compiled(name, read.told)
        declared = combined(target.declared, self._policies.declared(name))
        policy = self._policies.of(name, target.policy, declared)
        hint = target.tool.annotations is not None and target.tool.annotations.destructive_hint is True
        destructive = hint if policy.destructive is None else policy.destructive
        judge = target.judge or SchemaJudge(read)
        plan = Plan(read, policy, destructive=destructive)
        if declared.normalizers:
            judge = NormalizingJudge(judge, declared.normalizers)
        return KnownTool(
            weakref.ref(server),
            target.tool,
            target,
            judge,
            plan,
            in_thread=target.has_validators,
            normalizers=declared.normalizers,
            mode=policy.mode,
        )


def _same(known: KnownTool, target: Target) -> bool:
    """Whether a tool looked up again is judged and described as before."""
    tool, fresh = known.tool, target.tool
    return (
        known.target.judge == target.judge
        and known.target.route == target.route
        and known.target.declared == target.declared
        and known.target.policy == target.policy
        and known.target.schema == target.schema
        and tool.annotations == fresh.annotations
        and tool.output_schema == fresh.output_schema
        and tool.parameters == fresh.parameters
    )


def _version_request(message: CallToolRequestParams) -> Any:
    own = message.meta.get("fastmcp") if message.meta else None
    return own.get("version") if isinstance(own, dict) else None


def _version_key(message: CallToolRequestParams) -> str | None:
    asked = _version_request(message)
    return None if asked is None else repr(asked)


def _version(message: CallToolRequestParams) -> VersionSpec | None:
    asked = _version_request(message)
    if isinstance(asked, str):
        return VersionSpec(eq=asked)
    if isinstance(asked, dict):
        return VersionSpec(**{bound: asked.get(bound) for bound in ("gte", "lt", "eq")})
    return None
