"""Record what becomes of calls: in the log, on the span and in the metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastmcp.server.dependencies import get_access_token

from mcp_lenient.adapters.fastmcp.compat import host
from mcp_lenient.telemetry import otel as spans
from mcp_lenient.telemetry.calls import CallTelemetry, Sent, shown
from mcp_lenient.telemetry.otel import trace_ids

if TYPE_CHECKING:
    from fastmcp import Context

    from mcp_lenient.adapters.fastmcp.tools import CachedTool, Call, CallContext
    from mcp_lenient.telemetry.calls import RecordedCall
    from mcp_lenient.telemetry.events import EventName


def _caller(context: Context | None, mounted: str | None) -> dict[str, str | None]:
    """Return the fields of an event that say who called; what is not known, as outside a request, is None."""
    trace_id, span_id = trace_ids()
    if context is None:
        return {"mounted": mounted, "trace_id": trace_id, "span_id": span_id}
    request = context.request_context
    name, version = host.client_of(request) if request is not None else (None, None)
    return {
        "server": context.fastmcp.name,
        "mounted": mounted,
        "client_name": name,
        "client_version": version,
        "subject": _subject(),
        "session_id": context.session_id if request else None,
        "request_id": str(request.request_id) if request and request.request_id is not None else None,
        "transport": context.transport,
        "trace_id": trace_id,
        "span_id": span_id,
    }


def client_name(context: Context | None) -> str | None:
    """Return what the client calls itself, at the handshake or in the request; None outside of a request."""
    request = context.request_context if context is not None else None
    return None if request is None else host.client_of(request)[0]


def _subject() -> str | None:
    try:
        token = get_access_token()
    except TypeError:  # a token of a kind that FastMCP does not know
        return None
    if token is None:
        return None
    claimed = token.claims.get("sub")
    return (
        claimed
        if isinstance(claimed, str) and claimed
        else getattr(token, "subject", None) or token.client_id
    )


@dataclass(frozen=True, slots=True)
class CallInfo:
    """A call whose outcome is recorded.

    Attributes:
        context: Its context; None outside of a server.
        name: The name by which the tool was called.
        started: When it came, by ``perf_counter_ns``.
        exists: Whether the server has such a tool.
        mounted: The path of mounted servers down to the tool's own.
        secret: Names of the tool's policy below which keys are not shown.
        sent: The tool's schema and what was sent, where the policy wants shapes logged.
    """

    context: Context | None
    name: str
    started: int
    exists: bool = True
    mounted: str | None = None
    secret: frozenset[str] = frozenset()
    sent: Sent | None = None

    @classmethod
    def of(cls, context: CallContext, cached: CachedTool | None, started: int) -> CallInfo:
        """Return what is recorded of a call of this tool; None stands for a tool that does not exist."""
        own, name = context.fastmcp_context, context.message.name
        if cached is None:
            return cls(own, name, started, exists=False)
        return cls(
            own,
            name,
            started,
            mounted=cached.target.mounted,
            secret=cached.policy.secret,
            sent=shown(cached.policy, cached.plan.root, context.message.arguments),
        )

    def client(self) -> str | None:
        """Return what the client calls itself."""
        return client_name(self.context)

    def caller(self) -> dict[str, str | None]:
        """Return the fields of an event that say who called, over which way."""
        return _caller(self.context, self.mounted)


class Telemetry(CallTelemetry):
    """The telemetry of one middleware, or of one decorated function."""

    __slots__ = ()

    def accepted(self, call: Call, cached: CachedTool, arguments: Mapping[str, Any]) -> None:
        """Record a call that was right; its context is read only where somebody wants it."""
        if self.count_accepted(call.context.message.name, call.started):
            self.write_accepted(CallInfo.of(call.context, cached, call.started), cached.plan.root, arguments)

    def record(self, event: EventName, call: RecordedCall, **outcome: Any) -> None:
        """Record a call that was not right, on a span of its own where FastMCP has none for it yet."""
        if host.SPAN_IS_INSIDE and not spans.recording():
            with spans.own_span(call.name):
                super().record(event, call, **outcome)
        else:
            super().record(event, call, **outcome)
