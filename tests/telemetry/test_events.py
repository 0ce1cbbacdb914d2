"""Test the log event: what it contains, what it never contains, and that it can be read back."""

from __future__ import annotations

import json
from datetime import datetime, timezone

import jsonschema_rs
import pytest
from call_events import call_event
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tables import each_row

from mcp_lenient.telemetry.events import LEVELS, LISTED, CallEvent, event_fields, line_schema, read_event
from mcp_lenient.telemetry.sinks import json_line
from mcp_lenient.types import Repair, Violation

UTC = timezone.utc
PRIVATE = "sk-live-4242424242"
CALLER = {
    "server": "context store",
    "mounted": "child",
    "via": "call_tool",
    "client_name": "claude-ai",
    "client_version": "1.2.3",
    "subject": "user-1",
    "session_id": "6f1d",
    "request_id": "7",
    "transport": "stdio",
    "model": "claude-sonnet-4-5",
    "trace_id": "0af7651916cd43dd8448eb211c80319c",
    "span_id": "b7ad6b7169203331",
    "form": "portable",
}
FACTS = {"tool": "store_context", "caller": CALLER, "duration_us": 41}
REPAIRS = (
    Repair("scalar_to_array", "/tags", "string", "array"),
    Repair("drop_injected", "/x", "null", "absent"),
)
VIOLATIONS = (
    Violation("/limit", "limit", "type", f"must be an integer, but got {PRIVATE}", received_type="string"),
)
HOSTILE = [
    pytest.param('a"}\n{"event": "call_rejected"}', id="a line of its own"),
    pytest.param("a\r\nb\x0bc\x0cd\x85e\u2028f\u2029g", id="every kind of line break"),
    pytest.param("\x1b[2J\x1b]0;owned\x07", id="terminal codes"),
    pytest.param("\x9b31m\x00\x7f", id="C1 controls, NUL and DEL"),
    pytest.param("\u202egnp.exe\u2066\u200b\ufeff", id="direction marks and invisible characters"),
    pytest.param("\ud800\udfff\udc80", id="lone surrogates"),
    pytest.param("k" * 2**20, id="a megabyte"),
    pytest.param("\x1b" * 2**20, id="a megabyte of escapes"),
    pytest.param("/" * 2**20, id="a megabyte of pointer parts"),
    pytest.param("\U0001f600\U000e0001é", id="beyond the basic plane"),
]
texts = st.text(st.characters() | st.sampled_from("\n\x1b\x7f\x85\u2028\u202e\ud800\udfff/~{"), max_size=200)
pointers = st.lists(texts, max_size=20).map(lambda parts: "".join(f"/{part}" for part in parts))
json_types = st.sampled_from(["string", "number", "array", "absent", "datetime"])
codes = st.sampled_from(["type", "enum", "missing", "unknown", "ambiguous", "size"])
written = st.builds(
    event_fields,
    st.sampled_from(sorted(LEVELS)),
    texts,
    st.fixed_dictionaries({name: st.none() | texts for name in CALLER}),
    duration_us=st.integers(-10, 2**40),
    error_code=st.none() | texts,
    violations=st.lists(
        st.builds(Violation, pointers, st.none(), codes, texts, st.none() | json_types | texts), max_size=3
    ),
    repairs=st.lists(st.builds(Repair, texts, pointers, json_types, json_types), max_size=3),
    hints=st.lists(pointers, max_size=3),
)
events = written.map(CallEvent.model_validate)


def unsafe(text: str) -> list[str]:
    """Return the characters that must be escaped in a log."""
    return [character for character in text if not character.isprintable()]


def strings(value: object) -> list[str]:
    """Return all text in a JSON value, keys included."""
    if isinstance(value, dict):
        return [text for item in value.items() for text in strings(list(item))]
    if isinstance(value, list):
        return [text for item in value for text in strings(item)]
    return [value] if isinstance(value, str) else []


@each_row(
    ("given_text", "shown"),
    [
        pytest.param("store_context", "store_context", id="plain"),
        pytest.param("größe 日本", "größe 日本", id="letters of any script"),
        pytest.param("a\nb\x1b[31m", "a\\nb\\u001b[31m", id="controls"),
        pytest.param("\ud800", "\\ud800", id="lone surrogate"),
        pytest.param("x" * 128, "x" * 128, id="longest"),
        pytest.param("x" * 129, "x" * 127 + "…", id="too long"),
    ],
)
def test_escaped(given_text, shown):
    """Printable text stays unchanged. Other text is escaped and cut."""
    assert call_event("call_rejected", **FACTS, error_code=given_text).error_code == shown


