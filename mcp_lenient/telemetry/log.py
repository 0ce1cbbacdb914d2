"""Record the outcomes of calls on any host: in the log, on the span and in the metrics.

A log that fails never fails a call, and nothing is written to stdout.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final, Literal

from mcp_lenient.engine.contract import Decision, Fate
from mcp_lenient.refusal.envelope import error_code
from mcp_lenient.rules.dispatchers import Via
from mcp_lenient.telemetry import otel as spans
from mcp_lenient.telemetry.events import LEVELS, CallEvent, event_fields, fault_of, timestamp
from mcp_lenient.telemetry.json_texts import json_texts
from mcp_lenient.telemetry.otel import Metrics
from mcp_lenient.telemetry.sinks import EVENTS, LineLogger, Stderr, StderrFullError, destination, json_line
from mcp_lenient.values.display import LONGEST_TEXT, escaped_pointer, shown, shown_key, shown_name
from mcp_lenient.values.markup import leaked_markup

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from mcp_lenient.engine.reader import Plan
    from mcp_lenient.rules.policy import Mode
    from mcp_lenient.telemetry.events import EventName
    from mcp_lenient.telemetry.sinks import Destination, Silence
    from mcp_lenient.types import Repair, Violation

LibraryEventName = Literal[
    "tool_not_compiled",
    "hook_unavailable",
    "not_first",
    "definition_unused",
    "definitions_kept",
    "definitions_refused",
    "form_unavailable",
    "list_failed",
    "server_unavailable",
    "repeats_unavailable",
    "markup_leaked",
]
"""Events about the library itself."""
_OF_TOOLS: Final = frozenset({"tool_not_compiled", "form_unavailable", "markup_leaked"})

_LOGGER: Final = "mcp_lenient"
_STANDARD: Final = logging.getLogger(_LOGGER)
_DEFAULT_LEVEL: Final = logging.INFO
_MAX_SUBJECTS: Final = 1000
_MAX_REASON: Final = 512


class _Application:
    """The application's structlog."""

    _config: dict[str, Any] | None = None

    def wants(self, event: EventName) -> bool:
        """Return whether the application's logger would write an event."""
        try:
            self._bind()
            return self._is_enabled is None or bool(self._is_enabled(LEVELS[event]))
        except Exception:  # noqa: BLE001 - `write` gets the same failure, and it is reported
            return True

    def write(self, level: str, fields: Mapping[str, Any]) -> None:
        """Write one event."""
        self._bind()
        rest = dict(fields)
        getattr(self._logger, level)(rest.pop("event"), **rest)

    def _bind(self) -> None:
        """Bind the logger, again only if its configuration changed, as binding is slow."""
        import structlog

        config = structlog.get_config()
        if config == self._config:
            return
        logger = structlog.get_logger(_LOGGER).bind()
        if isinstance(logger, structlog.stdlib.AsyncBoundLogger):
            logger = logger.sync_bl
        # Looked up on the class, since structlog's plain BoundLogger treats every name as a log method.
        checks = (name for name in ("is_enabled_for", "isEnabledFor") if hasattr(type(logger), name))
        self._is_enabled = next((getattr(logger, name) for name in checks), None)
        self._logger, self._config = logger, config


class _OwnLines:
    """Lines of JSON for the handlers of the standard logger, or else for stderr."""

    _stderr: Final = Stderr()
    _sink: object = None

    def wants(self, event: EventName) -> bool:
        """Return whether the level of an event is written."""
        if _STANDARD.handlers:
            return _STANDARD.isEnabledFor(LEVELS[event])
        return LEVELS[event] >= (_STANDARD.level or _DEFAULT_LEVEL)

    def write(self, level: str, fields: Mapping[str, Any]) -> None:
        """Write one event."""
        self.warm()
        self._logger.write(level, fields)

    def warm(self) -> None:
        """Load what writes the lines."""
        sink = _STANDARD if _STANDARD.handlers else self._stderr
        if self._sink is not sink:
            self._logger, self._sink = LineLogger(sink, json_line), sink


