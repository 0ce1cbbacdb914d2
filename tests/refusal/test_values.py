"""Test messages about values of functions: how to write the value, and a working fix."""

from __future__ import annotations

import datetime as dt
import enum
from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

import jsonpatch
import pytest
from decisions import decide, decide_value
from fastmcp.tools import Tool
from pydantic import (
    AliasChoices,
    AnyUrl,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    Json,
    PastDate,
)
from tables import each_row


class _Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class _Color(enum.Enum):
    RED = "red"


class _Budget(BaseModel):
    low: float = 0
    high: float = 0


class _Named(BaseModel):
    names: list[str] = Field(default=[], validation_alias=AliasChoices("names", "n"))
    marks: list[str] | int = Field(default=0, validation_alias=AliasChoices("marks", "m"))


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True)

    day: dt.date


def _tool(kind: Any, *defaults: Any) -> Tool:
    def take(x: Any = None) -> None: ...

    take.__annotations__ = {"x": kind, "return": None}
    take.__defaults__ = defaults or None  # type: ignore[assignment]
    return Tool.from_function(take)


@each_row(
    ("kind", "value", "reported"),
    [
        (
            Decimal,
            [1, 2],
            "a number or a string, but got an array. One call takes one value: call once for each that is meant.",
        ),
        (tuple[int, str], "a", 'an array, but got a string. Write it in the form [1, "..."].'),
        (tuple[int, str], {}, 'an array, but got an object. Write it in the form [1, "..."].'),
        (dict[str, int], [1], 'an object, but got an array. Write it in the form {"key": 1}.'),
        (dict[str, int] | None, [1], 'an object or null, but got an array. Write it in the form {"key": 1}.'),
        (
            dict[str, list[str]] | None,
            5,
            'an object or null, but got the integer 5. Write it in the form {"key": ["..."]}.',
        ),
        (
            dict[str, int] | str | None,
            5,
            'an object, a string or null, but got the integer 5. Write it in the form {"key": 1}.',
        ),
        (list[int | str] | None, True, "null or an array of integers or strings, but got the boolean true."),
        (UUID, 5, "a string (uuid), but got the integer 5."),
        (dt.timedelta, [], "a string (duration), but got an array. Send one value."),
        (dt.date | None, 5.5, "a string (date) or null, but got the number 5.5."),
        (
            int | bool,
            "maybe",
            'an integer or a boolean, but got the string "maybe". Write true or false, without quotes.',
        ),
        (
            _Level,
            "HIGHEST",
            'one of 1, 2, but got the string "HIGHEST". If none means it, ask.',
        ),
        (_Color, [1, 2], '"red", but got an array. Send one value.'),
        (int, None, "an integer, but got null. It cannot be left out."),
        (
            _Budget,
            "cheap",
            "an object, but got a string. It has 'low' (a number, optional), 'high' (a number, optional).",
        ),
        (dict[str, Any], "cheap", "an object, but got a string. Write it in the form {…}."),
        (
            Annotated[int, Field(ge=10)],
            "many",
            'an integer, but got the string "many".',
        ),
    ],
)
def test_the_message_describes_valid_values(kind, value, reported):
    """The message describes valid values of each kind, with an example if one helps."""
    assert decide_value(kind, value).violations[0].message == f"'x' must be {reported}"