@each_row(
    ("pointer", "shown"),
    [
        pytest.param("", "", id="the whole"),
        pytest.param("/rows/0/a_b", "/rows/0/a_b", id="plain"),
        pytest.param("/größe", "/größe", id="letters of any script"),
        pytest.param("/a\nb", "/{…}", id="line break in a key"),
        pytest.param("/" + "k" * 65 + "/b", "/{…}/b", id="a long key keeps what follows"),
        pytest.param("/a" * 40, "/a" * 15 + "/…", id="too deep"),
        pytest.param(f'/{{"api_key": "{PRIVATE}"}}', "/{…}", id="arguments as a key"),
        pytest.param(f'/ [["{PRIVATE}"]]/0', "/{…}/0", id="a list as a key"),
        pytest.param(f'/```json {{"key": "{PRIVATE}"}}```', "/{…}", id="fenced arguments as a key"),
        pytest.param(f'/"{PRIVATE}"', "/{…}", id="quoted text as a key"),
        pytest.param("/rows/0/a~1b", "/rows/0/{…}", id="a slash in a key"),
        pytest.param("/password:hunter", "/{…}", id="a colon in a key"),
        pytest.param("/credentials/hunter/0", "/credentials/{…}/{…}", id="below a secret name"),
    ],
)
def test_escaped_pointer(pointer, shown):
    """A pointer keeps its structure. A key that contains a value is not shown."""
    event = call_event("call_rejected", **FACTS, violations=[Violation(pointer, None, "type", "")])
    assert event.violations[0].pointer == shown


@given(texts, pointers)
def test_escaping_twice_changes_nothing(text, pointer):
    """What has been escaped stays the same when it is written again."""
    once = call_event("call_rejected", **FACTS, error_code=text, hints=[pointer])
    again = call_event("call_rejected", **FACTS, error_code=once.error_code, hints=[once.hints[0].pointer])
    assert (again.error_code, again.hints) == (once.error_code, once.hints)


@each_row("hostile", HOSTILE)
@each_row("name", ["tool", *CALLER])
def test_smuggled_through_a_field(name, hostile):
    """Whatever a client puts into a field, the event is one bounded line of JSON."""
    facts = {"tool": "t", "caller": CALLER | {name: hostile}} if name in CALLER else {"tool": hostile}
    event = call_event("call_repaired", **facts)
    line = event.model_dump_json()
    assert len(line) < 2000
    assert not [text for text in strings(json.loads(line.encode("utf-8"))) if unsafe(text)]
    assert read_event(line) == event


@each_row("hostile", HOSTILE)
def test_smuggled_through_violations(hostile):
    """Keys, rule names, types and codes are escaped and bounded too."""
    event = call_event(
        "call_rejected",
        **FACTS,
        error_code=hostile,
        violations=[Violation(f"/{hostile}", hostile, "unknown", hostile)],
        repairs=[Repair(hostile, f"/{hostile}", hostile, hostile)],
    )
    line = event.model_dump_json()
    assert len(line) < 5000
    assert not [text for text in strings(json.loads(line.encode("utf-8"))) if unsafe(text)]
    assert read_event(line) == event


def test_values_stay_out():
    """Messages, received values, fixes and arguments sent as a key are not in the event."""
    violation = Violation(
        f'/{{"password": "{PRIVATE}"}}',
        PRIVATE,
        "unknown",
        f"got {PRIVATE}",
        received_value=PRIVATE,
        has_received_value=True,
        fixes=(({"op": "replace", "path": "", "value": PRIVATE},),),
    )
    event = call_event("call_rejected", **FACTS, violations=[violation])
    assert PRIVATE not in event.model_dump_json()


