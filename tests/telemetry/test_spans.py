"""Test what an OpenTelemetry span records of a call."""

from __future__ import annotations

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import StatusCode

from mcp_lenient.telemetry.events import LEVELS, event_fields
from mcp_lenient.telemetry.otel import record, trace_fields
from mcp_lenient.types import Repair, Violation

PRIVATE = "sk-live-4242424242"
REPAIRS = (
    Repair("scalar_to_array", "/tags", "string", "array"),
    Repair("text_to_integer", "/limit", "string", "integer"),
)
VIOLATIONS = (Violation("/limit", "limit", "type", f"got {PRIVATE}", received_value=PRIVATE),)


@pytest.fixture
def exporter():
    """Return the exporter that keeps ended spans."""
    return InMemorySpanExporter()


@pytest.fixture
def tracer(exporter):
    """Return a tracer of the SDK that exports at once."""
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider.get_tracer("test")


def recorded(tracer, exporter, event, **found):
    """Return the span of one call with these violations."""
    with tracer.start_as_current_span("tools/call store_context"):
        record(event_fields(event, "store_context", **found), "store_context")
    (span,) = exporter.get_finished_spans()
    return span


def test_a_repaired_call(tracer, exporter):
    """A repaired call names its rules and does not fail the span."""
    span = recorded(tracer, exporter, "call_repaired", repairs=REPAIRS)
    assert dict(span.attributes) == {
        "mcp_lenient.outcome": "repaired",
        "mcp_lenient.repairs": ("scalar_to_array", "text_to_integer"),
    }
    (happened,) = span.events
    assert happened.name == "mcp_lenient.call_repaired"
    assert dict(happened.attributes) == {
        **span.attributes,
        "mcp_lenient.repair_pointers": ("/tags", "/limit"),
    }
    assert span.status.status_code is StatusCode.UNSET


def test_a_rejected_call(tracer, exporter):
    """A rejected call fails the span with the envelope's code."""
    span = recorded(tracer, exporter, "call_rejected", violations=VIOLATIONS, error_code="INVALID_LIMIT_TYPE")
    assert dict(span.attributes) == {
        "mcp_lenient.outcome": "rejected",
        "mcp_lenient.error_code": "INVALID_LIMIT_TYPE",
        "mcp_lenient.fault": "wrong_shape",
        "gen_ai.tool.name": "store_context",
    }
    (happened,) = span.events
    assert dict(happened.attributes) | {"gen_ai.tool.name": "store_context"} == {
        **span.attributes,
        "mcp_lenient.violations": ("type",),
        "mcp_lenient.violation_pointers": ("/limit",),
    }
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, "INVALID_LIMIT_TYPE")


@pytest.mark.parametrize("event", sorted(set(LEVELS) - {"call_rejected"}))
def test_forwarded_calls_do_not_fail_the_span(tracer, exporter, event):
    """A call that went on does not fail the span, whatever its violations."""
    span = recorded(tracer, exporter, event, violations=VIOLATIONS, error_code="INVALID_LIMIT_TYPE")
    assert span.attributes["mcp_lenient.outcome"] == event.removeprefix("call_")
    assert span.status.status_code is StatusCode.UNSET


def test_values_and_client_text_stay_out(tracer, exporter):
    """A span contains no value, and client-chosen text only escaped."""
    hostile = "\x1b[31m\n\ud800" + "k" * 2**20
    span = recorded(
        tracer,
        exporter,
        "call_rejected",
        repairs=[Repair(hostile, f'/{{"password": "{PRIVATE}"}}', "string", "array")],
        violations=[*VIOLATIONS, Violation(f"/{hostile}", hostile, "unknown", hostile)],
        error_code=hostile,
    )
    text = span.to_json()
    assert PRIVATE not in text
    assert len(text) < 5000
    for values in (*span.attributes.values(), *span.events[0].attributes.values(), span.status.description):
        for value in (values,) if isinstance(values, str) else values:
            assert value.isprintable()


def test_long_lists_are_cut(tracer, exporter):
    """At most fifty repairs and violations are recorded."""
    span = recorded(tracer, exporter, "call_observed", repairs=REPAIRS * 40, violations=VIOLATIONS * 70)
    assert len(span.attributes["mcp_lenient.repairs"]) == 50
    assert len(span.events[0].attributes["mcp_lenient.violations"]) == 50


def test_without_a_span():
    """Without a span there are no ids, and recording does nothing."""
    record(event_fields("call_rejected", "t", violations=VIOLATIONS, error_code="INVALID_LIMIT_TYPE"), "t")
    assert trace_fields() == {"model": None, "trace_id": None, "span_id": None}


def test_trace_fields(tracer):
    """The ids are those of the current span in hexadecimal; one that is not sampled has ids and records nothing."""
    unsampled = TracerProvider(sampler=ALWAYS_OFF).get_tracer("test")
    for chosen, is_recording in ((tracer, True), (unsampled, False)):
        with chosen.start_as_current_span("call") as span:
            record(event_fields("call_rejected", "t", error_code="INVALID_LIMIT_TYPE"), "t")
            _, trace_id, span_id = trace_fields().values()
            assert span.is_recording() is is_recording
        ids = span.get_span_context()
        assert (trace_id, span_id) == (f"{ids.trace_id:032x}", f"{ids.span_id:016x}")
