"""The targets. Each is a function that takes any bytes, and raises an error if a law is broken."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from time import process_time
from types import MappingProxyType
from typing import Any, Final

from fuzz.calls import CANARY, arguments, input_schema
from fuzz.choices import Choices
from fuzz.laws import one_log, one_schema, one_spelling
from fuzz.published import one_published
from mcp_lenient import (
    DEFAULT_RULES,
    Limits,
    Policy,
    Repair,
    ToolCallError,
    normalize,
    parse_tool_call,
    parse_tool_calls,
)
from mcp_lenient.engine.schema_validator import PublishedSchemaValidator
from mcp_lenient.errors import SchemaError
from mcp_lenient.results import Normalized
from mcp_lenient.schema.compile import readable
from mcp_lenient.schema.defaults import with_defaults
from mcp_lenient.telemetry.events import CallEvent, event_fields, read_event

SECONDS: Final = 2.0
"""Seconds of processor time allowed for an input of a few kilobytes, far more than needed."""

_DESTRUCTIVE: Final = frozenset(
    rule.name for rule in DEFAULT_RULES if rule.tier <= 2 and not rule.name.startswith("rename_")
) | {"rename_case", "rename_alias", "unwrap_arguments"}
"""Repairs allowed in a destructive tool: tiers 1 and 2, names that differ only in case, and a wrapper of the whole call."""
_RENAMING: Final = frozenset(rule.name for rule in DEFAULT_RULES if rule.name.startswith("rename_"))
_MOVING: Final = frozenset({"unwrap_arguments", "wrap_arguments", "wrapped_value", "item_wrapper_to_array"})

_POLICIES: Final = (
    Policy(),
    Policy(),
    Policy(destructive=True),
    Policy.strict(),
    Policy(disable=frozenset({"rename_case", "json_text_to_array"})),
    Policy(aliases={"query": ("q", "data")}, drop=frozenset({"sessionId"}), limits=Limits(depth=4)),
)


def one_normalize(data: bytes) -> None:
    """Check that ``normalize`` answers, keeps accepted arguments, repairs to accepted ones, and repeats no secret."""
    if CANARY.encode() in data:
        return  # the fuzzer has learned the word, and writes it where it may be shown
    choices = Choices(data)
    policy = choices.one_of(_POLICIES)
    schema = input_schema(choices)
    sent = arguments(choices, schema)
    started = process_time()
    before = copy.deepcopy(sent)
    try:
        result = normalize(schema, sent, policy)
    except SchemaError:
        return
    assert process_time() - started < SECONDS, "took too long"
    assert exactly(sent) == exactly(before), "what was sent was changed"
    reported = repr((result.repairs, result.violations))
    assert CANARY not in reported, f"a secret is shown: {reported}"
    judge = PublishedSchemaValidator(with_defaults(readable(schema)))
    if isinstance(sent, dict) and judge.accepts(sent) and result.arguments is not sent:
        # What the schema accepts is only changed where a name would be lost.
        assert {repair.rule for repair in result.repairs} & {"rename_case", "unwrap_arguments"}
    if policy.allows("rename_case"):
        judge = judge.correcting_names()
    if isinstance(sent, dict) and judge.accepts(sent):
        assert result.arguments is sent, "what is accepted is not the same object"
        assert not result.repairs, "what is accepted was repaired"
        assert not result.violations, "what is accepted was refused"
    elif result.violations:
        assert result.arguments is sent, "what is refused is not what was sent"
        assert not result.repairs, "a refused call names repairs"
    else:
        _is_repaired(schema, judge, result.arguments, policy)
        assert result.repairs, "a change without a record"
        _keeps_names(sent, result, policy)
        if policy.destructive is True:
            _keeps_values(result.repairs)


def _keeps_values(repairs: Iterable[Repair]) -> None:
    """Check law 11: in a destructive tool nothing is left out, made null or renamed to a similar name."""
    for repair in repairs:
        assert repair.rule in _DESTRUCTIVE, f"{repair.rule} in a destructive tool"
        left_out = repair.after == "absent" and repair.rule != "drop_injected"
        assert not left_out, f"{repair.rule} leaves a value out of a destructive tool"
        assert repair.after != "null", f"{repair.rule} makes a value null in a destructive tool"


def _keeps_names(sent: Any, result: Normalized, policy: Policy) -> None:
    """Check that a renamed key is the sent one in another spelling, its plural, or has it as an alias."""
    rules = {repair.rule for repair in result.repairs}
    if not isinstance(sent, dict) or policy.aliases or not rules & _RENAMING or rules & _MOVING:
        return
    for before, after in _objects_in_place(sent, result.arguments):
        gone = [key for key in before if key not in after]
        for new in (key for key in after if key not in before):
            assert any(_alike(old, new) for old in gone), f"{gone} became {new!r} by likeness"


def _objects_in_place(before: Any, after: Any) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the objects at the same place in both calls, as deep as names are kept."""
    if isinstance(before, dict) and isinstance(after, dict):
        yield before, after
        for key in before.keys() & after.keys():
            yield from _objects_in_place(before[key], after[key])
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for pair in zip(before, after, strict=True):
            yield from _objects_in_place(*pair)


