"""What is told of a call: a line in the log, marks on its span, and the metrics."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from mcp_lenient import spans
from mcp_lenient.caller import call_facts, client_name
from mcp_lenient.envelope import error_code
from mcp_lenient.event_fields import event_fields
from mcp_lenient.eventlog import EventLog
from mcp_lenient.hints import kept_texts
from mcp_lenient.metrics import Metrics

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from fastmcp import Context

    from mcp_lenient.calls import Call
    from mcp_lenient.event_fields import EventName
    from mcp_lenient.tools import KnownTool
    from mcp_lenient.types import Repair, Violation


@dataclass(frozen=True, slots=True)
class Told:
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

    def accepted(self, call: Call, known: KnownTool, arguments: Mapping[str, Any]) -> None:
        """Tell of a call that was right: count it, and nothing more unless the log wants it."""
        if self._metrics.live:
            self._metrics.accepted(call.context.message.name, call.started)
        if self.log.wants("call_accepted"):
            name = call.context.message.name
            spans.record("call_accepted", tool=name)
            told = Told(
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
        told: Told,
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

    def _write(self, event: EventName, told: Told, **found: Any) -> None:
        duration = (perf_counter_ns() - told.started) // 1000
        facts = call_facts(told.context, told.name, duration_us=duration, mounted=told.mounted)
        if facts.server in self.names:
            facts = facts._replace(server=self.names[facts.server])
        self.log.emit(event_fields(event, facts, secret=told.secret, **found))