def test_an_event_has_every_field_in_the_order_of_the_model():
    """``event_fields`` writes every field of ``CallEvent``, in its order."""
    written = event_fields(
        "call_rejected",
        **FACTS,
        error_code="INVALID_LIMIT_TYPE",
        exception="KeyError",
        error_id="1f",
        repeated=2,
        violations=VIOLATIONS,
        repairs=REPAIRS,
        hints=["/note"],
        shapes_from=({}, {"limit": "many"}),
    )
    assert list(written) == list(CallEvent.model_fields)
    event = CallEvent.model_validate(written)
    assert event.model_dump(mode="json", exclude={"timestamp"}) == {
        "event": "call_rejected",
        "tool": "store_context",
        "error_code": "INVALID_LIMIT_TYPE",
        "exception": "KeyError",
        "error_id": "1f",
        "fault": "loop",
        "repeated": 2,
        "violations": [{"code": "type", "pointer": "/limit", "received": "string"}],
        "violation_count": 1,
        "repairs": [
            {"rule": "scalar_to_array", "pointer": "/tags", "before": "string", "after": "array"},
            {"rule": "drop_injected", "pointer": "/x", "before": "null", "after": "absent"},
        ],
        "repair_count": 2,
        "hints": [{"code": "json_text_kept", "pointer": "/note"}],
        "shapes": [{"pointer": "/limit", "type": "string", "length": 4, "characters": ["letter"]}],
        "duration_us": 41,
        **CALLER,
        "schema_version": 1,
    }


def test_long_lists_are_cut_and_counted():
    """Fifty repairs and violations are listed, and all are counted."""
    event = call_event("call_rejected", **FACTS, violations=VIOLATIONS * 70, repairs=REPAIRS * 40)
    assert (len(event.violations), event.violation_count) == (LISTED, 70)
    assert (len(event.repairs), event.repair_count) == (LISTED, 80)


def test_a_type_that_is_not_json():
    """A type that is not a JSON type is recorded as unknown."""
    event = call_event("call_repaired", **FACTS, repairs=[Repair("my_rule", "/when", "datetime", "string")])
    assert (event.repairs[0].before, event.repairs[0].after) == ("unknown", "string")


@each_row(
    "changes",
    [
        pytest.param({"tool": "a\nb"}, id="line break"),
        pytest.param({"tool": "a\x1b[0m"}, id="terminal code"),
        pytest.param({"client_name": "x" * 129}, id="too long"),
        pytest.param({"schema_version": 2}, id="another version"),
        pytest.param({"event": "call_lost"}, id="another event"),
    ],
)
def test_no_unsafe_event_can_be_built(changes):
    """The model itself refuses unsafe fields."""
    with pytest.raises(ValidationError):
        CallEvent.model_validate({"schema_version": 1, "event": "call_accepted", "tool": "t", **changes})


@given(written)
def test_a_line_of_the_log_reads_back_equal(known):
    """A line written without validation equals the one that the model would write, with empty fields or without."""
    event = CallEvent.model_validate(known)
    assert read_event(event.model_dump_json()) == event
    line = json_line(None, "info", dict(known))
    assert line.isascii()
    assert line.isprintable()
    assert read_event(line) == event
    assert event.model_dump(mode="json", exclude_defaults=True) == known


def _violation(code, own=None):
    return Violation("/a", "a", code, "", error_code=own)


@each_row(
    ("event", "facts", "fault"),
    [
        pytest.param("call_repaired", {}, None, id="repaired"),
        pytest.param("call_rejected", {"violations": [_violation("missing")]}, "left_out", id="left out"),
        pytest.param("call_rejected", {"violations": [_violation("type")]}, "wrong_shape", id="shape"),
        *(
            pytest.param("call_rejected", {"violations": [_violation(code)]}, "wrong_value", id=code)
            for code in ("enum", "value", "range", "length", "pattern", "format", "ambiguous")
        ),
        pytest.param("call_observed", {"violations": [_violation("size")]}, "too_large", id="too large"),
        pytest.param("call_rejected", {"violations": [_violation("type", "CUT_OFF")]}, "cut_off", id="cut"),
        pytest.param(
            "call_forwarded",
            {"violations": [_violation("missing"), _violation("unknown")]},
            "unknown_name",
            id="an unknown name for a missing one",
        ),
        pytest.param("call_rejected", {"error_code": "UNKNOWN_TOOL"}, "unknown_tool", id="unknown tool"),
        pytest.param("call_rejected", {"error_code": "MINE"}, None, id="the author's own code"),
        pytest.param(
            "call_rejected", {"violations": [_violation("missing")], "repeated": 2}, "loop", id="loop"
        ),
        pytest.param("call_refused_upstream", {"error_code": "X"}, "server_refused", id="server"),
        pytest.param("call_unanswered", {"error_code": "X"}, "no_answer", id="no answer"),
        pytest.param("call_failed", {"exception": "KeyError"}, "tool_failed", id="tool"),
    ],
)
def test_the_fault_says_why_a_call_came_to_nothing(event, facts, fault):
    """Each event of a call that came to nothing has one word of a closed set."""
    assert event_fields(event, "t", **facts).get("fault") == fault