def _alike(old: Any, new: Any) -> bool:
    if not isinstance(old, str) or not isinstance(new, str):
        return False
    plurals = (f"{old}s", f"{old}es", f"{old[:-1]}ies" if old.endswith("y") else old)
    return any(_spelt(each) == _spelt(new) for each in (old, *plurals))


def _spelt(name: str) -> str:
    return "".join(each for each in name.casefold() if each.isalnum())


def _is_repaired(schema: Any, judge: PublishedSchemaValidator, repaired: Any, policy: Policy) -> None:
    assert judge.accepts(repaired), "a repair that the judge refuses"
    again = normalize(schema, repaired, policy)
    assert again.arguments is repaired, "repaired twice is not repaired once"
    assert not again.repairs, "a repaired call is repaired again"


def one_tool_call(data: bytes) -> None:
    """Check that ``parse_tool_call`` reads one call or says why not, and reads a written call back."""
    choices = Choices(data)
    limits = choices.one_of((None, None, Limits(text=200), Limits(depth=3, relaxed_text=50)))
    text = choices.rest()
    started = process_time()
    try:
        calls = parse_tool_calls(text, limits=limits)
    except ToolCallError as error:
        assert len(str(error)) < 2_000, "an error without bound"
        calls = ()
    assert process_time() - started < SECONDS, "took too long"
    try:
        only = parse_tool_call(text, limits=limits)
    except ToolCallError as error:
        assert len(calls) != 1, f"one call is read as several are, but not alone: {error}"
        return
    assert exactly(calls) == exactly((only,)), "read alone it is another call"
    assert only.tool.strip()
    assert isinstance(only.arguments, dict)
    written = {"server": only.server} if only.server is not None else {}
    try:
        encoded = json.dumps(written | {"name": only.tool, "arguments": only.arguments}, allow_nan=False)
    except ValueError:
        msg = "arguments that are not JSON"
        raise AssertionError(msg) from None
    if limits is None:
        assert exactly(parse_tool_call(encoded)) == exactly(only), "written as JSON it is another call"


_CALLER: Final = tuple(CallEvent.model_fields)[
    list(CallEvent.model_fields).index("server") : list(CallEvent.model_fields).index("schema_version")
]
"""The fields of an event that identify the caller."""


def one_event(data: bytes) -> None:
    """Check that ``read_event`` returns an event or None for any line, and reads a written event back."""
    choices = Choices(data)
    if choices.flag():
        caller = {name: choices.text() for name in choices.some_of(_CALLER, 8)}
        tool, duration = choices.text(), choices.below(256) - 100
        written = event_fields("call_rejected", tool, caller, duration_us=duration, error_code=choices.text())
        made = CallEvent.model_validate(written)
        assert exactly(_read_again(made)) == exactly(made), "a written event is read as another"
    line = json.dumps(_near_event(choices)) if choices.flag() else choices.rest()
    event = read_event(line)
    if event is not None:
        assert exactly(_read_again(event)) == exactly(event), "a read event is not read again as the same"
        reported = [value for value in event.model_dump().values() if isinstance(value, str)]
        assert all(text.isprintable() or len(text) <= 128 for text in reported)


def _read_again(event: CallEvent) -> CallEvent | None:
    return read_event(event.model_dump_json(exclude_defaults=True))


def _near_event(choices: Choices) -> Any:
    known: dict[str, Any] = {"event": "call_repaired", "tool": "t", "schema_version": 1}
    for name in choices.some_of(tuple(CallEvent.model_fields), 6):
        known[name] = choices.one_of(
            (
                None,
                1,
                -1,
                1.5,
                True,
                choices.text(),
                [],
                {},
                "2026-01-01T00:00:00",
                "9999-12-31T23:59:59-12:00",
                10**30,
                -1e300,
                [{"code": "type", "pointer": choices.text()}],
                [{"rule": "a", "pointer": choices.text(), "before": "string", "after": "absent"}]
                * choices.below(60),
            )
        )
    return known


def exactly(value: Any) -> Any:
    """Return a form in which 1, 1.0 and true differ, and NaN equals itself."""
    if isinstance(value, Mapping):
        return [(exactly(key), exactly(entry)) for key, entry in value.items()]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(exactly, value)]
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    return (type(value).__name__, repr(value) if isinstance(value, float) else value)


TARGETS: Final[Mapping[str, Callable[[bytes], None]]] = MappingProxyType(
    {
        "normalize": one_normalize,
        "tool_calls": one_tool_call,
        "events": one_event,
        "spelling": one_spelling,
        "schemas": one_schema,
        "log": one_log,
        "published": one_published,
    }
)
"""The targets by name."""
