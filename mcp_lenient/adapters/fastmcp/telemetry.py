"""What happened to a call, told to the log, its span and the metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final

from fastmcp.server.dependencies import get_access_token

from mcp_lenient.refusal.envelope import error_code
from mcp_lenient.telemetry import spans
from mcp_lenient.telemetry.events import event_fields
from mcp_lenient.telemetry.kept_texts import kept_texts
from mcp_lenient.telemetry.log import EventLog
from mcp_lenient.telemetry.metrics import Metrics
from mcp_lenient.telemetry.spans import trace_ids

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from fastmcp import Context
    from fastmcp.server.dependencies import FastMCPRequestContext

    from mcp_lenient.adapters.fastmcp.tools import CachedTool, Call
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
    """What the client calls itself, at the handshake or with the request; None outside of a request."""
    request = context.request_context if context is not None else None
    return None if request is None else _client(request)[0]


def _client(request: FastMCPRequestContext) -> tuple[str | None, str | None]:
    if request.session.client_params is not None:
        client = request.session.client_params.client_info
        return client.name, client.version
    # The SDK drops what a request says of its client where the capabilities beside it are ill-formed.
    told: Any = request.meta.get(_CLIENT_IN_META) if request.meta is not None else None
    return (_text(told, "name"), _text(told, "version")) if isinstance(told, Mapping) else (None, None)


def _text(told: Mapping[str, Any], name: str) -> str | None:
    value = told.get(name)
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
    """A call that is told of.

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

    def accepted(self, call: Call, known: CachedTool, arguments: Mapping[str, Any]) -> None:
        """Tell of a call that was right: count it, and nothing more unless the log wants it."""
        if self._metrics.live:
            self._metrics.accepted(call.context.message.name, call.started)
        if self.log.wants("call_accepted"):
            name = call.context.message.name
            spans.record("call_accepted", tool=name)
            told = CallInfo(
                call.context.fastmcp_context,
                name,
                call.started,
                mounted=known.target.mounted,
                secret=known.policy.secret,
            )
            self._write("call_accepted", told, hints=kept_texts(known.plan.root, arguments))

    def tell(
        self,
        event: EventName,
        told: CallInfo,
        *,
        repairs: Sequence[Repair] = (),
        found: Sequence[Violation] = (),
        code: str | None = None,
        kept_in: tuple[Mapping[str, Any], Mapping[str, Any]] | None = None,
    ) -> None:
        """Tell of a call that was not right.

        Args:
            event: What became of it.
            told: The call.
            repairs: What was changed, or would have been.
            found: What was still wrong after repair.
            code: The envelope's code where nothing was found wrong with an argument.
            kept_in: The tool's schema and the arguments that it gets, to look for texts that were kept.
        """
        if self._metrics.live:
            self._metrics.count(
                event,
                tool=told.name if told.exists else None,
                client=client_name(told.context),
                started=told.started,
                repairs=repairs,
                violations=found,
            )
        recording, wanted = spans.recording(), self.log.wants(event)
        if not recording and not wanted:
            return
        code = error_code(found) if found else code
        if recording:
            spans.record(
                event, repairs=repairs, violations=found, error_code=code, tool=told.name, secret=told.secret
            )
        if wanted:
            hints = kept_texts(*kept_in) if kept_in is not None else ()
            self._write(event, told, hints=hints, error_code=code, violations=found, repairs=repairs)

    def _write(self, event: EventName, told: CallInfo, **found: Any) -> None:
        duration = (perf_counter_ns() - told.started) // 1000
        caller = _caller(told.context, told.mounted)
        server = caller.get("server")
        if server in self.names:
            caller["server"] = self.names[server]
        self.log.emit(
            event_fields(event, told.name, caller, duration_us=duration, secret=told.secret, **found)
        )