class EventLog:
    """The log of one middleware.

    Events go to the first of these that is configured: :func:`mcp_lenient.configure_logging`; the application's
    structlog; the handlers of the standard logger ``mcp_lenient``, one record each; stderr, as JSON lines from level
    INFO on or from the level of the standard logger. This is decided for each event, so a later
    ``structlog.configure`` takes effect.

    An event that cannot be written is dropped, and the first failure is reported to the standard logger
    ``mcp_lenient``. A full stderr pipe does not block.
    """

    def __init__(self) -> None:
        self._application = _Application()
        self._lines = _OwnLines()
        self._failed = False
        self._warned: set[tuple[str, str]] = set()

    def wants(self, event: EventName) -> bool:
        """Return whether an event of this name would be written; call it once per tool call, before building one."""
        return self._destination().wants(event)

    def warm(self) -> None:
        """Load what the first event that is written would load."""
        if self._destination() is self._lines and self.wants("call_rejected"):
            self._lines.warm()

    def _destination(self) -> Destination | Silence | _Application | _OwnLines:
        # Runs on every accepted call, so it has to be fast.
        if EVENTS.handlers and (chosen := destination()) is not None:
            return chosen
        # Not imported here: another thread may be in the middle of that.
        is_configured = getattr(sys.modules.get("structlog"), "is_configured", None)
        return self._application if is_configured is not None and is_configured() else self._lines

    def emit(self, fields: Mapping[str, Any]) -> None:
        """Write one event, as :func:`mcp_lenient.telemetry.events.event_fields` returns it, at its level."""
        self._write(logging.getLevelName(LEVELS[fields["event"]]).lower(), fields)

    def warn_once(self, event: LibraryEventName, subject: str, reason: str) -> None:
        """Warn about a limitation of a tool or feature, once per subject and for at most 1000 subjects."""
        key = (event, shown(subject, LONGEST_TEXT))
        if key not in self._warned and len(self._warned) < _MAX_SUBJECTS:
            self._warned.add(key)
            self.warn_each_time(event, subject, reason)

    def warn_of_markup(self, tool: str, key: str) -> None:
        """Warn about a text that goes on with the markup of its call, which runs."""
        reason = f"the text of {shown_key(key)!r} goes on with the markup of the call"
        self.warn_each_time("markup_leaked", tool, reason)

    def warn_each_time(self, event: LibraryEventName, subject: str, reason: str) -> None:
        """Warn about a limitation, each time; the reason is one sentence without values."""
        if not self.wants("call_rejected"):  # a warning too
            return
        fields = {
            "event": event,
            "timestamp": timestamp(),
            "subject": shown_name(subject) if event in _OF_TOOLS else shown(subject, LONGEST_TEXT),
            "reason": shown(reason, _MAX_REASON),
        }
        self._write("warning", fields)

    def _write(self, level: str, fields: Mapping[str, Any]) -> None:
        for write in (self._destination().write, spans.emit_record):
            try:
                write(level, fields)
            except StderrFullError:
                pass  # the standard logger would report it to the same stream
            except Exception as error:  # noqa: BLE001 - whatever the application's processors and streams raise
                self._report(type(error).__name__)

    def _report(self, error: str) -> None:
        if not self._failed:
            self._failed = True
            _warn(
                "A log event could not be written: the log raised %s. Further failures are not reported.",
                error,
            )


def _warn(message: str, error: str) -> None:
    with suppress(Exception):  # the standard logger may lead to the same broken sink
        _STANDARD.warning(message, error)


