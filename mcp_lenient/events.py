"""The log event: what became of one call, as a typed model that is written and read back."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final, Literal

import pydantic_core
from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, TypeAdapter, ValidationError

from mcp_lenient.event_fields import LEVELS, LISTED, CallFacts, EventName, event_fields
from mcp_lenient.one_line import LONGEST_PART, LONGEST_POINTER, LONGEST_TEXT
from mcp_lenient.types import ViolationCode

__all__ = [
    "LEVELS",
    "LISTED",
    "CallEvent",
    "CallFacts",
    "EventName",
    "HintRecord",
    "RecordedType",
    "RepairRecord",
    "ViolationRecord",
    "event_fields",
    "line_schema",
    "read_event",
]

RecordedType = Literal[
    "string", "number", "integer", "boolean", "array", "object", "null", "absent", "unknown"
]
"""A JSON type name, ``absent`` for a property that was left out, ``unknown`` for what is not JSON."""

# No control character, line separator, invisible or direction mark.
_ONE_LINE: Final = r"^[^\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]*$"

Text = Annotated[str, Field(max_length=LONGEST_TEXT, pattern=_ONE_LINE)]
RuleName = Annotated[str, Field(max_length=LONGEST_PART, pattern=_ONE_LINE)]
PointerText = Annotated[str, Field(max_length=LONGEST_POINTER, pattern=_ONE_LINE)]


class _Record(BaseModel):
    # Descriptions from docstrings would be read from the source, and validators built, at each import.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class RepairRecord(_Record):
    """One repair as it is logged."""

    rule: RuleName = Field(description="What became what.")
    pointer: PointerText = Field(description="JSON Pointer of the value as it was sent, escaped and cut.")
    before: RecordedType = Field(description="JSON type of the value as it was sent.")
    after: RecordedType = Field(description="JSON type of the value the tool got.")


class ViolationRecord(_Record):
    """One violation as it is logged."""

    code: ViolationCode = Field(description="What is wrong.")
    pointer: PointerText = Field(description="JSON Pointer of the faulty place, escaped and cut.")
    received: RecordedType | None = Field(
        default=None, description="JSON type of what came there; null where nothing did."
    )


class HintRecord(_Record):
    """What was right, and yet may not be what was meant."""

    code: Literal["json_text_kept"] = Field(
        description="A JSON array or object came as text where a text is taken as well, and stayed text."
    )
    pointer: PointerText = Field(description="JSON Pointer of the place, escaped and cut.")


class CallEvent(_Record):
    """What became of one call: one line of the log.

    It holds no argument value. All its text is on one line and bounded, or the event is not valid;
    :func:`event_fields` escapes and cuts what a client sent.
    """

    timestamp: datetime | None = Field(
        default=None,
        description="When the event was built; null where the log's own time format cannot be read.",
    )
    event: EventName = Field(description="What became of the call.")
    tool: Text = Field(description="The name by which the tool was called, whether it exists or not.")
    error_code: Text | None = Field(
        default=None, description="The envelope's code, of a call that was refused or would have been."
    )
    violations: tuple[ViolationRecord, ...] = Field(
        default=(), max_length=LISTED, description="What was still wrong after repair, the first 50."
    )
    violation_count: NonNegativeInt = Field(default=0, description="How many violations there were in all.")
    repairs: tuple[RepairRecord, ...] = Field(
        default=(), max_length=LISTED, description="What was changed, or would have been, the first 50."
    )
    repair_count: NonNegativeInt = Field(default=0, description="How many repairs there were in all.")
    hints: tuple[HintRecord, ...] = Field(
        default=(),
        max_length=LISTED,
        description="What went on as it came, and may have been meant otherwise, the first 50.",
    )
    duration_us: NonNegativeInt = Field(
        default=0, description="Microseconds that judging and repairing took, without the tool itself."
    )
    server: Text | None = Field(default=None, description="The name of the server that was called.")
    mounted: Text | None = Field(
        default=None,
        description="The path of mounted servers down to the tool's own, where that is another one.",
    )
    client_name: Text | None = Field(default=None, description="What the client calls itself.")
    client_version: Text | None = Field(default=None, description="The client's version, as it says.")
    subject: Text | None = Field(
        default=None,
        description="Whom the request's access token speaks for: its ``sub`` claim, else its client id.",
    )
    session_id: Text | None = Field(
        default=None, description="New with each request on stateless and on 2026-07-28 connections."
    )
    request_id: Text | None = Field(default=None, description="The id of the JSON-RPC request.")
    transport: Text | None = Field(
        default=None,
        description="``stdio``, ``sse`` or ``streamable-http``; null for a call within the process.",
    )
    trace_id: Text | None = Field(default=None, description="OpenTelemetry trace, 32 hexadecimal digits.")
    span_id: Text | None = Field(default=None, description="OpenTelemetry span, 16 hexadecimal digits.")
    schema_version: Literal[1] = Field(description="The version of this model.")


def line_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a line of the log: an event, its level, and what the application adds beside.

    >>> line_schema()["properties"]["level"]["enum"]
    ['debug', 'info', 'warning', 'error']
    """
    event = CallEvent.model_json_schema()
    del event["additionalProperties"]
    level = {
        "description": "The level at which the event was logged.",
        "enum": ["debug", "info", "warning", "error"],
        "title": "Level",
    }
    properties = {**event["properties"], "level": level}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **event, "properties": properties}


_INSTANT: Final = TypeAdapter(datetime)


def read_event(line: str) -> CallEvent | None:
    """The event that stands in one line of a JSON log; None for any other line.

    What the application's own logging added to the line is left out. A time without a zone is taken for
    local time; one that cannot be read becomes None and loses no event.

    Raises:
        TypeError: When the line is no text.
    """
    text = _text(line)
    try:
        written = pydantic_core.from_json(text.encode())
        if not isinstance(written, dict):
            return None
        known = {name: value for name, value in written.items() if name in CallEvent.model_fields}
        known["timestamp"] = _instant(known.get("timestamp"))
        return CallEvent.model_validate(known)
    except ValueError:  # not JSON, not text, or not an event: Pydantic's ValidationError is one too
        return None


def _text(line: Any) -> str:
    if not isinstance(line, str):
        msg = f"read_event: line must be a str, got {type(line).__name__}."
        raise TypeError(msg)
    return line


def _instant(written: object) -> datetime | None:
    try:
        instant = _INSTANT.validate_python(written)
        return instant if instant.tzinfo is not None else instant.astimezone()
    except (ValidationError, ValueError, OverflowError, OSError):
        return None
