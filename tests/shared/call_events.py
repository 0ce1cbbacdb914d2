"""Events as a log holds them, read back as the model."""

from __future__ import annotations

from mcp_lenient.telemetry.events import CallEvent, event_fields


def call_event(*known, **found) -> CallEvent:
    """The event of one call, from what :func:`mcp_lenient.telemetry.events.event_fields` takes."""
    return CallEvent.model_validate(event_fields(*known, **found))
