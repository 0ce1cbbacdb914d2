"""The spans that end while a test looks; a process has one provider of spans, and for good."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import Decision, Sampler, SamplingResult


class _WhileLookedAt(Sampler):
    """Records nothing for the tests that do not look: to record what they do takes longer than to do it."""

    def __init__(self) -> None:
        self.looks = False

    def should_sample(self, *_args: Any, **_named: Any) -> SamplingResult:
        return SamplingResult(Decision.RECORD_AND_SAMPLE if self.looks else Decision.DROP)

    def get_description(self) -> str:
        return "while a test looks"


_SAMPLER = _WhileLookedAt()
_EXPORTER = InMemorySpanExporter()


@contextmanager
def exported_spans() -> Iterator[InMemorySpanExporter]:
    """Where ended spans are kept until the block ends."""
    if not isinstance(trace.get_tracer_provider(), TracerProvider):
        provider = TracerProvider(sampler=_SAMPLER)
        provider.add_span_processor(SimpleSpanProcessor(_EXPORTER))
        trace.set_tracer_provider(provider)
    _SAMPLER.looks = True
    try:
        yield _EXPORTER
    finally:
        _SAMPLER.looks = False
        _EXPORTER.clear()
