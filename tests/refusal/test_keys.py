"""Test messages about map keys: they describe valid keys, and no fix loses an entry."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal

import jsonpatch
from decisions import decide_value, refusals
from pydantic import AfterValidator, BaseModel, Field
from tables import INTEGER, closed, each_row

from mcp_lenient import normalize


class _Open(BaseModel):
    codes: dict[int, str] = {}


def _lower(key: str) -> str:
    if key != key.lower():
        msg = "keys are written in lower case"
        raise ValueError(msg)
    return key


@each_row(
    ("kind", "value", "code", "reported"),
    [
        (dict[Literal["x", "y"], int], {"z": 1}, "enum", 'the key \'x.z\' must be one of "x", "y".'),
        (dict[int, str], {"a": "b"}, "value", "the key 'x.a' is not accepted: a key must be an integer."),
        (
            dict[Annotated[int, Field(ge=1)], str],
            {"0": "b"},
            "value",
            "the key 'x.0' is not accepted: a key must be at least 1.",
        ),
        (
            dict[dt.date, int],
            {"jan": 1},
            "value",
            "the key 'x.jan' must have the format date such as \"2026-01-31\".",
        ),
        (
            dict[Annotated[str, Field(min_length=3)], int],
            {"b": 1},
            "value",
            "the key 'x.b' must have at least 3 characters.",
        ),
        (
            dict[Annotated[str, Field(pattern="^a")], int],
            {"b": 1},
            "value",
            "the key 'x.b' is not accepted: a key must match the pattern \"^a\".",
        ),
        (
            dict[Annotated[str, AfterValidator(_lower)], int],
            {"B": 1},
            "value",
            "the key 'x.B' is not accepted: keys are written in lower case.",
        ),
        (
            dict[int | Literal["all"], int],
            {"some": 1},
            "value",
            "the key 'x.some' is not accepted by the tool; got a string.",
        ),
        (
            _Open,
            {"codes": {"a": "b"}},
            "value",
            "the key 'x.codes.a' is not accepted: a key must be an integer.",
        ),
    ],
)
def test_the_message_describes_valid_keys(kind, value, code, reported):
    """The message about a wrong key describes valid keys, and no fix drops the entry."""
    (violation,) = decide_value(kind, value).violations
    assert (violation.code, violation.message) == (code, reported)
    assert violation.fixes == ()


def test_an_entry_is_moved_to_the_only_similar_key():
    """The fix renames a key to the only similar allowed one, unless that was sent too."""
    kind = dict[Literal["north", "south"], int]
    (violation,) = decide_value(kind, {"Norht": 1}).violations
    assert violation.allowed_values == ("north", "south")
    fixed = jsonpatch.apply_patch({"x": {"Norht": 1}}, [*violation.fixes[0]])
    assert decide_value(kind, fixed["x"]).arguments == {"x": {"north": 1}}
    (violation,) = decide_value(kind, {"Norht": 1, "north": 2}).violations
    assert (violation.fixes, violation.did_you_mean) == ((), ())


def test_a_wrong_key_and_its_wrong_value_are_both_reported():
    """A wrong key with a wrong value gets two messages."""
    assert refusals(decide_value(dict[int, int], {"a": "b"})) == ["value /x/a", "type /x/a"]


def test_keys_are_described_by_the_schema_alone():
    """If only the schema is known, its ``propertyNames`` describe the keys."""
    keyed = {"type": "object", "propertyNames": {"enum": ["x", "y"]}, "additionalProperties": INTEGER}
    (violation,) = normalize(closed(m=keyed), {"m": {"z": 1}}).violations
    assert violation.message == 'the key \'m.z\' must be one of "x", "y".'
    assert violation.pointer == "/m/z"
