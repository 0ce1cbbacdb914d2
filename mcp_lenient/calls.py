"""One call on its way, and how it is known again: handed down to a mounted server, or made by a tool's body."""

from __future__ import annotations

from contextvars import ContextVar, Token
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
class Call:
    """One call on its way, and while it runs what is known of it.

    ``route`` are the mounted servers it is handed down through: there it comes by again. Every other call
    that comes by within the same request is made by a tool's body, which may leak what that call raised.
    ``parsed`` are arguments that came as one text, with the source spelling of their numbers.
    """

    context: CallContext
    call_next: Next
    request: object
    within: Call | None
    started: int
    sent_as_text: tuple[Repair, ...] = ()
    parsed: dict[str, Any] | None = None
    mode: Mode = "repair"
    route: tuple[tuple[FastMCP, str], ...] = ()
    leaked: BaseException | None = None

    @property
    def name(self) -> str:
        """The tool that is called."""
        return self.context.message.name

    @property
    def nested(self) -> bool:
        """Whether a tool's body makes it."""
        return self.within is not None

    def is_here(self, context: CallContext, server: FastMCP, name: str) -> bool:
        """Whether this is the call itself, come to another middleware of its server or to a mounted server."""
        return context.fastmcp_context is self.context.fastmcp_context or self.is_handed_to(server, name)

    def is_handed_to(self, server: FastMCP, name: str) -> bool:
        """Whether this is the call itself, arrived at a mounted server; each arrival counts once."""
        for at, (expected, expected_name) in enumerate(self.route):
            if expected is server and expected_name == name:
                self.route = self.route[at + 1 :]
                return True
        return False

    def enters(self, known: KnownTool) -> Token[Call | None]:
        """Go on down, so that the call is known again on its way and calls of the body are told apart.

        Returns:
            What :data:`current` is reset with on the way back.
        """
        self.mode = known.mode
        self.route = known.target.route
        return current.set(self)

    def is_seen_to(self, mode: Mode) -> bool:
        """Whether nothing is left to do for a mounted server's own middleware of this mode."""
        return self.mode in ("repair", mode)


current: ContextVar[Call | None] = ContextVar("mcp_lenient_call", default=None)
"""The call that is being run here; None outside of one."""


async def run(call: Call, known: KnownTool, context: CallContext) -> ToolResult:
    """Call on with what is in the context."""
    token = call.enters(known)
    try:
        return await call.call_next(context)
    finally:
        current.reset(token)


async def run_raising(call: Call, known: KnownTool, within: Call) -> ToolResult:
    """Call on with what was refused; the body that made the call may leak what this raises."""
    try:
        return await run(call, known, call.context)
    except ValidationError as error:
        within.leaked = error
        raise
