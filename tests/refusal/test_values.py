"""Test messages about values on real servers: how to write the value, and a working fix."""

from __future__ import annotations

import datetime as dt
import enum
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import jsonpatch
import pytest
from calls import call, envelope, got, lenient
from fastmcp import FastMCP
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


def _server(kind: Any, *defaults: Any) -> FastMCP:
    def take(x: Any = None) -> str:
        return repr(x)

    take.__annotations__ = {"x": kind, "return": str}
    take.__defaults__ = defaults or None  # type: ignore[assignment]
    return lenient(Tool.from_function(take, name="take"))


async def _reported(server: FastMCP, value: Any) -> str:
    reported: str = envelope(await call(server, "take", {"x": value}))["details"]["violations"][0]["message"]
    return reported


@pytest.mark.parametrize(
    ("kind", "value", "reported"),
    [
        pytest.param(
            Decimal,
            "1,5",
            "'x' is not accepted: write a number in digits, like 12.5 or \"12.50\".",
            id="Decimal",
        ),
        pytest.param(
            Decimal,
            [1, 2],
            "'x' must be a number or a string, but got an array. Send one value.",
            id="list for a Decimal",
        ),
        pytest.param(
            tuple[int, str],
            "a",
            "'x' must be an array, but got a string. Write it as JSON, like [1, \"a\"], not as text.",
            id="text for a tuple",
        ),
        pytest.param(
            tuple[int, str],
            {},
            "'x' must be an array, but got an object. Write it like [1, \"a\"].",
            id="object for a tuple",
        ),
        pytest.param(
            tuple[int, str],
            [1],
            "'x[1]' is required but was not sent. It must be a string.",
            id="short tuple",
        ),
        pytest.param(
            tuple[int, str],
            ["a", True],
            "'x[0]' must be an integer, but got the string \"a\". Write it in digits, like 1.",
            id="each item of a tuple separately",
        ),
        pytest.param(set[str], 5, "'x' must be an array of strings, but got the integer 5.", id="set"),
        pytest.param(
            dict[str, int],
            [1],
            "'x' must be an object, but got an array. Write it like {\"key\": 1}.",
            id="map",
        ),
        pytest.param(
            dict[str, int] | None,
            [1],
            "'x' must be an object or null, but got an array. Write it like {\"key\": 1}.",
            id="map or null",
        ),
        pytest.param(
            dict[str, list[str]] | None,
            5,
            '\'x\' must be an object or null, but got the integer 5. Write it like {"key": ["a", "b"]}.',
            id="map of lists or null",
        ),
        pytest.param(
            dict[str, int] | str | None,
            5,
            "'x' must be an object, a string or null, but got the integer 5. Write it like {\"key\": 1}.",
            id="map, text or null",
        ),
        pytest.param(
            list[list[int]] | None,
            5,
            "'x' must be an array of arrays or null, but got the integer 5.",
            id="list of lists or null",
        ),
        pytest.param(
            list[int | str] | None,
            True,
            "'x' must be null or an array of integers or strings, but got the boolean true.",
            id="list of two kinds or null",
        ),
        pytest.param(
            tuple[float, float] | None,
            5,
            "'x' must be an array or null, but got the integer 5. Write it like [1.5, 1.5].",
            id="tuple or null",
        ),
        pytest.param(
            list[list[int]],
            [[1.5]],
            "'x[0][0]' must be an integer, but got the number 1.5. Send a whole number.",
            id="correct brackets",
        ),
        pytest.param(
            list[list[int]],
            [["a"]],
            "'x[0][0]' must be an integer, but got the string \"a\". Write it in digits, like 1.",
            id="correct brackets around text",
        ),
        pytest.param(
            dict[str, int],
            {"count": {"a": 1}},
            "'x.count' must be an integer, but got an object. Send one value.",
            id="map in a map",
        ),
        pytest.param(
            UUID,
            5,
            "'x' must be a string (uuid such as \"123e4567-e89b-12d3-a456-426614174000\"), but got the integer 5.",
            id="UUID",
        ),
        pytest.param(
            dt.timedelta,
            [],
            "'x' must be a string (duration such as \"PT1H30M\"), but got an array. Send one value.",
            id="duration",
        ),
        pytest.param(
            dt.date,
            5.5,
            "'x' must be a string (date such as \"2026-01-31\"), but got the number 5.5.",
            id="number for a date",
        ),
        pytest.param(
            dt.date | None,
            5.5,
            "'x' must be a string (date such as \"2026-01-31\") or null, but got the number 5.5.",
            id="number for a date or null",
        ),
        pytest.param(
            dt.datetime,
            True,
            "'x' must be a string (date-time such as \"2026-01-31T09:30:00Z\"), but got the boolean true.",
            id="date and time",
        ),
        pytest.param(
            PastDate,
            "2999-01-01",
            "'x' is not accepted: it must be in the past.",
            id="past date",
        ),
        pytest.param(
            dt.date,
            "2026-02-30",
            '\'x\' must have the format date such as "2026-01-31", but got the string "2026-02-30" (it is no date or time that exists).',
            id="invalid day",
        ),
        pytest.param(
            dt.date,
            "2026-01-31T12:00:00",
            '\'x\' must have the format date such as "2026-01-31", but got the string "2026-01-31T12:00:00" (write the date only, without a time).',
            id="date with a time",
        ),
        pytest.param(
            dt.time,
            "25:00",
            '\'x\' must have the format time such as "09:30:00Z", but got the string "25:00" (it is no date or time that exists).',
            id="invalid hour",
        ),
        pytest.param(
            AnyUrl,
            "http://a b",
            '\'x\' must have the format uri such as "https://example.com/a", but got the string "http://a b".',
            id="URL with a space",
        ),
        pytest.param(
            AnyUrl,
            "http://",
            "'x' is not accepted by the tool; got the string \"http://\".",
            id="URL without a host",
        ),
        pytest.param(
            Json[list[int]],
            "1,2",
            "'x' is not accepted: it must be JSON text, such as \"[1, 2]\".",
            id="text that is not JSON",
        ),
        pytest.param(
            _Named,
            {"n": "a"},
            "'x.n' is not accepted: it must be an array.",
            id="a name that is not published",
        ),
        pytest.param(
            _Named,
            {"m": 1.5},
            "'x.m' is not accepted by the tool; got a number.",
            id="a name that is not published, of two types",
        ),
        pytest.param(
            _Strict,
            {"day": "2026-01-31"},
            "'x.day' is not accepted by the tool; got the string \"2026-01-31\".",
            id="a date that a strict model never accepts",
        ),
        pytest.param(
            dict[str, int],
            {"a": 1.5},
            "'x.a' must be an integer, but got a number. Send a whole number.",
            id="number in a map",
        ),
        pytest.param(
            dict[str, int],
            {"a": "many"},
            "'x.a' must be an integer, but got a string. Write it in digits, like 1.",
            id="text in a map, which may be a secret",
        ),
        pytest.param(
            dict[str, int],
            {"api_key": 1.5},
            "'x.api_key' must be an integer, but got a number. Send a whole number.",
            id="number under a secret name in a map",
        ),
        pytest.param(
            int | bool,
            "maybe",
            "'x' must be an integer or a boolean, but got the string \"maybe\". Write true or false, without quotes.",
            id="integer or boolean",
        ),
        pytest.param(
            AwareDatetime,
            "2026-01-31T09:30:00",
            '\'x\' must have the format date-time such as "2026-01-31T09:30:00Z", but got the string "2026-01-31T09:30:00" (write it with a time zone, such as a final Z).',
            id="time zone",
        ),
        pytest.param(
            _Level,
            "HIGHEST",
            "'x' must be one of 1, 2, but got the string \"HIGHEST\".",
            id="enum of integers",
        ),
        pytest.param(_Color, [1, 2], "'x' must be \"red\", but got an array. Send one value.", id="enum"),
        pytest.param(Literal[1, 2], 3, "'x' must be one of 1, 2, but got the integer 3.", id="literals"),
        pytest.param(
            bytes,
            {"a": 1, "b": 2},
            "'x' must be a string, but got an object. Send one value.",
            id="bytes",
        ),
        pytest.param(Path, [], "'x' must be a string, but got an array. Send one value.", id="path"),
        pytest.param(
            int, 1.5, "'x' must be an integer, but got the number 1.5. Send a whole number.", id="fraction"
        ),
        pytest.param(
            int, None, "'x' must be an integer, but got null. It cannot be left out: send a value.", id="null"
        ),
        pytest.param(
            _Budget,
            "cheap",
            '\'x\' must be an object, but got a string. Write it as JSON, like {"low": 1.5, "high": 1.5}, not as text.',
            id="text for an object",
        ),
        pytest.param(
            dict[str, Any],
            "cheap",
            "'x' must be an object, but got a string. Write it as JSON, like {…}, not as text.",
            id="text for a free-form object",
        ),
        pytest.param(
            Annotated[int, Field(ge=10)],
            "many",
            "'x' must be an integer, but got the string \"many\". Write it in digits, like 10.",
            id="a sample within its limits",
        ),
        pytest.param(
            Annotated[str, Field(pattern="^[A-Z]{3}$")] | None,
            "null",
            '\'x\' must match the pattern "^[A-Z]{3}$", but got the string "null".',
            id="a word for null",
        ),
    ],
)
async def test_the_message_describes_valid_values(kind, value, reported):
    """The message describes valid values of each kind, with an example if one helps."""
    assert await _reported(_server(kind), value) == reported