@dataclass(slots=True)
class HostCall:
    """A call as received.

    Attributes:
        name: The name of the called tool.
        arguments: The arguments as sent: an object, None, or anything else.
        started: The time of arrival, by ``perf_counter_ns``; now when left out.
        who: Returns the event fields that identify the caller; only called if they are needed. By default those of the
            current span.
        repairs: What was repaired of the call before, such as its tool's name.
        via: The tool that the call was made through; None for a call of its own.
    """

    name: str
    arguments: Any
    started: int = field(default_factory=perf_counter_ns)
    who: Callable[[], Mapping[str, str | None]] = spans.trace_fields
    repairs: tuple[Repair, ...] = ()
    via: Via | None = None

    @property
    def sent(self) -> Mapping[str, Any]:
        """The arguments; empty if they are no object."""
        return self.arguments if isinstance(self.arguments, Mapping) else {}


_EVENTS: Final[Mapping[Fate, EventName]] = {
    "repaired": "call_repaired",
    "refused": "call_rejected",
    "forwarded": "call_forwarded",
    "observed": "call_observed",
}
"""The events of decisions about calls that are not right."""


class DecisionHook:
    """The function of an application that is called with each decision.

    Args:
        function: Called with a :class:`mcp_lenient.Decision`. What it raises fails no call: the first error is
            reported to the standard logger ``mcp_lenient``.
        values: Whether decisions hold arguments, messages, received values and fixes.

    Raises:
        TypeError: When it is not a function, or one whose body a call does not run: a coroutine or generator function.
    """

    def __init__(self, function: Callable[[Decision], object], *, values: bool) -> None:
        if not callable(function) or _only_begins(function) or _only_begins(type(function).__call__):
            msg = f"on_decision must be a function that is not async, got {function!r}."
            raise TypeError(msg)
        self._function = function
        self._values = values
        self._failed = False

    def __call__(self, decision: Decision, secret: frozenset[str] = frozenset()) -> None:
        """Call the function with a decision; without values where they are not wanted."""
        try:
            # A copy: what the function changes of it must not reach the tool or the answer.
            self._function(deepcopy(decision) if self._values else _without_values(decision, secret))
        except Exception as error:  # noqa: BLE001 - whatever the application's function raises
            if not self._failed:
                self._failed = True
                _warn("on_decision raised %s. Further errors are not reported.", type(error).__name__)


def _only_begins(function: object) -> bool:
    """Return whether a call of this function does not run its body to the end."""
    return iscoroutinefunction(function) or isgeneratorfunction(function) or isasyncgenfunction(function)


def _without_values(decision: Decision, secret: frozenset[str]) -> Decision:
    return replace(
        decision,
        arguments={},
        repairs=tuple(
            repair._replace(pointer=escaped_pointer(repair.pointer, secret)) for repair in decision.repairs
        ),
        violations=tuple(
            replace(
                violation,
                pointer=escaped_pointer(violation.pointer, secret),
                parameter=None if violation.parameter is None else shown_key(violation.parameter),
                message="",
                received_value=None,
                has_received_value=False,
                allowed_values=deepcopy(violation.allowed_values),  # they are those of the schema
                fixes=(),
            )
            for violation in decision.violations
        ),
        tool=None if decision.tool is None else shown_name(decision.tool),
    )


