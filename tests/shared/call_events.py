"""Build log events and load them into the model."""

from __future__ import annotations

from mcp_lenient.telemetry.events import CallEvent, event_fields


def call_event(*known, **found) -> CallEvent:
    """Return the event of one call from the arguments of ``event_fields``."""
    return CallEvent.model_validate(event_fields(*known, **found))
