"""``/metrics`` of the proxy's command, as Prometheus reads it, and ``/ready``."""

from __future__ import annotations

import subprocess
import sys

import httpx2
import pytest
from adapters.fastmcp.proxy.servers.upstream import mcp
from fastmcp import Client, FastMCP
from mcp_types import Implementation
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as plain_text
from wire import serving

from mcp_lenient import create_lenient_proxy
from mcp_lenient.telemetry.otel import CLIENTS, NO_CLIENT, OTHER_CLIENT, UNKNOWN_TOOL

_STRANGER = 'a-stranger"{}\\n'


async def _got(url: str, path: str, **headers: str) -> httpx2.Response:
    async with httpx2.AsyncClient() as client:
        return await client.get(url.replace("/mcp", path), headers=headers, timeout=30)


async def test_prometheus_reads_what_was_counted(commanded):
    """Calls, repairs and violations are counted by tool; no label has a name that a client chose."""
    with serving(mcp) as behind, serving(await commanded(behind)) as url:
        before = await _got(url, "/metrics")
        stranger = Implementation(name=_STRANGER, version="1")
        async with Client(url, client_info=stranger) as client:
            await client.call_tool_mcp("add", {"a": "1", "b": 2})
            await client.call_tool_mcp("add", {"a": [], _STRANGER: 1})
            await client.call_tool_mcp(_STRANGER, {})
        answer = await _got(url, "/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert answer.headers["cache-control"] == "no-store"
    assert "stranger" not in answer.text
    counted = _totals(answer.text, "mcp_lenient_calls_total")
    earlier = _totals(before.text, "mcp_lenient_calls_total")
    added = {key: total - earlier.get(key, 0) for key, total in counted.items() if total != earlier.get(key)}
    assert added == {("repaired", "add"): 1, ("rejected", "add"): 1, ("rejected", UNKNOWN_TOOL): 1}
    families = {family.name: family for family in plain_text(answer.text)}
    clients = {sample.labels["client"] for sample in families["mcp_lenient_repairs"].samples}
    assert OTHER_CLIENT in clients <= {*CLIENTS, NO_CLIENT, OTHER_CLIENT}
    assert families["mcp_lenient_added_time_seconds"].type == "histogram"
    assert "process_resident_memory_bytes" in families


def _totals(text: str, name: str) -> dict[tuple[str, str], float]:
    totals: dict[tuple[str, str], float] = {}
    for family in plain_text(text):
        for sample in family.samples:
            if sample.name == name:
                key = sample.labels["outcome"], sample.labels["tool"]
                totals[key] = totals.get(key, 0) + sample.value
    return totals


async def test_open_metrics_if_asked(commanded):
    """A scraper that accepts OpenMetrics gets that format."""
    accept = "application/openmetrics-text; version=1.0.0"
    with serving(mcp) as behind, serving(await commanded(behind)) as url:
        async with Client(url) as client:
            await client.call_tool_mcp("add", {"a": "1", "b": 2})
        answer = await _got(url, "/metrics", accept=accept)
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    assert "mcp_lenient_calls" in {family.name for family in open_metrics(answer.text)}


_WITHOUT = """
import sys

for name in ("prometheus_client", "opentelemetry.exporter.prometheus"):
    sys.modules[name] = None
from fastmcp import FastMCP
from starlette.testclient import TestClient
from mcp_lenient.adapters.fastmcp.proxy.metrics import add_metrics

server = FastMCP("one")
add_metrics(server)
answer = TestClient(server.http_app()).get("/metrics")
print(answer.status_code, answer.text)
"""


@pytest.mark.slow
def test_without_the_extra_it_says_so():
    """Without the extra the proxy runs, and the route names what to install."""
    done = subprocess.run([sys.executable, "-c", _WITHOUT], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.startswith("501 The extra is not installed: pip install 'mcp-lenient[metrics]'")


async def test_ready_while_one_server_answers():
    """``/ready`` is 200 while some server behind the proxy answers, and ``/health`` only while all do."""
    gone = {"url": "http://127.0.0.1:1/mcp"}
    with serving(FastMCP("behind")) as behind:
        for servers, ready, health in (
            ({"there": {"url": behind}}, 200, 200),
            ({"there": {"url": behind}, "gone": gone}, 200, 503),
            ({"gone": gone}, 503, 503),
        ):
            with serving(create_lenient_proxy({"mcpServers": servers})) as url:
                answers = [await _got(url, path) for path in ("/ready", "/health")]
            assert [answer.status_code for answer in answers] == [ready, health], servers
            assert answers[0].json()["status"] == ("ready" if ready == 200 else "unavailable")
            assert answers[0].headers["cache-control"] == "no-store"
