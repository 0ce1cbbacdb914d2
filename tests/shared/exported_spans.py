"""Collect the spans that end during a test. A process has only one provider of spans."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import Decision, ParentBased, Sampler, SamplingResult


class _WhileCollecting(Sampler):
    """Record nothing for tests that collect no spans, because recording takes longer than the calls."""

    def __init__(self) -> None:
        self.collects = False

    def should_sample(self, *_args: Any, **_named: Any) -> SamplingResult:
        return SamplingResult(Decision.RECORD_AND_SAMPLE if self.collects else Decision.DROP)

    def get_description(self) -> str:
        return "while a test collects"


_SAMPLER = _WhileCollecting()
_EXPORTER = InMemorySpanExporter()


@contextmanager
def exported_spans() -> Iterator[InMemorySpanExporter]:
    """Collect ended spans until the block ends."""
    if not isinstance(trace.get_tracer_provider(), TracerProvider):
        provider = TracerProvider(sampler=ParentBased(_SAMPLER))
        provider.add_span_processor(SimpleSpanProcessor(_EXPORTER))
        trace.set_tracer_provider(provider)
    _SAMPLER.collects = True
    try:
        yield _EXPORTER
    finally:
        _SAMPLER.collects = False
        _EXPORTER.clear()
