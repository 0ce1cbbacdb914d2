"""The log event: what became of one call, as a typed model that is written and read back."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, fields
from datetime import datetime, timezone
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args

import pydantic_core
from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, TypeAdapter, ValidationError

from mcp_lenient.redaction import shown
from mcp_lenient.types import JsonType, Repair, Violation, ViolationCode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

EventName = Literal[
    "call_repaired",
    "call_rejected",
    "call_accepted",
    "call_observed",
    "call_forwarded",
    "call_refused_upstream",
    "call_unanswered",
]
"""What became of a call; ``call_forwarded`` could not be repaired and went on as it came.

The last two come after one of the others, of a call that a proxy sent on: the server behind it did not accept
its arguments, or gave no answer.
"""

RecordedType = Literal[
    "string", "number", "integer", "boolean", "array", "object", "null", "absent", "unknown"
]
"""A JSON type name, ``absent`` for a property that was left out, ``unknown`` for what is not JSON."""

LEVELS: Final[Mapping[EventName, int]] = MappingProxyType(
    {
        "call_repaired": logging.INFO,
        "call_rejected": logging.WARNING,
        "call_accepted": logging.DEBUG,
        "call_observed": logging.INFO,
        "call_forwarded": logging.INFO,
        "call_refused_upstream": logging.WARNING,
        "call_unanswered": logging.WARNING,
    }
)
"""The level at which each event is logged."""

LISTED: Final = 50
"""How many repairs and violations one event lists; the counts beside them are of all."""

_LONGEST_TEXT: Final = 128
_LONGEST_PART: Final = 64
_MOST_PARTS: Final = 16
_LONGEST_POINTER: Final = _MOST_PARTS * (_LONGEST_PART + 1) + 1
_HOLDS_VALUES: Final = re.compile(r"""^\s*[(`]|[{}\[\]"'=]|:\s""")
_PLAIN_POINTER: Final = re.compile(r"[\w/~.$ -]{0,64}")
_JSON_TYPES: Final = frozenset({*get_args(JsonType), "absent"})
# No control character, line separator, invisible or direction mark.
_ONE_LINE: Final = r"^[^\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]*$"

Text = Annotated[str, Field(max_length=_LONGEST_TEXT, pattern=_ONE_LINE)]
RuleName = Annotated[str, Field(max_length=_LONGEST_PART, pattern=_ONE_LINE)]
PointerText = Annotated[str, Field(max_length=_LONGEST_POINTER, pattern=_ONE_LINE)]


def escaped(text: str, *, limit: int = _LONGEST_TEXT) -> str:
    r"""Text that a client chose, as a log may show it: on one line, printable, at most ``limit`` characters.

    Escaping twice changes nothing. The form is for reading: a backslash of the text stays as it is.

    >>> escaped("a\nb\x1b[31m")
    'a\\nb\\u001b[31m'
    """
    if len(text) <= limit and text.isprintable():
        return text
    return shown(text, limit)


def escaped_pointer(pointer: str) -> str:
    """A JSON Pointer as a log may show it: each part escaped and cut, at most 15 parts.

    A part that holds quotes, brackets or ``=`` (arguments that came as the name of a parameter) would show
    values, so nothing of it is shown.

    >>> escaped_pointer('/rows/0/{"password": "x"}')
    '/rows/0/{…}'
    """
    if _PLAIN_POINTER.fullmatch(pointer):
        return pointer
    parts = pointer.split("/", _MOST_PARTS)
    kept = "/".join(map(_part, parts[:_MOST_PARTS]))
    return f"{kept}/…" if len(parts) > _MOST_PARTS else kept


def _part(part: str) -> str:
    return "{…}" if _HOLDS_VALUES.search(part) else escaped(part, limit=_LONGEST_PART)


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class RepairRecord(_Record):
    """One repair as it is logged."""

    rule: RuleName
    """What became what."""
    pointer: PointerText
    """JSON Pointer of the value as it was sent, escaped and cut."""
    before: RecordedType
    """JSON type of the value as it was sent."""
    after: RecordedType
    """JSON type of the value the tool got."""


class ViolationRecord(_Record):
    """One violation as it is logged."""

    code: ViolationCode
    """What is wrong."""
    pointer: PointerText
    """JSON Pointer of the faulty place, escaped and cut."""


class CallEvent(_Record):
    """What became of one call: one line of the log.

    It holds no argument value. All its text is on one line and bounded, or the event is not valid;
    :func:`call_event` escapes and cuts what a client sent.
    """

    timestamp: datetime | None = None
    """When the event was built; null where the log's own time format cannot be read."""
    event: EventName
    """What became of the call."""
    tool: Text
    """The name by which the tool was called, whether it exists or not."""
    error_code: Text | None = None
    """The envelope's code, of a call that was refused or would have been."""
    violations: tuple[ViolationRecord, ...] = Field(default=(), max_length=LISTED)
    """What was still wrong after repair, the first 50."""
    violation_count: NonNegativeInt = 0
    """How many violations there were in all."""
    repairs: tuple[RepairRecord, ...] = Field(default=(), max_length=LISTED)
    """What was changed, or would have been, the first 50."""
    repair_count: NonNegativeInt = 0
    """How many repairs there were in all."""
    duration_us: NonNegativeInt = 0
    """Microseconds that judging and repairing took, without the tool itself."""
    server: Text | None = None
    """The name of the server that was called."""
    mounted: Text | None = None
    """The path of mounted servers down to the tool's own, where that is another one."""
    client_name: Text | None = None
    """What the client calls itself."""
    client_version: Text | None = None
    """The client's version, as it says."""
    session_id: Text | None = None
    """New with each request on stateless and on 2026-07-28 connections."""
    request_id: Text | None = None
    """The id of the JSON-RPC request."""
    transport: Text | None = None
    """``stdio``, ``sse`` or ``streamable-http``; null for a call within the process."""
    trace_id: Text | None = None
    """OpenTelemetry trace, 32 hexadecimal digits."""
    span_id: Text | None = None
    """OpenTelemetry span, 16 hexadecimal digits."""
    schema_version: Literal[1]
    """The version of this model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFacts:
    """What is known of a call besides its judgment, as it came: nothing of it need be safe to log.

    ``duration_us`` is the time that judging and repairing took. The other fields are those of
    :class:`CallEvent`.
    """

    tool: str
    duration_us: int = 0
    server: str | None = None
    mounted: str | None = None
    client_name: str | None = None
    client_version: str | None = None
    session_id: str | None = None
    request_id: str | None = None
    transport: str | None = None
    trace_id: str | None = None
    span_id: str | None = None


_TEXTS: Final = tuple(entry.name for entry in fields(CallFacts) if entry.name != "duration_us")


def call_event(
    event: EventName,
    facts: CallFacts,
    *,
    error_code: str | None = None,
    violations: Sequence[Violation] = (),
    repairs: Sequence[Repair] = (),
) -> CallEvent:
    """The event for one call, dated now, with every text escaped and every list cut.

    Args:
        event: What became of the call.
        facts: Who called what, over which way.
        error_code: The envelope's code, of a call that was refused or would have been.
        violations: What was still wrong after repair.
        repairs: What was changed, or would have been.
    """
    known: dict[str, Any] = {
        "schema_version": 1,
        "timestamp": datetime.now(timezone.utc),
        "event": event,
        "duration_us": max(0, facts.duration_us),
    }
    for name in _TEXTS:
        text = getattr(facts, name)
        if text is not None:
            known[name] = escaped(text)
    if error_code is not None:
        known["error_code"] = escaped(error_code)
    if violations:
        known["violations"] = [_violation_record(item) for item in violations[:LISTED]]
        known["violation_count"] = len(violations)
    if repairs:
        known["repairs"] = [_repair_record(item) for item in repairs[:LISTED]]
        known["repair_count"] = len(repairs)
    return CallEvent.model_validate(known)


def _violation_record(item: Violation) -> dict[str, str]:
    return {"code": item.code, "pointer": escaped_pointer(item.pointer)}


def _repair_record(item: Repair) -> dict[str, str]:
    return {
        "rule": escaped(item.rule, limit=_LONGEST_PART),
        "pointer": escaped_pointer(item.pointer),
        "before": item.before if item.before in _JSON_TYPES else "unknown",
        "after": item.after if item.after in _JSON_TYPES else "unknown",
    }


_INSTANT: Final = TypeAdapter(datetime)


def read_event(line: str) -> CallEvent | None:
    """The event that stands in one line of a JSON log; None for any other line.

    What the application's own logging added to the line is left out. A time without a zone is taken for
    local time; one that cannot be read becomes None and loses no event.
    """
    try:
        written = pydantic_core.from_json(line.encode())
        if not isinstance(written, dict):
            return None
        known = {name: value for name, value in written.items() if name in CallEvent.model_fields}
        known["timestamp"] = _instant(known.get("timestamp"))
        return CallEvent.model_validate(known)
    except ValueError:  # not JSON, not text, or not an event: Pydantic's ValidationError is one too
        return None


def _instant(written: object) -> datetime | None:
    try:
        instant = _INSTANT.validate_python(written)
        return instant if instant.tzinfo is not None else instant.astimezone()
    except (ValidationError, ValueError, OverflowError, OSError):
        return None
