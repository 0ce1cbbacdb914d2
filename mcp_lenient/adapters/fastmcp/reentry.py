"""Calls within calls: a mounted server's middleware sees a call again, and a tool's body makes calls of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar, Token
from dataclasses import dataclass, field, replace
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from fastmcp import FastMCP

from mcp_lenient.adapters.fastmcp import compat
from mcp_lenient.adapters.fastmcp.code_mode import CodeRun
from mcp_lenient.adapters.fastmcp.compat.running import author_transform, origin

if TYPE_CHECKING:
    from fastmcp.server.middleware import CallNext, MiddlewareContext
    from fastmcp.tools import ToolResult
    from mcp.types import CallToolRequestParams

    from mcp_lenient.adapters.allowance import Allowance
    from mcp_lenient.adapters.dispatchers import DispatcherDecision
    from mcp_lenient.adapters.fastmcp.compat.running import Origin
    from mcp_lenient.adapters.fastmcp.tools import ServerSource
    from mcp_lenient.adapters.gate import Gate, HostCall
    from mcp_lenient.adapters.snapshot import Snapshot
    from mcp_lenient.engine.contract import Contract, Decision
    from mcp_lenient.rules.policy import Mode, Policy

    CallContext = MiddlewareContext[CallToolRequestParams]
    Next = CallNext[CallToolRequestParams, ToolResult]


@dataclass(slots=True)
class Pending:
    """What was decided about a call, until it is answered.

    Attributes:
        message: The call as the rewriter passed it on.
        host_call: The call as it was sent.
        source: The tools of its server.
        decision: The decision; a refusal is recorded when it is answered.
        name: The tool's name in it, which other middleware may change in place.
        sent: The refused arguments.
        allowance: How far the call could be changed; None if it was accepted.
        is_refused: Whether the answer is an envelope.
        decided: The time of the decision, by ``perf_counter_ns``.
    """

    message: CallToolRequestParams
    host_call: HostCall
    source: ServerSource
    decision: Decision
    name: str
    sent: Snapshot | None = None
    allowance: Allowance | None = None
    is_refused: bool = False
    decided: int = field(default_factory=perf_counter_ns)

    def is_as_passed_on(self, message: CallToolRequestParams) -> bool:
        """Return whether no other middleware has changed the call."""
        return message.name == self.name and self.has_arguments(message)

    def has_arguments(self, message: CallToolRequestParams) -> bool:
        """Return whether a message has the refused arguments; a mounted server has another name for the tool."""
        return self.sent is None or self.sent.shows(message.arguments)


@dataclass(slots=True)
class Call:
    """One call, and its state while it runs.

    Attributes:
        context: FastMCP's context of it.
        call_next: What runs the tool.
        request: The request it belongs to.
        parent: The call whose tool's body makes this one.
        mode: The mode of the policy in force.
        arrivals: How many mounted servers it has reached on its tool's route, where it passes this middleware again. Every
            other call in the same request is made by a tool's body, or by other middleware.
        leaked: The exception of such a call, which the body may let through.
        owner: The rewriter that decides about it.
        accepted: When a call that goes straight on has arrived, and was decided, by ``perf_counter_ns``.
        pending: What was decided of any other, for the place that answers; of an accepted one that FastMCP refuses as well.
        dispatched: The decision about the call inside this one, until that is made.
        inside: The call as the dispatcher was sent it, if this is the one inside a dispatcher's call.
        contract: The contract of the tool that runs.
        code: The code that made this call.
        runs: The code that this call runs.
        is_below: Whether a dispatcher's call names this one, so that others have seen it there.
        is_recorded: Whether it is recorded what has run.
        is_decided_again: Whether its tool seemed to be replaced, so that it was decided again.
    """

    context: CallContext
    call_next: Next
    request: object
    parent: Call | None
    mode: Mode = "repair"
    arrivals: int = 0
    leaked: BaseException | None = None
    owner: object = None
    accepted: tuple[int, int] = (0, 0)
    pending: Pending | None = None
    dispatched: DispatcherDecision | None = None
    inside: HostCall | None = None
    contract: Contract | None = None
    code: CodeRun | None = None
    runs: CodeRun | None = None
    is_below: bool = False
    is_recorded: bool = False
    is_decided_again: bool = False
    _origin: Origin | None = None

    async def record(self, gate: Gate, pending: Pending) -> None:
        """Record once what has run, or was passed on; a refusal is recorded when it is answered."""
        if self.is_recorded or pending.decision.fate == "refused":
            return
        self.is_recorded = True
        started = pending.host_call.started + perf_counter_ns() - pending.decided
        await gate.ran(replace(pending.host_call, started=started), pending.decision)

    def is_answered_as_unknown(self, error: Exception, name: str) -> bool:
        """Return whether other middleware answers this call as one of a tool that is not there, which is not recorded yet."""
        return self.parent is None and not self.is_recorded and compat.says_unknown_itself(error, name)

    def consume_inside(self, name: str, arguments: Mapping[str, Any]) -> DispatcherDecision | None:
        """Return the decision about the call inside this one, if it is this call; it is made once."""
        dispatched = self.dispatched
        if (
            dispatched is None
            or name != dispatched.call.name
            or not _is_same(dispatched.passed_on, arguments)
        ):
            return None
        self.dispatched = None
        return dispatched

    def consume_hop(self, server: FastMCP, name: str) -> bool:
        """Return whether this call has arrived at a mounted server on its route; each arrival counts once.

        Other middleware may pass it on again, which counts anew.
        """
        route = () if self.contract is None else self.contract.tool.route
        if (server, name) not in route:
            return False
        arrivals = route.index((server, name)) + 1
        has_arrived = arrivals > self.arrivals or origin() == "client"
        self.arrivals = max(arrivals, self.arrivals)
        return has_arrived

    @property
    def is_answered(self) -> bool:
        """Whether a refusal is its answer; other callers expect an exception."""
        is_clients = self.parent is None and self.request is not None and self.origin == "client"
        return is_clients and author_transform() is None

    @property
    def is_by_code(self) -> bool:
        """Whether code within a request makes it, such as a tool's body or a guard, also in a task of its own."""
        return self.origin in ("body", "other")

    @property
    def origin(self) -> Origin:
        """Who makes it, as seen from within the call."""
        if self._origin is None:
            self._origin = origin()
        return self._origin

    def enter(self, contract: Contract) -> Token[Call | None]:
        """Make this the current call, to distinguish re-entries from calls of the tool's body.

        Returns:
            What :data:`current` is reset with on the way back.
        """
        self.contract, self.mode, self.arrivals = contract, contract.mode, 0
        if contract.tool.runs_code and contract.mode == "repair":
            self.runs = self.runs or CodeRun(self.context.message.name)
        return current.set(self)

    def is_rewriting(self, function: Callable[..., Any]) -> bool:
        """Return whether this is a call of a function that could be rewritten, and not another that led to it."""
        is_refused = self.pending is not None and self.pending.decision.fate == "refused"
        return self._function is function and not is_refused

    def refuses(self, function: Callable[..., Any]) -> bool:
        """Return whether this is a refused call of a function, and not another that led to it."""
        return self._function is function and not self.is_rewriting(function)

    def serves(self, server: FastMCP) -> bool:
        """Return whether this is a call of a server's tool."""
        context = self.context.fastmcp_context
        return context is not None and context.fastmcp is server

    def calls(self, name: str) -> bool:
        """Return whether this is the call of a dispatcher that names a tool."""
        form = None if self.contract is None else self.contract.policy.dispatches
        return form is not None and form.named(self.context.message.arguments or {}) == name

    @property
    def runs_authors_body(self) -> bool:
        """Whether its tool is a function, or a type of tool, of an author's."""
        if self._function is not None:
            return not self.passes_on()
        record = None if self.contract is None else self.contract.tool.record
        return not type(record).__module__.startswith("fastmcp.")

    def passes_on(self) -> bool:
        """Return whether the body passes the client's call on to another tool, and the result back."""
        return compat.passes_on(self._function)

    @property
    def _function(self) -> Callable[..., Any] | None:
        return None if self.contract is None else self.contract.tool.function


