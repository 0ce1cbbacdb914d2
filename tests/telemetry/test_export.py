"""Export traces and metrics by OTLP to a local stand-in for a collector."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

pytestmark = pytest.mark.slow

SERVER = """
import asyncio, sys
from fastmcp import Client, FastMCP
from opentelemetry import metrics, trace
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from mcp_lenient import LenientMiddleware

server = FastMCP("notes")
server.add_middleware(LenientMiddleware())

@server.tool
def store(content: str, tags: list[str] | None = None) -> str:
    return content

async def main():
    async with Client(server) as client:
        await client.call_tool_mcp("store", {"content": "sk-live-42"})
        # The providers come late, as they do where an application sets them up after its imports.
        traces, meters = TracerProvider(), MeterProvider(
            [PeriodicExportingMetricReader(OTLPMetricExporter(sys.argv[1] + "/v1/metrics"))]
        )
        traces.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(sys.argv[1] + "/v1/traces")))
        trace.set_tracer_provider(traces)
        metrics.set_meter_provider(meters)
        for tags in (["sk-live-42"], '["sk-live-42"]', {"sk-live-42": 1}):
            await client.call_tool_mcp("store", {"content": "sk-live-42", "tags": tags})
    meters.shutdown()

asyncio.run(main())
"""


class Collector(BaseHTTPRequestHandler):
    """A collector that keeps what it receives on its server."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.received.append((self.path, body))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        """Log nothing."""


@pytest.fixture(scope="module")
def exported():
    """Return what another process exported and logged while it answered four calls."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as collector:
        collector.received = []
        threading.Thread(target=collector.serve_forever, daemon=True).start()
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-c", SERVER, f"http://127.0.0.1:{collector.server_port}"],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        collector.shutdown()
    return collector.received, done.stderr


def labels(point):
    """Return the attributes of a point or span."""
    return {each.key: each.value.string_value for each in point.attributes}


def test_metrics_reach_a_collector(exported):
    """Counters are cumulative sums. The added time is a histogram in seconds with fine buckets."""
    found = {}
    for path, body in exported[0]:
        if path == "/v1/metrics":
            for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                for scope in resource.scope_metrics:
                    found.update(
                        {metric.name: metric for metric in scope.metrics if scope.scope.name == "mcp_lenient"}
                    )
    assert sorted(found) == [
        "mcp_lenient.added_time",
        "mcp_lenient.calls",
        "mcp_lenient.repairs",
        "mcp_lenient.violations",
    ]
    calls = found["mcp_lenient.calls"].sum
    assert calls.is_monotonic
    assert {labels(point)["outcome"]: point.as_int for point in calls.data_points} == {
        "accepted": 1,
        "repaired": 1,
        "rejected": 1,
    }
    time = found["mcp_lenient.added_time"]
    assert time.unit == "s"
    for point in time.histogram.data_points:
        assert point.count == 1
        assert 0 < point.sum < 1
        assert min(point.explicit_bounds) == 1e-5


def test_spans_reach_a_collector_with_the_ids_of_the_log(exported):
    """The span of a refused call has an error status and the ids of the event."""
    received, log = exported
    spans = [
        span
        for path, body in received
        if path == "/v1/traces"
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    (refused,) = [span for span in spans if labels(span).get("mcp_lenient.outcome") == "rejected"]
    event = json.loads(log.splitlines()[-1])
    assert (event["trace_id"], event["span_id"]) == (refused.trace_id.hex(), refused.span_id.hex())
    assert refused.status.message == "INVALID_TAGS_TYPE"
    assert [each.name for each in refused.events] == ["mcp_lenient.call_rejected"]


def test_no_value_is_exported(exported):
    """Neither the exported metrics nor the log contain an argument value."""
    received, log = exported
    assert received
    for path, body in received:
        if path == "/v1/metrics":
            assert b"sk-live-42" not in body
    assert "sk-live-42" not in log
