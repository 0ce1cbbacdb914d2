"""OpenTelemetry metrics, log records and span attributes of calls. Without an SDK nothing happens."""

from __future__ import annotations

import json
import os
import sys
from datetime import datetime
from functools import lru_cache
from random import getrandbits
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from opentelemetry import trace
from opentelemetry.baggage import get_baggage
from opentelemetry.baggage.propagation import W3CBaggagePropagator
from opentelemetry.context import get_current
from opentelemetry.trace import Status, StatusCode

from mcp_lenient.values.display import HIDDEN, shown_name

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from contextlib import AbstractContextManager

    from opentelemetry._logs import Logger, LoggerProvider

    from mcp_lenient.telemetry.events import EventName, FailureKind
    from mcp_lenient.types import Repair, Violation


def recording() -> bool:
    """Return whether there is a span to record on; check it before computing attributes."""
    return trace.get_current_span().is_recording()


def record(fields: Mapping[str, Any], tool: str) -> None:
    """Record an event on the current span: attributes to search by, and one span event.

    A rejected call marks the span as failed, since a result with ``isError`` does not. ``fields`` are those of the log,
    without values; ``tool`` is the name as it was sent, which FastMCP has put into the span.
    """
    span = trace.get_current_span()
    if not span.is_recording():
        return

    def listed(name: str, key: str) -> list[str]:
        return [entry[key] for entry in fields.get(name, ())]

    event, code = fields["event"], fields.get("error_code")
    outcome = _attributes(
        outcome=event.removeprefix("call_"),
        repairs=listed("repairs", "rule"),
        error_code=code,
        fault=fields.get("fault"),
    )
    details = _attributes(
        repair_pointers=listed("repairs", "pointer"),
        violations=listed("violations", "code"),
        violation_pointers=listed("violations", "pointer"),
    )
    span.set_attributes(outcome)
    span.add_event(f"mcp_lenient.{event}", {**outcome, **details})
    if fields["tool"] != tool:
        _mask(span, tool)
    if event == "call_rejected":
        # FastMCP sets the tool name only when it runs the tool.
        span.set_attribute("gen_ai.tool.name", fields["tool"])
        span.set_status(Status(StatusCode.ERROR, code))


def _attributes(**values: Any) -> dict[str, Any]:
    return {f"mcp_lenient.{name}": value for name, value in values.items() if value}


def _mask(span: trace.Span, tool: str) -> None:
    """Mask a tool name that may contain a value in FastMCP's span name and attributes."""
    name, attributes = getattr(span, "name", None), getattr(span, "attributes", None)
    if isinstance(name, str) and tool in name:
        span.update_name(name.replace(tool, HIDDEN))
    for key, value in dict(attributes or {}).items():
        if isinstance(value, str) and tool in value:
            span.set_attribute(key, value.replace(tool, HIDDEN))


def aside() -> AbstractContextManager[trace.Span]:
    """Record no span inside the block: FastMCP would rename that of the call, and write one for a list nobody sent."""
    here = trace.get_current_span().get_span_context()
    if not here.is_valid:  # a span without a parent would be recorded
        here = trace.SpanContext(getrandbits(127) + 1, getrandbits(63) + 1, is_remote=False)
    return trace.use_span(
        trace.NonRecordingSpan(trace.SpanContext(here.trace_id, here.span_id, is_remote=False))
    )


def own_span(tool: str) -> AbstractContextManager[trace.Span]:
    """Record a call on a span of its own, since its host has none for it yet."""
    return trace.get_tracer("mcp_lenient", _version()).start_as_current_span(f"tools/call {shown_name(tool)}")


_MODEL: Final = "gen_ai.request.model"
"""OpenTelemetry's name for it: https://opentelemetry.io/docs/specs/semconv/gen-ai/."""


def trace_fields(sent: str | None = None) -> dict[str, str | None]:
    """Return the fields of an event that name the current span, in hexadecimal, and the model; None for unknown ones.

    Args:
        sent: The baggage that came with the request itself, as W3C writes it: ``gen_ai.request.model=gpt-5``.
    """
    here = W3CBaggagePropagator().extract({"baggage": sent}) if sent else None
    model = get_baggage(_MODEL, here)
    context = trace.get_current_span().get_span_context()
    return {
        "model": model if isinstance(model, str) else None,
        "trace_id": trace.format_trace_id(context.trace_id) if context.is_valid else None,
        "span_id": trace.format_span_id(context.span_id) if context.is_valid else None,
    }


@lru_cache(maxsize=1)
def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("mcp-lenient")
    except PackageNotFoundError:  # bundled as files alone, as by PyInstaller
        return ""


_LOGS_API: Final = "opentelemetry._logs"
_INSTANCE: Final = "service.instance.id"
_SEVERITIES: Final = {"debug": 5, "info": 9, "warning": 13}