current: ContextVar[Call | None] = ContextVar("mcp_lenient_call", default=None)
"""The call that is being run here; None outside of one."""


def entered(context: CallContext, call_next: Next, policy_for: Callable[[str], Policy]) -> Call | None:
    """Return a call that enters the middleware, with its parent; None if another middleware handles it already."""
    fastmcp_context, running = context.fastmcp_context, current.get()
    if fastmcp_context is None:
        return None
    request, parent, is_below = fastmcp_context.request_context, None, False
    if running is not None and running.request is not request:
        # A body that is a client of its own may have checked the call as well.
        is_below = running.runs_authors_body
    elif running is not None:
        name = context.message.name
        dispatched = running.consume_inside(name, context.message.arguments or {})
        if dispatched is not None:
            if dispatched.status != "refused" or dispatched.inner.contract is None:
                return None
            parent = None if running.passes_on() else running
            return Call(context, call_next, request, parent, inside=dispatched.call, is_below=True)
        is_within = fastmcp_context is not running.context.fastmcp_context
        if is_within and not running.consume_hop(fastmcp_context.fastmcp, name):
            if running.runs is not None and origin() == "client":
                return Call(context, call_next, request, None, code=running.runs)
            parent, is_below = None if running.passes_on() else running, running.calls(name)
        # A mounted server's own middleware of the same mode has nothing left to do.
        elif running.mode in ("repair", policy_for(name).mode):
            return None
    return Call(context, call_next, request, parent, is_below=is_below)


def _is_same(one: object, other: object) -> bool:
    try:
        return one == other
    except RecursionError:  # nested deeper than Python compares
        return False


async def pass_on(call: Call, contract: Contract | None, context: CallContext, call_next: Next) -> ToolResult:
    """Pass a call on as the current one."""
    token = current.set(call) if contract is None else call.enter(contract)
    try:
        return await call_next(context)
    finally:
        current.reset(token)
