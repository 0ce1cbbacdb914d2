"""Collect the OpenTelemetry log records of a test. The API allows a process only one provider of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from opentelemetry import _logs
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource


@contextmanager
def exported_logs(**resource: str) -> Iterator[InMemoryLogRecordExporter]:
    """Collect log records until the block ends, by the SDK's provider with this resource."""
    exporter = InMemoryLogRecordExporter()
    provider = LoggerProvider(Resource(resource))
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_logs, "get_logger_provider", lambda: provider)
        yield exporter
