"""Record what becomes of calls, whatever the host: in the log, on the span and in the metrics."""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Protocol

from mcp_lenient.refusal.envelope import error_code
from mcp_lenient.telemetry import otel as spans
from mcp_lenient.telemetry.events import event_fields
from mcp_lenient.telemetry.kept_texts import kept_texts
from mcp_lenient.telemetry.log import EventLog
from mcp_lenient.telemetry.otel import Metrics

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from mcp_lenient.rules.policy import Policy
    from mcp_lenient.telemetry.events import EventName
    from mcp_lenient.types import Repair, Violation


Sent = tuple["Mapping[str, Any]", "Mapping[str, Any]"]
"""A tool's schema, and what was sent to it."""


def shown(policy: Policy, root: Mapping[str, Any], sent: Mapping[str, Any] | None) -> Sent | None:
    """Return the schema and what was sent where the policy wants shapes logged."""
    return (root, sent) if policy.log_values == "shapes" and sent is not None else None


class RecordedCall(Protocol):
    """A call whose outcome is recorded."""

    @property
    def name(self) -> str:
        """The name by which the tool was called."""
        ...

    @property
    def started(self) -> int:
        """When it came, by ``perf_counter_ns``."""
        ...

    @property
    def exists(self) -> bool:
        """Whether the server has such a tool."""
        ...

    @property
    def secret(self) -> frozenset[str]:
        """Names of the tool's policy below which keys are not shown."""
        ...

    @property
    def sent(self) -> Sent | None:
        """The tool's schema and what was sent, where the policy wants shapes logged."""
        ...

    def client(self) -> str | None:
        """Return what the client calls itself."""
        ...

    def caller(self) -> dict[str, str | None]:
        """Return the fields of an event that say who called, over which way."""
        ...


class CallTelemetry:
    """The telemetry of one adapter.

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

    def record(
        self,
        event: EventName,
        call: RecordedCall,
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
                client=call.client(),
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

    def count_accepted(self, tool: str, started: int) -> bool:
        """Count a call that was right; return whether the log wants it as well, to be asked once for each call."""
        if self._metrics.live:
            self._metrics.accepted(tool, started)
        return self.log.wants("call_accepted")

    def write_accepted(
        self, call: RecordedCall, schema: Mapping[str, Any], arguments: Mapping[str, Any]
    ) -> None:
        """Log a call that was right.

        Args:
            call: The call.
            schema: The tool's schema, to look for texts that were kept.
            arguments: What the tool gets.
        """
        spans.record("call_accepted", tool=call.name)
        self._write("call_accepted", call, hints=kept_texts(schema, arguments))

    def _write(self, event: EventName, call: RecordedCall, **outcome: Any) -> None:
        duration = (perf_counter_ns() - call.started) // 1000
        caller = call.caller()
        server = caller.get("server")
        if server in self.names:
            caller["server"] = self.names[server]
        fields = event_fields(
            event, call.name, caller, duration_us=duration, sent=call.sent, secret=call.secret, **outcome
        )
        self.log.emit(fields)
