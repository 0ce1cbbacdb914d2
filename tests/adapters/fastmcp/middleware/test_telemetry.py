"""The OpenTelemetry span of a call: failed if the call is refused, and without values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from calls import Log, call, code, lenient, published
from exported_spans import exported_spans
from fastmcp.exceptions import NotFoundError
from fastmcp_versions import SPAN, not_on_3
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode, format_trace_id

from mcp_lenient import Policy


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    """Return the exporter of the spans that end during the test."""
    with exported_spans() as exporter:
        yield exporter


def tool(tags: list[str]) -> Any:
    """A tool."""
    return {"tags": tags}


def _server_span(spans: InMemorySpanExporter) -> Any:
    finished = spans.get_finished_spans()
    (span,) = (span for span in finished if span.kind is SpanKind.SERVER and "tools/call" in span.name)
    return span


@pytest.mark.parametrize(
    ("name", "arguments", "outcome", "failed"),
    [
        pytest.param("tool", {"tags": ["a"]}, "accepted", False, id="accepted"),
        pytest.param("tool", {"tags": "hunter2"}, "repaired", False, id="repaired"),
        pytest.param("tool", {"tags": 5}, "rejected", True, id="refused"),
        pytest.param("nothing", {}, "rejected", True, id="unknown_tool"),
        pytest.param("own", {"n": "x"}, "forwarded", False, id="forwarded"),
    ],
)
@not_on_3(SPAN)
async def test_a_span_fails_with_its_call(name, arguments, outcome, failed, spans, events: Log):
    """Only a refused call marks the span of its request, whose method stays that of a call, as failed."""
    await call(lenient(tool, published(n={"type": "integer"})), name, arguments)
    span = _server_span(spans)
    assert span.attributes["mcp_lenient.outcome"] == outcome
    assert span.attributes["mcp.method.name"] == "tools/call"
    assert (span.status.status_code is StatusCode.ERROR) is failed
    assert "hunter2" not in span.to_json()
    assert events[0]["trace_id"] == format_trace_id(span.context.trace_id)


@not_on_3(SPAN)
async def test_a_refused_call_of_a_mounted_tool_fails_the_request(spans):
    """The parent's span, which dashboards count, is marked as failed."""
    parent = lenient(name="parent")
    parent.mount(lenient(tool, name="child"), namespace="ns")
    assert code(await call(parent, "ns_tool", {"tags": 5})) == "INVALID_TAGS_TYPE"
    span = _server_span(spans)
    assert span.status.status_code is StatusCode.ERROR
    assert span.attributes["mcp_lenient.error_code"] == "INVALID_TAGS_TYPE"


async def test_observe_mode_does_not_fail_the_span(spans):
    """The span of an observed call that runs is not marked as failed."""
    server = lenient(tool, published(n={"type": "integer"}), policy=Policy(mode="observe"))
    await call(server, "own", {"n": "x"})
    assert _server_span(spans).status.status_code is not StatusCode.ERROR


@pytest.mark.parametrize("over", ["client", "code"])
@not_on_3(SPAN)
async def test_names_are_listed_without_a_span(over, spans):
    """The names that a call of an unknown one is compared with are no list that a client has asked for."""
    server = lenient(tool)
    if over == "client":
        await call(server, "tol", {})
    else:
        with pytest.raises(NotFoundError):
            await server.call_tool("tol", {})
    names = {span.name for span in spans.get_finished_spans()}
    assert "tools/call tol" in names
    assert "tools/list" not in names
