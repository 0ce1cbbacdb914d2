"""Test messages about map keys: they describe valid keys, and no fix loses an entry."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal

from decisions import decide_value, refusals
from pydantic import AfterValidator, Field
from tables import INTEGER, closed, each_row

from mcp_lenient import normalize


def _lower(key: str) -> str:
    if key != key.lower():
        msg = "keys are written in lower case"
        raise ValueError(msg)
    return key


LOWER = Annotated[str, AfterValidator(_lower)]
STARTED = Annotated[str, Field(pattern="^a")]


@each_row(
    ("kind", "value", "reported"),
    [
        (dict[int, str], {"a": "b"}, "is not accepted: a key must be an integer."),
        (dict[Annotated[int, Field(ge=1)], str], {"0": "b"}, "is not accepted: a key must be at least 1."),
        (dict[dt.date, int], {"jan": 1}, 'must have the format date such as "2026-01-31".'),
        (dict[Annotated[str, Field(min_length=3)], int], {"b": 1}, "must have at least 3 characters."),
        (dict[STARTED, int], {"b": 1}, 'is not accepted: a key must match the pattern "^a".'),
        (dict[LOWER, int], {"B": 1}, "is not accepted: keys are written in lower case."),
        (dict[int | Literal["all"], int], {"some": 1}, "is not accepted by the tool; got a string."),
    ],
)
def test_the_message_describes_valid_keys(kind, value, reported):
    """The message about a wrong key describes valid keys, and no fix drops the entry."""
    for annotation, sent, place in ((kind, value, "x"), (list[kind], [value], "x[0]")):
        (violation,) = decide_value(annotation, sent).violations
        (key,) = value
        assert (violation.code, violation.message) == ("value", f"the key '{place}.{key}' {reported}")
        assert violation.fixes == ()


def test_a_key_that_is_none_of_the_allowed_ones_is_reported_with_those():
    """The allowed keys are listed."""
    (violation,) = decide_value(dict[Literal["x", "y"], int], {"z": 1}).violations
    assert (violation.code, violation.fixes) == ("enum", ())
    assert violation.message == 'the key \'x.z\' must be one of "x", "y". If none means it, ask.'


def test_a_wrong_key_and_its_wrong_value_are_both_reported():
    """A wrong key with a wrong value gets two messages."""
    assert refusals(decide_value(dict[int, int], {"a": "b"})) == ["value /x/a", "type /x/a"]


def test_keys_are_described_by_the_schema_alone():
    """If only the schema is known, its ``propertyNames`` describe the keys."""
    keyed = {"type": "object", "propertyNames": {"enum": ["x", "y"]}, "additionalProperties": INTEGER}
    (violation,) = normalize(closed(m=keyed), {"m": {"z": 1}}).violations
    assert violation.message == 'the key \'m.z\' must be one of "x", "y". If none means it, ask.'
    assert violation.pointer == "/m/z"
