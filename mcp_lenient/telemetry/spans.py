"""Record what became of a call on its OpenTelemetry span. Without an SDK nothing happens."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from opentelemetry import trace
from opentelemetry.trace import Status, StatusCode

from mcp_lenient.telemetry.events import LISTED
from mcp_lenient.values.display import HIDDEN, escaped, escaped_pointer, shown_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcp_lenient.telemetry.events import EventName
    from mcp_lenient.types import Repair, Violation


def recording() -> bool:
    """Return whether there is a span to record on; ask before working out what to record."""
    return trace.get_current_span().is_recording()


def record(
    event: EventName,
    *,
    repairs: Sequence[Repair] = (),
    violations: Sequence[Violation] = (),
    error_code: str | None = None,
    tool: str | None = None,
    secret: frozenset[str] = frozenset(),
) -> None:
    """Put what became of a call on the current span: attributes to search by, and one span event.

    A rejected call marks the span as failed, since a result with ``isError`` does not. No argument value
    is recorded, and text that a client chose is escaped and cut as in the log.

    Args:
        event: What became of the call.
        repairs: What was changed, or would have been; the first 50 are recorded.
        violations: What was still wrong after repair; the first 50 are recorded.
        error_code: The envelope's code, of a call that was refused or would have been.
        tool: The tool that was called.
        secret: Names of the policy below which keys are not shown.
    """
    span = trace.get_current_span()
    if not span.is_recording():
        return
    code = None if error_code is None else escaped(error_code)
    outcome: dict[str, str | list[str]] = {"mcp_lenient.outcome": event.removeprefix("call_")}
    if repairs:
        outcome["mcp_lenient.repairs"] = [escaped(item.rule) for item in repairs[:LISTED]]
    if code is not None:
        outcome["mcp_lenient.error_code"] = code
    span.set_attributes(outcome)
    span.add_event(f"mcp_lenient.{event}", {**outcome, **_details(repairs, violations, secret)})
    if tool and shown_name(tool) != tool:
        _mask(span, tool)
    if event == "call_rejected" and tool is not None:
        # FastMCP names the tool only where it runs it.
        span.set_attribute("gen_ai.tool.name", shown_name(tool))
    if event == "call_rejected":
        span.set_status(Status(StatusCode.ERROR, code))


def _mask(span: trace.Span, tool: str) -> None:
    """Take a tool's name that may hold a value out of what FastMCP has put on the span."""
    name, attributes = getattr(span, "name", None), getattr(span, "attributes", None)
    if isinstance(name, str) and tool in name:
        span.update_name(name.replace(tool, HIDDEN))
    for key, value in dict(attributes or {}).items():
        if isinstance(value, str) and tool in value:
            span.set_attribute(key, value.replace(tool, HIDDEN))


def _details(
    repairs: Sequence[Repair], violations: Sequence[Violation], secret: frozenset[str]
) -> dict[str, list[str]]:
    listed: dict[str, list[str]] = {
        "mcp_lenient.repair_pointers": [escaped_pointer(item.pointer, secret) for item in repairs[:LISTED]],
        "mcp_lenient.violations": [item.code for item in violations[:LISTED]],
        "mcp_lenient.violation_pointers": [
            escaped_pointer(item.pointer, secret) for item in violations[:LISTED]
        ],
    }
    return {name: values for name, values in listed.items() if values}


@contextmanager
def aside() -> Iterator[None]:
    """Keep what is asked of the server here off the span of the call: FastMCP would rename it."""
    with trace.use_span(trace.INVALID_SPAN):
        yield


def trace_ids() -> tuple[str | None, str | None]:
    """Return trace and span id of the current span in hexadecimal, as traces are looked up; None without one."""
    context = trace.get_current_span().get_span_context()
    if not context.is_valid:
        return None, None
    return trace.format_trace_id(context.trace_id), trace.format_span_id(context.span_id)