class CallTelemetry:
    """The telemetry of one adapter.

    Args:
        clients: Names of clients that metrics distinguish besides the well-known ones.
        own_spans: Whether a call gets a span of its own if none is recorded yet.
        hook: Called with each decision.

    Attributes:
        names: Names under which servers are logged instead of their own.
    """

    def __init__(
        self, clients: Collection[str] = (), *, own_spans: bool = False, hook: DecisionHook | None = None
    ) -> None:
        self._hook = hook
        self.log = EventLog()
        self.names: dict[str, str] = {}
        self._metrics = Metrics(clients)
        self._own_spans = own_spans

    def record_decision(
        self, call: HostCall, plan: Plan | None, decision: Decision, *, code: str | None = None, **facts: Any
    ) -> None:
        """Record the decision about a call that was not right, and pass it to the application's hook.

        Args:
            call: The call.
            plan: The plan of its tool; None if the server has no such tool.
            decision: The decision.
            code: The envelope's code if no argument was wrong.
            facts: Other parts of the event, as :func:`mcp_lenient.telemetry.events.event_fields` takes them.
        """
        received = decision.arguments if decision.fate == "repaired" else None
        if self._hook is not None:
            arguments = call.sent if received is None else received
            self._hook(decision.plain(arguments, call.name), _secret(plan))
        facts |= {"repairs": decision.repairs, "violations": decision.violations, "code": code}
        self.record(_EVENTS[decision.fate], call, plan, received=received, **facts)

    def record(
        self,
        event: EventName,
        call: HostCall,
        plan: Plan | None,
        *,
        repairs: Sequence[Repair] = (),
        violations: Sequence[Violation] = (),
        code: str | None = None,
        received: Mapping[str, Any] | None = None,
        **facts: Any,
    ) -> None:
        """Record a call that was not right.

        Args:
            event: What happened to it.
            call: The call.
            plan: The plan of its tool; None if the server has no such tool.
            repairs: The changes made, or that would have been made.
            violations: The errors left after repair.
            code: The envelope's code if no argument was wrong.
            received: The arguments that the tool gets, to look for texts that were kept.
            facts: Other parts of the event, as :func:`mcp_lenient.telemetry.events.event_fields` takes them.
        """
        for key in leaked_markup(received) if received else ():
            self.log.warn_of_markup(call.name, key)
        if self._metrics.live:
            self._metrics.count(
                event,
                tool=None if plan is None else call.name,
                client=call.who().get("client_name"),
                started=call.started,
                repairs=repairs,
                violations=violations,
                fault=fault_of(event, violations, code, facts.get("repeated", 1)),
            )
        recording, wanted = spans.recording(), self.log.wants(event)
        if not (recording or wanted or self._own_spans):
            return
        facts |= {"repairs": repairs, "violations": violations}
        facts["error_code"] = error_code(violations) if violations else code
        with nullcontext() if recording or not self._own_spans else spans.own_span(call.name):
            fields = self._fields(event, call, plan, received, **facts)
            spans.record(fields, call.name)
            if wanted:
                self.log.emit(fields)

    def count_accepted(self, tool: str, started: int, arguments: Mapping[str, Any], mode: Mode) -> bool:
        """Count a call that was right; return whether the log wants it as well, to be asked once for each call."""
        if self._hook is not None:
            self._hook(Decision("accepted", arguments, (), (), mode, tool))
        if self._metrics.live:
            self._metrics.count("call_accepted", tool=tool, started=started)
        for key in leaked_markup(arguments):
            self.log.warn_of_markup(tool, key)
        return self.log.wants("call_accepted")

    def write_accepted(self, call: HostCall, plan: Plan) -> None:
        """Log a call that was right; the tool's schema and what was sent show which texts were kept."""
        fields = self._fields("call_accepted", call, plan, call.sent)
        spans.record(fields, call.name)
        self.log.emit(fields)

    def _fields(
        self,
        event: EventName,
        call: HostCall,
        plan: Plan | None,
        received: Mapping[str, Any] | None,
        **facts: Any,
    ) -> dict[str, Any]:
        caller = {name: text for name, text in call.who().items() if name in CallEvent.model_fields}
        caller["server"] = self.names.get(caller.get("server") or "", caller.get("server"))
        if plan is not None:
            facts["hints"] = () if received is None else json_texts(plan.top, received)
            facts["shapes_from"] = (plan.top, call.sent) if plan.policy.log_values == "shapes" else None
        duration = (perf_counter_ns() - call.started) // 1000
        return event_fields(event, call.name, caller, duration_us=duration, secret=_secret(plan), **facts)


def _secret(plan: Plan | None) -> frozenset[str]:
    """Return names of the tool's policy below which keys are not shown."""
    return frozenset() if plan is None else frozenset(plan.policy.secret)
