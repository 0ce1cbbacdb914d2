"""The log event of one call: its model, its escaped fields, and its line for people."""

from __future__ import annotations

import ast
import inspect
import logging
from datetime import datetime, timezone
from functools import partial
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeInt,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from mcp_lenient.types import JsonType, ViolationCode
from mcp_lenient.values.display import (
    LONGEST_PART,
    LONGEST_POINTER,
    LONGEST_TEXT,
    escaped_pointer,
    shown,
    shown_label,
    shown_model,
    shown_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mcp_lenient.schema.node import Node
    from mcp_lenient.types import Repair, Violation


EventName = Literal[
    "call_repaired",
    "call_rejected",
    "call_accepted",
    "call_observed",
    "call_forwarded",
    "call_refused_upstream",
    "call_unanswered",
    "call_failed",
]
"""The outcome of a call; ``call_forwarded`` could not be repaired and was forwarded unchanged.

The last three follow one of the others: for a call that a proxy forwarded, the upstream server refused its arguments, or
did not answer; and the tool's own code raised an exception.
"""
FailureKind = Literal[
    "loop",
    "cut_off",
    "too_large",
    "unknown_tool",
    "unknown_name",
    "left_out",
    "wrong_shape",
    "wrong_value",
    "server_refused",
    "no_answer",
    "tool_failed",
]
"""Why a call came to nothing, in one word; where several apply, the first of them."""
LEVELS: Final[Mapping[EventName, int]] = {
    "call_repaired": logging.INFO,
    "call_rejected": logging.WARNING,
    "call_accepted": logging.DEBUG,
    "call_observed": logging.INFO,
    "call_forwarded": logging.INFO,
    "call_refused_upstream": logging.WARNING,
    "call_unanswered": logging.WARNING,
    "call_failed": logging.WARNING,
}
"""The log level of each event."""
LISTED: Final = 50
"""The number of repairs and violations that one event lists; its counts include all."""
RecordedType = Literal[JsonType, "absent", "unknown"]
"""A JSON type name, ``absent`` for an omitted property, ``unknown`` for a value that is not JSON."""
_RECORDED: Final = frozenset(get_args(RecordedType))
_escaped: Final = partial(shown, limit=LONGEST_TEXT)
_FORMS: Final[Mapping[str, Callable[[str], str]]] = {
    "client_name": shown_label,
    "client_version": shown_label,
    "model": shown_model,
    "session_id": shown_name,
    "request_id": shown_name,
}
"""The masking of fields that a client chooses; fields of the operator or a token are escaped and shortened."""


_FAULTS_OF_EVENTS: Final[Mapping[EventName, FailureKind]] = {
    "call_refused_upstream": "server_refused",
    "call_unanswered": "no_answer",
    "call_failed": "tool_failed",
}
_FAULTS_OF_CODES: Final[Mapping[str, FailureKind]] = {
    "CUT_OFF": "cut_off",
    "UNKNOWN_TOOL": "unknown_tool",
    "UPSTREAM_UNAVAILABLE": "no_answer",
    "size": "too_large",
    "unknown": "unknown_name",
    "missing": "left_out",
    "type": "wrong_shape",
}
_FAULTS: Final = get_args(FailureKind)


def fault_of(
    event: EventName, violations: Sequence[Violation] = (), error_code: str | None = None, repeated: int = 1
) -> FailureKind | None:
    """Return why a call came to nothing; None if it did not, or for a reason of the author's own.

    >>> from mcp_lenient.types import Violation
    >>> fault_of("call_rejected", [Violation("/n", "n", "type", ""), Violation("/q", "q", "missing", "")])
    'left_out'
    """
    if event in _FAULTS_OF_EVENTS:
        return _FAULTS_OF_EVENTS[event]
    if repeated > 1:
        return "loop"
    codes = ["CUT_OFF" if fault.error_code == "CUT_OFF" else fault.code for fault in violations]
    faults = [_FAULTS_OF_CODES.get(code, "wrong_value") for code in codes]
    return min(faults, key=_FAULTS.index) if faults else _FAULTS_OF_CODES.get(error_code or "")


def event_fields(  # noqa: PLR0913 - one for each part of an event
    event: EventName,
    tool: str,
    caller: Mapping[str, str | None] = MappingProxyType({}),
    *,
    duration_us: int = 0,
    error_code: str | None = None,
    exception: str | None = None,
    error_id: str | None = None,
    repeated: int = 1,
    violations: Sequence[Violation] = (),
    repairs: Sequence[Repair] = (),
    hints: Sequence[str] = (),
    shapes_from: tuple[Node, Mapping[str, Any]] | None = None,
    secret: frozenset[str] = frozenset(),
) -> dict[str, Any]:
    """Return the fields of a :class:`CallEvent` as they are written, without the cost of validating the model.

    Texts are escaped, lists shortened, empty fields left out, and the timestamp is now.

    The arguments are the fields of that name, ``caller`` those from ``server`` to ``span_id``, ``hints`` the JSON
    Pointers of JSON texts that were kept as text. ``shapes_from`` is the tool's schema and what was sent, if the policy
    wants shapes logged; ``secret`` are names of the policy below which keys are not shown.
    """
    reasons = {"error_code": error_code, "exception": exception, "error_id": error_id}
    fields = {
        "timestamp": timestamp(),
        "event": event,
        "tool": shown_name(tool),
        **{name: _escaped(text) for name, text in reasons.items() if text},
        "fault": fault_of(event, violations, error_code, repeated),
        "repeated": repeated if repeated > 1 else None,
        "violations": [_violation_record(item, secret) for item in violations[:LISTED]],
        "violation_count": len(violations),
        "repairs": [_repair_record(item, secret) for item in repairs[:LISTED]],
        "repair_count": len(repairs),
        "hints": [
            {"code": "json_text_kept", "pointer": escaped_pointer(hint, secret)} for hint in hints[:LISTED]
        ],
        "shapes": _shapes(shapes_from, secret),
        "duration_us": max(duration_us, 0),
        **{name: _FORMS.get(name, _escaped)(text) for name, text in caller.items() if text},
        "schema_version": 1,
    }
    return {name: value for name, value in fields.items() if value}


def _shapes(
    shapes_from: tuple[Node, Mapping[str, Any]] | None, secret: frozenset[str]
) -> list[dict[str, Any]] | None:
    if shapes_from is None or not shapes_from[1]:
        return None
    from mcp_lenient.telemetry.shapes import shapes_of

    return shapes_of(*shapes_from, secret)


def timestamp() -> str:
    """Return the current time in the format of events: UTC, ending in ``Z``."""
    return f"{datetime.now(timezone.utc).isoformat()[:-6]}Z"


def _violation_record(item: Violation, secret: frozenset[str]) -> dict[str, str]:
    record: dict[str, str] = {"code": item.code, "pointer": escaped_pointer(item.pointer, secret)}
    if item.received_type is not None:
        record["received"] = item.received_type if item.received_type in _RECORDED else "unknown"
    return record


def _repair_record(item: Repair, secret: frozenset[str]) -> dict[str, str]:
    return {
        "rule": shown(item.rule, LONGEST_PART),
        "pointer": escaped_pointer(item.pointer, secret),
        "before": item.before if item.before in _RECORDED else "unknown",
        "after": item.after if item.after in _RECORDED else "unknown",
    }


# No control characters, line separators, invisible or direction marks.
_ONE_LINE: Final = r"^[^\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]*$"
Text = Annotated[str, Field(max_length=LONGEST_TEXT, pattern=_ONE_LINE)]
RuleName = Annotated[str, Field(max_length=LONGEST_PART, pattern=_ONE_LINE)]
PointerText = Annotated[str, Field(max_length=LONGEST_POINTER, pattern=_ONE_LINE)]


class _Record(BaseModel):
    # Deferred, as otherwise each import would build the validators.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class RepairRecord(_Record):
    """A logged repair."""

    rule: RuleName
    """The rule's name."""
    pointer: PointerText
    """JSON Pointer of the sent value, escaped and shortened."""
    before: RecordedType
    """JSON type of the sent value."""
    after: RecordedType
    """JSON type of the value that the tool received."""


class ViolationRecord(_Record):
    """A logged violation."""

    code: ViolationCode
    """The kind of error."""
    pointer: PointerText
    """JSON Pointer of the error, escaped and shortened."""
    received: RecordedType | None = None
    """JSON type of the sent value; null if there was none."""


class HintRecord(_Record):
    """A logged value that was accepted, but may be a mistake."""

    code: Literal["json_text_kept"]
    """A JSON array or object was sent as text where text is allowed as well, and stayed text; if that is wrong,
    declare ``parse_json()`` for the parameter."""
    pointer: PointerText
    """JSON Pointer of the value, escaped and shortened."""


CharacterKind = Literal[
    "letter", "digit", "space", "line", "bracket", "quote", "separator", "symbol", "other"
]
"""What a text is made of; ``other`` is what cannot be printed."""


class ShapeRecord(_Record):
    """What one argument looked like, without its value."""

    pointer: PointerText
    """JSON Pointer of the place, escaped and cut."""
    type: RecordedType | Literal["secret"]
    """JSON type of what was sent; ``secret`` where nothing is told of it."""
    length: NonNegativeInt | None = None
    """How many characters, items or keys it had; null for other types."""
    characters: tuple[CharacterKind, ...] = ()
    """What a text was made of."""


def _instant(written: Any, parse: ValidatorFunctionWrapHandler) -> datetime | None:
    try:
        instant: datetime | None = parse(written)
        return instant if instant is None or instant.tzinfo is not None else instant.astimezone()
    except (ValueError, OverflowError, OSError):
        return None


class CallEvent(_Record):
    """The outcome of one call: one line of the log.

    It contains no argument values. The model requires every text to be one line of bounded length;
    :func:`event_fields` escapes and shortens texts that a client sent.
    """

    model_config = ConfigDict(extra="ignore")

    timestamp: Annotated[datetime | None, WrapValidator(_instant)] = None
    """When the event was built; null if the log's own time format cannot be parsed."""
    event: EventName
    """The outcome of the call."""
    tool: Text
    """The name that was called, whether the tool exists or not; ``{…}`` unless it is at most 128 letters, digits
    and ``_-./``."""
    error_code: Text | None = None
    """The envelope's code, if the call was refused or would have been."""
    exception: Text | None = None
    """The type of the exception that the tool's own code raised, without its text."""
    error_id: Text | None = None
    """The id in the answer that the caller got for it, with ``Policy(body_errors='envelope')``."""
    fault: FailureKind | None = None
    """Why the call came to nothing, or would have: ``loop`` (the same call was refused before), ``cut_off``,
    ``too_large``, ``unknown_tool``, ``unknown_name``, ``left_out``, ``wrong_shape``, ``wrong_value``,
    ``server_refused``, ``no_answer`` or ``tool_failed``; where several apply, the first of them."""
    repeated: int = Field(default=1, ge=1)
    """How often the same caller was refused the same call, this time included."""
    violations: tuple[ViolationRecord, ...] = Field(default=(), max_length=LISTED)
    """The errors left after repair, the first 50."""
    violation_count: NonNegativeInt = 0
    """The total number of violations."""
    repairs: tuple[RepairRecord, ...] = Field(default=(), max_length=LISTED)
    """The changes made, or that would have been made, the first 50."""
    repair_count: NonNegativeInt = 0
    """The total number of repairs."""
    hints: tuple[HintRecord, ...] = Field(default=(), max_length=LISTED)
    """Accepted values that may be mistakes, the first 50."""
    shapes: tuple[ShapeRecord, ...] = Field(default=(), max_length=LISTED)
    """What was sent, without values, the first 50 places; with ``Policy(log_values='shapes')``."""
    duration_us: NonNegativeInt = 0
    """Microseconds spent on validation and repair, without the tool itself (of ``call_failed`` with it); the first
    repair of a process takes longer, since it loads code."""
    server: Text | None = None
    """The name of the called server."""
    mounted: Text | None = None
    """The path of mounted servers down to the tool's own, if that is another one."""
    via: Text | None = None
    """The tool that the call was made through: a dispatcher, or one that runs a model's code."""
    client_name: Text | None = None
    """The name that the client reports."""
    client_version: Text | None = None
    """The version that the client reports."""
    subject: Text | None = None
    """The subject of the request's access token: its ``sub`` claim, else its client id."""
    session_id: Text | None = None
    """New with each request on stateless and on 2026-07-28 connections."""
    request_id: Text | None = None
    """The id of the JSON-RPC request."""
    transport: Text | None = None
    """``stdio``, ``sse`` or ``streamable-http``; null for a call within the process."""
    model: Text | None = None
    """The model that made the call: ``gen_ai.request.model`` in the call's OpenTelemetry baggage."""
    trace_id: Text | None = None
    """OpenTelemetry trace, 32 hexadecimal digits."""
    span_id: Text | None = None
    """OpenTelemetry span, 16 hexadecimal digits."""
    form: Text | None = None
    """The form in which the tool's schema is published, if it is not the author's."""
    schema_version: Literal[1]
    """The version of this model; a later form of the event has another number."""


def line_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a log line: an event, its level, and the application's own fields.

    >>> line_schema()["properties"]["level"]["enum"]
    ['debug', 'info', 'warning', 'error']
    """
    event = CallEvent.model_json_schema()
    for name, schema in {"CallEvent": event, **event["$defs"]}.items():
        for field, description in _descriptions(globals()[name]):
            schema["properties"][field]["description"] = description
    level = {
        "description": "The level at which the event was logged.",
        "enum": ["debug", "info", "warning", "error"],
        "title": "Level",
    }
    properties = {**event["properties"], "level": level}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **event, "properties": properties}


def _descriptions(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """Yield a model's fields with their docstrings, for which Pydantic would read the source at each import."""
    described: Any = ast.parse(inspect.getsource(model)).body[0]
    for field, text in pairwise(described.body):
        if isinstance(field, ast.AnnAssign):
            yield ast.unparse(field.target), " ".join(text.value.value.split())


def read_event(line: str) -> CallEvent | None:
    """Parse the event in one line of a JSON log; return None for any other line.

    Fields that the application's logging added are ignored. A time without a zone is local time; one that cannot be
    parsed becomes None.

    Raises:
        TypeError: When the line is not a string.
    """
    text: object = line
    if not isinstance(text, str):
        msg = f"read_event: line must be a str, got {type(text).__name__}."
        raise TypeError(msg)
    try:
        return CallEvent.model_validate_json(text.encode())
    except ValueError:  # not JSON, not UTF-8, or not an event: a ValidationError is a ValueError
        return None


Part = tuple[str, str]
"""A part of a line and its style, by rich's names of styles."""
_STYLES: Final[Mapping[str, str]] = {
    "repaired": "green",
    "rejected": "bold red",
    "accepted": "dim",
    "observed": "cyan",
}
_MAX_SHOWN: Final = 5


def event_parts(fields: Mapping[str, Any], *, today: datetime | None = None) -> list[Part]:
    """Return the parts of one event's line, without line breaks and terminal escapes.

    With ``today`` the lines of other days show their date.
    """
    outcome = str(fields["event"]).removeprefix("call_")
    parts = [
        (_time(fields.get("timestamp"), today), "dim"),
        (f"{outcome:<9}", _STYLES.get(outcome, "yellow")),
    ]
    if "tool" in fields:
        parts.append((fields["tool"], "bold"))
    if "via" in fields:
        parts.append((f"via {fields['via']}", "dim"))
    if "subject" in fields and "reason" in fields:
        parts += [(fields["subject"], "bold"), (fields["reason"], "")]
    parts += [(text, "") for text in _outcome(fields)]
    caller = " ".join(str(fields[name]) for name in ("client_name", "client_version") if name in fields)
    if caller:
        parts.append((f"by {caller}", "dim"))
    if "model" in fields:
        parts.append((f"with {fields['model']}", "dim"))
    parts += [(f"{name}={value}", "dim") for name, value in fields.get("context", {}).items()]
    return [(shown(text, 8 * LONGEST_TEXT), style) for text, style in parts]


def _time(written: str | None, today: datetime | None) -> str:
    if written is None:
        return "--:--:--"
    at = datetime.fromisoformat(written.replace("Z", "+00:00")).astimezone()
    same_day = today is None or at.date() == today.date()
    return at.strftime("%H:%M:%S" if same_day else "%Y-%m-%d %H:%M:%S")


def _outcome(fields: Mapping[str, Any]) -> Iterator[str]:
    violations, repairs = fields.get("violations", ()), fields.get("repairs", ())
    if "error_code" in fields:
        yield fields["error_code"]
    if "exception" in fields:
        yield f"raised {fields['exception']}"
    if "error_id" in fields:
        yield f"id {fields['error_id']}"
    wrong = [_violation(violation, alone=len(violations) == 1) for violation in violations]
    yield from _first_few("at ", wrong, fields.get("violation_count", 0))
    changes = [f"{repair['rule']} at {_place(repair)}" for repair in repairs]
    yield from _first_few("after " if wrong else "", changes, fields.get("repair_count", 0))
    yield from _first_few("", [f"{hint['code']} at {_place(hint)}" for hint in fields.get("hints", ())], 0)
    if fields.get("repeated", 1) > 1:
        yield f"(the same call, refused {fields['repeated']} times)"


def _first_few(word: str, texts: list[str], count: int) -> Iterator[str]:
    """Yield the first few of a list, and the number of the others."""
    more = max(count, len(texts)) - min(len(texts), _MAX_SHOWN)
    if texts:
        yield f"{word}{', '.join(texts[:_MAX_SHOWN])}{f' and {more} more' if more > 0 else ''}"


def _violation(record: Mapping[str, Any], *, alone: bool) -> str:
    """Return place, code and received type; a single violation needs no code besides the event's."""
    received = f" ({record['received']})" if "received" in record else ""
    return f"{_place(record)}{'' if alone else ' ' + record['code']}{received}"


def _place(record: Mapping[str, Any]) -> str:
    return record["pointer"] or "the arguments"
