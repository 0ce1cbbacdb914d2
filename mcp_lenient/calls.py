"""One call on its way, and how it is known again: handed down to a mounted server, or made by a tool's body."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from fastmcp.exceptions import ValidationError

if TYPE_CHECKING:
    from fastmcp import FastMCP
    from fastmcp.server.middleware import CallNext, MiddlewareContext
    from fastmcp.tools import ToolResult
    from mcp_types import CallToolRequestParams

    from mcp_lenient.policy import Mode
    from mcp_lenient.tools import KnownTool
    from mcp_lenient.types import Repair

    CallContext = MiddlewareContext[CallToolRequestParams]
    Next = CallNext[CallToolRequestParams, ToolResult]


@dataclass(slots=True)
class Running:
    """A call that is being run.

    ``route`` are the mounted servers it is handed down through: there it comes by again. Every other call
    that comes by within the same request is made by a tool's body, which may leak what that call raised.
    """

    request: object
    mode: Mode
    route: list[tuple[FastMCP, str]] = field(default_factory=list)
    leaked: BaseException | None = None

    def is_handed_to(self, server: FastMCP, name: str) -> bool:
        """Whether this is the call itself, arrived at a mounted server; each arrival counts once."""
        for at, (expected, expected_name) in enumerate(self.route):
            if expected is server and expected_name == name:
                del self.route[: at + 1]
                return True
        return False

    def has_seen_to(self, mode: Mode) -> bool:
        """Whether nothing is left to do for a mounted server's own middleware of this mode."""
        return self.mode in ("repair", mode)


current: ContextVar[Running | None] = ContextVar("mcp_lenient_running", default=None)
"""The call that is being run here; None outside of one."""


class Call(NamedTuple):
    """One call on its way."""

    context: CallContext
    call_next: Next
    request: object
    within: Running | None
    started: int
    sent_as_text: tuple[Repair, ...] = ()

    @property
    def nested(self) -> bool:
        """Whether a tool's body makes it."""
        return self.within is not None


async def run(
    call: Call, known: KnownTool, context: CallContext, running: Running | None = None
) -> ToolResult:
    """Call on, so that the same call is known again on its way down and calls of the body are told apart."""
    token = current.set(running or Running(call.request, known.plan.policy.mode, list(known.target.route)))
    try:
        return await call.call_next(context)
    finally:
        current.reset(token)


async def run_raising(call: Call, known: KnownTool, within: Running) -> ToolResult:
    """Call on with what was refused; the body that made the call may leak what this raises."""
    try:
        return await run(call, known, call.context)
    except ValidationError as error:
        within.leaked = error
        raise