@each_row(
    ("kind", "value", "reported"),
    [
        (Decimal, "1,5", "'x' is not accepted: write a number in digits, like 12.5 or \"12.50\"."),
        (tuple[int, str], [1], "'x[1]' is required but was not sent. It must be a string."),
        (PastDate, "2999-01-01", "'x' is not accepted: it must be in the past."),
        (
            dt.date,
            "2026-02-30",
            '\'x\' must have the format date such as "2026-01-31", but got the string "2026-02-30" (it is no date or time that exists).',
        ),
        (
            dt.date,
            "2026-01-31T12:00:00",
            '\'x\' must have the format date such as "2026-01-31", but got the string "2026-01-31T12:00:00" (write the date only, without a time).',
        ),
        (
            AnyUrl,
            "http://a b",
            '\'x\' must have the format uri such as "https://example.com/a", but got the string "http://a b".',
        ),
        (AnyUrl, "http://", "'x' is not accepted by the tool; got the string \"http://\"."),
        (Json[list[int]], "1,2", "'x' is not accepted: it must be JSON text, such as \"[1, 2]\"."),
        (_Named, {"n": "a"}, "'x.n' is not accepted: it must be an array."),
        (_Named, {"m": 1.5}, "'x.m' is not accepted by the tool; got a number."),
        (
            _Strict,
            {"day": "2026-01-31"},
            "'x.day' is not accepted by the tool; got the string \"2026-01-31\".",
        ),
        (
            AwareDatetime,
            "2026-01-31T09:30:00",
            '\'x\' must have the format date-time such as "2026-01-31T09:30:00Z", but got the string "2026-01-31T09:30:00" (write it with a time zone, such as a final Z).',
        ),
        (
            Annotated[str, Field(pattern="^[A-Z]{3}$")] | None,
            "null",
            '\'x\' must match the pattern "^[A-Z]{3}$", but got the string "null". If no such text means it, ask.',
        ),
    ],
)
def test_the_message_says_what_a_value_of_the_right_type_breaks(kind, value, reported):
    """A value of the right type is not accepted for a limit, a format or the author's own check."""
    assert decide_value(kind, value).violations[0].message == reported


@each_row(
    ("kind", "value", "place", "reported"),
    [
        (tuple[int, str], ["a", True], "[0]", 'the string "a".'),
        (list[list[int]], [[1.5]], "[0][0]", "the number 1.5. Send a whole number."),
        (dict[str, int], {"count": {"a": 1}}, ".count", "an object. Send one value."),
        (dict[str, int], {"a": "many"}, ".a", "a string."),
        (dict[str, int], {"api_key": 1.5}, ".api_key", "a number. Send a whole number."),
    ],
)
def test_a_wrong_value_inside_another_is_named_by_its_place(kind, value, place, reported):
    """A value under a map's key, which may be a secret's name, is not repeated."""
    assert (
        decide_value(kind, value).violations[0].message
        == f"'x{place}' must be an integer, but got {reported}"
    )


@each_row(
    ("kind", "default", "value", "reported", "ran"),
    [
        (dt.date | None, None, "NULL", "Leave it out if you have no value.", {}),
        (list[int], [7], " ", "Leave it out if you have no value.", {}),
        (int, 3, "unknown", "Left out, it is 3.", {}),
        (int, 3, {"number": 5}, "Send one value.", {"x": 5}),
        (list[str], [], [{"text": "a"}, {"text": "b"}], "must each be a string", {"x": ["a", "b"]}),
        (list[list[int]], [], [[[1, 2], [3, 4]]], "Send one value.", {"x": [[1, 2], [3, 4]]}),
        (Json[list[int]], None, [1, 2], "(json), but got an array.", {"x": "[1, 2]"}),
        (list[int], [], "100,200", "Write it in the form [1, 2].", {"x": [100, 200]}),
    ],
)
def test_the_first_fix_works(kind, default, value, reported, ran):
    """The message says what to do, and the first fix does it."""
    tool, sent = _tool(kind, default), {"x": value}
    (violation,) = decide(tool, sent).violations
    assert reported in violation.message
    fixed = decide(tool, jsonpatch.apply_patch(sent, [*violation.fixes[0]]))
    assert (fixed.status, fixed.arguments) == ("accepted", ran)


@each_row(
    ("kind", "value"),
    [
        pytest.param(dt.date, "", id="a required value cannot be left out"),
        pytest.param(int, {"value": 5, "unit": "m"}, id="a unit would be lost"),
        pytest.param(int, {"value": "many"}, id="no better inside"),
        pytest.param(list[list[int]], [[[1, 2]], [[3, 4]]], id="two lists in a list"),
        pytest.param(dict[str, int], {"count": {"a": 1}}, id="a map's key"),
        pytest.param(dict[str, int], {"args": {"a": 1}}, id="a map's key under a wrapper's name"),
        pytest.param(dict[str, dict[str, int]], {"value": {"a": {"b": 1}}}, id="a key of a map in a map"),
    ],
)
def test_lossy_or_invalid_fixes_are_not_offered(kind, value):
    """No fix is offered if it would lose something or be refused."""
    (violation,) = decide_value(kind, value).violations
    assert violation.fixes == ()
