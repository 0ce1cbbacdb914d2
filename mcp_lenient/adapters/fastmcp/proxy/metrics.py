"""Serve the metrics of a process to Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from starlette.responses import PlainTextResponse, Response

if TYPE_CHECKING:
    from fastmcp import FastMCP
    from starlette.requests import Request

_NOT_INSTALLED: Final = "The extra is not installed: pip install 'mcp-lenient[metrics]'\n"


def add_metrics(server: FastMCP) -> None:
    """Add ``GET /metrics`` to a server, for the only server of a process.

    It needs the extra ``metrics``; without it, the route says so with status 501. A provider of metrics that was set before,
    as by ``opentelemetry-instrument``, stays.
    """
    try:
        _count_for_prometheus()
    except ImportError:
        has_extra = False
    else:
        has_extra = True

    async def metrics(request: Request) -> Response:
        if not has_extra:
            return PlainTextResponse(_NOT_INSTALLED, 501)
        from prometheus_client import REGISTRY
        from prometheus_client.exposition import choose_encoder

        encode, content_type = choose_encoder(request.headers.get("accept", ""))
        return Response(encode(REGISTRY), headers={"content-type": content_type, "cache-control": "no-store"})

    server.custom_route("/metrics", methods=["GET"])(metrics)


def _count_for_prometheus() -> None:
    """Count for Prometheus from now on, unless the process has a provider of metrics."""
    from opentelemetry import metrics
    from opentelemetry.exporter.prometheus import PrometheusMetricReader
    from opentelemetry.sdk.metrics import MeterProvider

    if not isinstance(metrics.get_meter_provider(), MeterProvider):
        metrics.set_meter_provider(MeterProvider([PrometheusMetricReader(disable_target_info=True)]))
