"""Record what becomes of calls: in the log, on the span and in the metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final

from fastmcp.server.dependencies import get_access_token

from mcp_lenient.refusal.envelope import error_code
from mcp_lenient.telemetry import otel as spans
from mcp_lenient.telemetry.events import event_fields
from mcp_lenient.telemetry.kept_texts import kept_texts
from mcp_lenient.telemetry.log import EventLog
from mcp_lenient.telemetry.otel import Metrics, trace_ids

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from fastmcp import Context
    from fastmcp.server.dependencies import FastMCPRequestContext

    from mcp_lenient.adapters.fastmcp.tools import CachedTool, Call, CallContext
    from mcp_lenient.telemetry.events import EventName
    from mcp_lenient.types import Repair, Violation


_CLIENT_IN_META: Final = "io.modelcontextprotocol/clientInfo"


def _caller(context: Context | None, mounted: str | None) -> dict[str, str | None]:
    """Return the fields of an event that say who called; what is not known, as outside a request, is None."""
    trace_id, span_id = trace_ids()
    if context is None:
        return {"mounted": mounted, "trace_id": trace_id, "span_id": span_id}
    request = context.request_context
    name, version = _client(request) if request is not None else (None, None)
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
    return None if request is None else _client(request)[0]


def _client(request: FastMCPRequestContext) -> tuple[str | None, str | None]:
    if request.session.client_params is not None:
        client = request.session.client_params.client_info
        return client.name, client.version
    # The SDK drops what a request says of its client where the capabilities beside it are ill-formed.
    client_info: Any = request.meta.get(_CLIENT_IN_META) if request.meta is not None else None
    if not isinstance(client_info, Mapping):
        return None, None
    return _text(client_info, "name"), _text(client_info, "version")


def _text(client_info: Mapping[str, Any], name: str) -> str | None:
    value = client_info.get(name)
    return value if isinstance(value, str) else None


def _subject() -> str | None:
    try:
        token = get_access_token()
    except TypeError:  # a token of a kind that FastMCP does not know
        return None
    if token is None:
        return None
    claimed = token.claims.get("sub")
    return claimed if isinstance(claimed, str) and claimed else token.subject or token.client_id


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
    """

    context: Context | None
    name: str
    started: int
    exists: bool = True
    mounted: str | None = None
    secret: frozenset[str] = frozenset()

    @classmethod
    def of(cls, context: CallContext, cached: CachedTool | None, started: int) -> CallInfo:
        """Return what is recorded of a call of this tool; None stands for a tool that does not exist."""
        own, name = context.fastmcp_context, context.message.name
        if cached is None:
            return cls(own, name, started, exists=False)
        return cls(own, name, started, mounted=cached.target.mounted, secret=cached.policy.secret)


class Telemetry:
    """The telemetry of one middleware, or of one decorated function.

    Args:
        clients: Names of clients that metrics tell apart besides the well-known ones.

    Attributes:
        names: Names under which servers are logged instead of their own.
    """

    __slots__ = ("_metrics", "log", "names")

    def __init__(self, clients: Collection[str] = ()) -> None:
        self.log = EventLog()
        self.names: dict[str, str] = {}
        self._metrics = Metrics(clients)

    def accepted(self, call: Call, cached: CachedTool, arguments: Mapping[str, Any]) -> None:
        """Record a call that was right: count it, and nothing more unless the log wants it."""
        if self._metrics.live:
            self._metrics.accepted(call.context.message.name, call.started)
        if self.log.wants("call_accepted"):
            spans.record("call_accepted", tool=call.name)
            info = CallInfo.of(call.context, cached, call.started)
            self._write("call_accepted", info, hints=kept_texts(cached.plan.root, arguments))

    def record(
        self,
        event: EventName,
        call: CallInfo,
        *,
        repairs: Sequence[Repair] = (),
        violations: Sequence[Violation] = (),
        code: str | None = None,
        kept_in: tuple[Mapping[str, Any], Mapping[str, Any]] | None = None,
    ) -> None:
        """Record a call that was not right.

        Args:
            event: What became of it.
            call: The call.
            repairs: What was changed, or would have been.
            violations: What was still wrong after repair.
            code: The envelope's code where no argument was wrong.
            kept_in: The tool's schema and the arguments that it gets, to look for texts that were kept.
        """
        if self._metrics.live:
            self._metrics.count(
                event,
                tool=call.name if call.exists else None,
                client=client_name(call.context),
                started=call.started,
                repairs=repairs,
                violations=violations,
            )
        recording, wanted = spans.recording(), self.log.wants(event)
        if not recording and not wanted:
            return
        code = error_code(violations) if violations else code
        outcome: dict[str, Any] = {"repairs": repairs, "violations": violations, "error_code": code}
        if recording:
            spans.record(event, tool=call.name, secret=call.secret, **outcome)
        if wanted:
            self._write(event, call, hints=kept_texts(*kept_in) if kept_in is not None else (), **outcome)

    def _write(self, event: EventName, call: CallInfo, **outcome: Any) -> None:
        duration = (perf_counter_ns() - call.started) // 1000
        caller = _caller(call.context, call.mounted)
        server = caller.get("server")
        if server in self.names:
            caller["server"] = self.names[server]
        self.log.emit(
            event_fields(event, call.name, caller, duration_us=duration, secret=call.secret, **outcome)
        )
