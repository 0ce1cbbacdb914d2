"""Test wrapped arguments and wrapped values."""

from __future__ import annotations

from typing import Any

from decisions import decide
from tables import INTEGER, OBJECT, STRING, Json, check, closed, each_row

FILTER = closed("field", field=STRING, value=INTEGER)


@each_row(
    ("name", "value"),
    [
        *(("string", "a"), ("str", "a"), ("number", 2), ("number", 2.5), ("float", 2), ("float", 2.5)),
        *(("integer", 2), ("int", 2), ("boolean", True), ("bool", True), ("null", None)),
        *(("array", [1]), ("list", [1]), ("object", {"a": 1}), ("dict", {"a": 1})),
    ],
)
def test_wrapped_value_knows_every_type_name(name: str, value: Any) -> None:
    """A value next to its type name, JSON's or Python's, is unwrapped."""
    schema = closed("p", p={"not": {**OBJECT, "required": ["value"]}})
    check(schema, {"p": {"type": name, "value": value}}, {"p": value}, [("wrapped_value", "/p")])


@each_row("name", "args input params arguments parameters kwargs properties".split())
def test_unwrap_arguments_knows_every_wrapper(name: str) -> None:
    """The arguments are unwrapped from every known wrapper."""
    check(FILTER, {name: {"field": "a"}}, {"field": "a"}, [("unwrap_arguments", "")])


PERSON = closed("person", person=STRING)
_CALL = closed("name", "arguments", name=STRING, arguments={**OBJECT, "additionalProperties": INTEGER})


@each_row(
    ("tool", "schema", "sent", "expected"),
    [
        ("greet", PERSON, {"name": "greet", "arguments": {"person": "Ann"}}, {"person": "Ann"}),
        ("greet", PERSON, {"name": "greet", "arguments": '{"person": "Ann"}'}, {"person": "Ann"}),
        ("tick", closed(), {"name": "tick", "arguments": {}}, {}),
        ("greet", PERSON, {"name": "other", "arguments": {"person": "Ann"}}, None),
        ("greet", PERSON, {"name": "greet", "arguments": {"person": "Ann"}, "id": "1"}, None),
        ("greet", PERSON, {"name": "greet", "arguments": {"town": "Oslo"}}, None),
        ("greet", PERSON, {"name": None, "arguments": {"person": "Ann"}}, None),
        (None, PERSON, {"name": None, "arguments": {"person": "Ann"}}, None),
        (None, PERSON, {"name": "", "arguments": {"person": "Ann"}}, None),
        ("run", _CALL, {"name": "run", "arguments": {"a": 1}}, {"name": "run", "arguments": {"a": 1}}),
        ("run", _CALL, {"name": "run", "arguments": {"name": "x", "arguments": {"a": 1}}}, None),
    ],
)
def test_call_as_its_own_arguments_is_unwrapped(tool: Any, schema: Json, sent: Any, expected: Any) -> None:
    """``{"name": <this tool>, "arguments": {..}}`` is the call itself, unless the tool declares both names."""
    decision = decide(schema, sent, tool=tool)
    assert (None if decision.violations else decision.arguments) == expected