@given(events)
def test_the_published_schema_describes_the_lines(event):
    """The JSON Schema for readers in other languages accepts every line."""
    schema = jsonschema_rs.validator_for(CallEvent.model_json_schema())
    assert schema.is_valid(event.model_dump(mode="json", exclude_defaults=True))


def test_the_schema_describes_every_field():
    """Every field of the published schema has a description."""
    schema = line_schema()
    described = [schema, *schema["$defs"].values()]
    assert [
        name for part in described for name, field in part["properties"].items() if "description" not in field
    ] == []


@each_row(
    ("written", "instant"),
    [
        pytest.param("2026-11-21T21:46:00.123456Z", datetime(2026, 11, 21, 21, 46, 0, 123456, UTC), id="ISO"),
        pytest.param("2026-11-21T23:46:00+02:00", datetime(2026, 11, 21, 21, 46, tzinfo=UTC), id="offset"),
        pytest.param(1795297560.0, datetime(2026, 11, 21, 21, 46, tzinfo=UTC), id="Unix time"),
        pytest.param("2026-11-21 21:46:00", datetime(2026, 11, 21, 21, 46).astimezone(), id="local"),
        pytest.param("21/Nov/2026", None, id="unreadable"),
        pytest.param("0001-01-01T00:00:00", None, id="before all time zones"),
        pytest.param(1e300, None, id="after all time"),
        pytest.param(None, None, id="none"),
    ],
)
def test_the_time_of_an_application(written, instant):
    """The application's own time format is read if possible. Otherwise only the time is lost."""
    line = {"schema_version": 1, "event": "call_accepted", "tool": "t", "timestamp": written}
    event = read_event(json.dumps(line))
    assert event is not None
    assert event.timestamp is None if instant is None else event.timestamp == instant


def test_fields_added_by_an_application_are_ignored():
    """Keys that are not ours do not make a line unreadable."""
    event = call_event("call_repaired", **FACTS, repairs=REPAIRS)
    added = {
        "level": "info",
        "logger": "mcp_lenient",
        "request": {"user": 1},
        **event.model_dump(mode="json"),
    }
    assert read_event(json.dumps(added) + "\n") == event


@each_row(
    "line",
    [
        pytest.param("", id="empty"),
        pytest.param("INFO: Uvicorn running", id="text"),
        pytest.param("null", id="null"),
        pytest.param('["call_repaired"]', id="list"),
        pytest.param('{"event": "call_repaired", "tool": "t"}', id="no version"),
        pytest.param('{"event": "call_repaired", "tool": "t", "schema_version": 2}', id="another version"),
        pytest.param('{"event": "request_start", "tool": "t", "schema_version": 1}', id="another event"),
        pytest.param('{"event": "call_repaired", "schema_version": 1}', id="no tool"),
        pytest.param('{"event": "call_repaired", "tool": "a\\nb", "schema_version": 1}', id="unsafe text"),
        pytest.param(
            '{"event": "call_repaired", "tool": "\\ud800", "schema_version": 1}', id="lone surrogate"
        ),
        pytest.param('{"event": "call_repaired", "tool": "t", "sche', id="cut off"),
        pytest.param("\ud800", id="not UTF-8"),
        pytest.param("[" * 200_000, id="deep"),
        pytest.param('{"tool": ' + "9" * 10_000 + "}", id="a number of 10,000 digits"),
    ],
)
def test_foreign_lines(line):
    """A line that is not an event gives None, not an error."""
    assert read_event(line) is None


@given(st.text())
def test_no_line_raises(line):
    """Any text gives None and raises nothing."""
    assert read_event(line) is None