def emit_record(level: str, fields: Mapping[str, Any]) -> None:
    """Emit an event as a log record too, if a logger provider is set, with its fields as attributes.

    Lists of records are JSON text, as in a line, which every backend takes.
    """
    if _LOGS_API not in sys.modules:  # without it no provider can be set
        return
    from opentelemetry import _logs

    provider = _logs.get_logger_provider()
    if type(provider).__module__.startswith(_LOGS_API):  # the API's own, which emits nothing
        return
    attributes = {
        name: json.dumps(value) if isinstance(value, list) else value
        for name, value in fields.items()
        if name not in ("event", "timestamp")
    }
    moment = datetime.fromisoformat(fields["timestamp"].replace("Z", "+00:00"))
    _logger(provider).emit(
        _logs.LogRecord(
            timestamp=int(moment.timestamp() * 1_000_000) * 1000,
            context=get_current(),
            severity_text=level.upper(),
            severity_number=_logs.SeverityNumber(_SEVERITIES[level]),
            body=fields["event"],
            event_name=f"mcp_lenient.{fields['event']}",
            attributes=attributes,
        )
    )


@lru_cache(maxsize=1)
def _logger(provider: LoggerProvider) -> Logger:
    """Return this process's logger; its scope names the instance where the provider's resource does not."""
    attributes = getattr(getattr(provider, "resource", None), "attributes", {})
    named = None if _INSTANCE in attributes else {_INSTANCE: str(uuid4())}
    return provider.get_logger("mcp_lenient", _version(), attributes=named)


UNKNOWN_TOOL: Final = "(unknown)"
"""The ``tool`` label of a call to a tool that does not exist."""
OTHER_CLIENT: Final = "(other)"
"""The ``client`` label of a client that is neither in ``CLIENTS`` nor named by the operator."""
NO_CLIENT: Final = "(none)"
"""The ``client`` label of a call without a client name."""
CLIENTS: Final = frozenset(
    {
        "@librechat/api-client",
        "@n8n/n8n-nodes-langchain.mcpclienttool",
        "anthropic/claudeai",
        "claude-ai",
        "claude-code",
        "cline",
        "codex-mcp-client",
        "continue-client",
        "cursor",
        "cursor-vscode",
        "fastmcp",
        "gemini-cli-mcp-client",
        "github-copilot-developer",
        "goose",
        "inspector-client",
        "mcp",
        "mcp-inspector",
        "n8n",
        "openai-mcp",
        "opencode",
        "q dev cli",
        "roo code",
        "visual studio code",
        "visual studio code - insiders",
        "windsurf-client",
        "zed",
    }
)
"""The names that common clients report, in lower case."""
_API: Final = "opentelemetry.metrics"
_PROVIDER_VARIABLE: Final = "OTEL_PYTHON_METER_PROVIDER"
_SECONDS: Final = (1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 0.1, 1.0)


@lru_cache(maxsize=1)
class _Instruments:
    """The instruments of this process; they pick up a provider that is set later."""

    def __init__(self) -> None:
        from opentelemetry import metrics

        meter = metrics.get_meter("mcp_lenient", _version())
        self.calls = meter.create_counter("mcp_lenient.calls", "{call}", "Tool calls by outcome.")
        self.repairs = meter.create_counter(
            "mcp_lenient.repairs", "{repair}", "Changes made, or that would have been made."
        )
        self.violations = meter.create_counter(
            "mcp_lenient.violations", "{violation}", "Errors that could not be repaired."
        )
        self.added_time = meter.create_histogram(
            "mcp_lenient.added_time",
            "s",
            "Time spent on validation and repair, without the tool itself.",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )


class Metrics:
    """The metrics of one middleware.

    Label values come from closed sets: outcomes, rules, codes, the server's tools, and the clients that are well known
    or that the operator names, in any case.
    """

    def __init__(self, clients: Collection[str] = ()) -> None:
        if isinstance(clients, str) or not all(isinstance(name, str) for name in clients):
            msg = f"clients must be names of clients, like ['acme-agent'], but is {clients!r}"
            raise TypeError(msg)
        self._clients = CLIENTS.union(name.lower() for name in clients)
        if _PROVIDER_VARIABLE in os.environ:
            _Instruments()  # creating them loads the provider that the variable names

    @property
    def live(self) -> bool:
        """Whether there is a provider to count for; one may be set at any time."""
        # A provider cannot be set without importing the API. Asking for the provider would read the environment each
        # time.
        if _API not in sys.modules:
            return False
        return getattr(_Instruments().calls, "_real_instrument", True) is not None

    def count(
        self,
        event: EventName,
        *,
        tool: str | None,
        started: int,
        client: str | None = None,
        repairs: Sequence[Repair] = (),
        violations: Sequence[Violation] = (),
        fault: FailureKind | None = None,
    ) -> None:
        """Count a call that began at ``started``; ``tool`` is None if the server does not have the called tool."""
        outcome, name = event.removeprefix("call_"), UNKNOWN_TOOL if tool is None else shown_name(tool)
        labels = {"tool": name, "client": self._label(client)}
        instruments = _Instruments()
        instruments.calls.add(1, {"outcome": outcome, "tool": name} | ({"fault": fault} if fault else {}))
        if event != "call_failed":  # its time includes the tool's
            instruments.added_time.record((perf_counter_ns() - started) / 1e9, {"outcome": outcome})
        for repair in repairs:
            instruments.repairs.add(1, {"rule": repair.rule, **labels})
        for violation in violations:
            instruments.violations.add(1, {"code": violation.code, **labels})

    def _label(self, client: str | None) -> str:
        if client is None:
            return NO_CLIENT
        # A bridge reports its own client's name, such as `claude-ai (via mcp-remote 0.1.37)`.
        name = client[:128].partition(" (via ")[0].lower()
        return name if name in self._clients else OTHER_CLIENT
