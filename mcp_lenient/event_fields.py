"""What is written of one call: its name, its level and its fields, made safe to log.

:mod:`mcp_lenient.events` has the same as a typed model, which takes longer to load and is for reading back.
"""

from __future__ import annotations

import logging
from datetime import datetime, timezone
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args

from mcp_lenient.one_line import LONGEST_PART, escaped, escaped_pointer
from mcp_lenient.redaction import shown_label, shown_name
from mcp_lenient.types import JsonType

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mcp_lenient.types import Repair, Violation

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

_JSON_TYPES: Final = frozenset({*get_args(JsonType), "absent"})


class CallFacts(NamedTuple):
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
    subject: str | None = None
    session_id: str | None = None
    request_id: str | None = None
    transport: str | None = None
    trace_id: str | None = None
    span_id: str | None = None


_FACTS: Final = CallFacts._fields[2:]
_FORMS: Final[Mapping[str, Callable[[str], str]]] = MappingProxyType(
    {
        "client_name": shown_label,
        "client_version": shown_label,
        "session_id": shown_name,
        "request_id": shown_name,
    }
)
"""The forms of what a client chooses; what the operator or a token says is escaped and cut."""


def event_fields(
    event: EventName,
    facts: CallFacts,
    *,
    error_code: str | None = None,
    violations: Sequence[Violation] = (),
    repairs: Sequence[Repair] = (),
    hints: Sequence[str] = (),
    secret: frozenset[str] = frozenset(),
) -> dict[str, Any]:
    """The event for one call as it is written, dated now: every text escaped, every list cut, nothing empty.

    It is what :class:`CallEvent` would write of itself, without the time that validation takes.

    Args:
        event: What became of the call.
        facts: Who called what, over which way.
        error_code: The envelope's code, of a call that was refused or would have been.
        violations: What was still wrong after repair.
        repairs: What was changed, or would have been.
        hints: JSON Pointers of JSON texts that were kept as text.
        secret: Names of the policy below which keys are not shown.
    """
    known: dict[str, Any] = {"timestamp": timestamp(), "event": event, "tool": shown_name(facts.tool)}
    if error_code is not None:
        known["error_code"] = escaped(error_code)
    if violations:
        known["violations"] = [_violation_record(item, secret) for item in violations[:LISTED]]
        known["violation_count"] = len(violations)
    if repairs:
        known["repairs"] = [_repair_record(item, secret) for item in repairs[:LISTED]]
        known["repair_count"] = len(repairs)
    if hints:
        known["hints"] = [
            {"code": "json_text_kept", "pointer": escaped_pointer(each, secret)} for each in hints[:LISTED]
        ]
    if facts.duration_us > 0:
        known["duration_us"] = facts.duration_us
    for name, text in zip(_FACTS, facts[2:], strict=True):
        if text is not None:
            known[name] = _FORMS.get(name, escaped)(text)
    known["schema_version"] = 1
    return known


def timestamp() -> str:
    """This moment, as events have it: UTC, ending in ``Z``."""
    return f"{datetime.now(timezone.utc).isoformat()[:-6]}Z"


def _violation_record(item: Violation, secret: frozenset[str]) -> dict[str, str]:
    record: dict[str, str] = {"code": item.code, "pointer": escaped_pointer(item.pointer, secret)}
    if item.received_type is not None:
        record["received"] = item.received_type if item.received_type in _JSON_TYPES else "unknown"
    return record


def _repair_record(item: Repair, secret: frozenset[str]) -> dict[str, str]:
    return {
        "rule": escaped(item.rule, limit=LONGEST_PART),
        "pointer": escaped_pointer(item.pointer, secret),
        "before": item.before if item.before in _JSON_TYPES else "unknown",
        "after": item.after if item.after in _JSON_TYPES else "unknown",
    }