@pytest.mark.parametrize(
    ("kind", "default", "value", "reported", "ran"),
    [
        pytest.param(
            dt.date | None, None, "NULL", "Leave it out if you have no value.", "None", id="word for null"
        ),
        pytest.param(list[int], [7], " ", "Leave it out if you have no value.", "[7]", id="blank list"),
        pytest.param(int, 3, "unknown", "Leave it out if you have no value.", "3", id="unknown number"),
        pytest.param(int, 3, {"number": 5}, "Send one value.", "5", id="value in an object"),
        pytest.param(
            list[str],
            [],
            [{"text": "a"}, {"text": "b"}],
            "must each be a string, but got an object.",
            "['a', 'b']",
            id="values in objects",
        ),
        pytest.param(
            list[list[int]],
            [],
            [[[1, 2], [3, 4]]],
            "'x[0][0]' and 'x[0][1]' must each be an integer, but got an array. Send one value.",
            "[[1, 2], [3, 4]]",
            id="one list too many",
        ),
        pytest.param(
            Json[list[int]],
            None,
            [1, 2],
            "'x' must be a string (json such as \"[1, 2]\"), but got an array.",
            "[1, 2]",
            id="JSON that was not sent as text",
        ),
        pytest.param(
            list[int],
            [],
            "100,200,300",
            "Write it as JSON, like [1, 2], not as text.",
            "[100, 200, 300]",
            id="numbers and commas",
        ),
    ],
)
async def test_the_first_fix_works(kind, default, value, reported, ran):
    """The message says what to do, and the first fix does it."""
    server, sent = _server(kind, default), {"x": value}
    (violation,) = envelope(await call(server, "take", sent))["details"]["violations"]
    assert reported in violation["message"]
    assert got(await call(server, "take", jsonpatch.apply_patch(sent, violation["fixes"][0]))) == ran


@pytest.mark.parametrize(
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
async def test_lossy_or_invalid_fixes_are_not_offered(kind, value):
    """No fix is offered if it would lose something or be refused."""
    (violation,) = envelope(await call(_server(kind), "take", {"x": value}))["details"]["violations"]
    assert "fixes" not in violation
