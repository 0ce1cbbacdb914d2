"""Test messages about map keys on real servers: they describe valid keys, and no fix loses an entry."""

from __future__ import annotations

import datetime as dt
import enum
from typing import Annotated, Any, Literal

import jsonpatch
import pytest
from calls import call, envelope, got, lenient, published
from fastmcp import FastMCP
from fastmcp.tools import Tool
from pydantic import AfterValidator, BaseModel, Field

from mcp_lenient import Policy


class _Side(enum.Enum):
    LEFT = "left"
    RIGHT = "right"


class _Open(BaseModel):
    codes: dict[int, str] = {}


def _lower(key: str) -> str:
    if key != key.lower():
        msg = "keys are written in lower case"
        raise ValueError(msg)
    return key


def _server(kind: Any) -> FastMCP:
    def take(x: Any) -> str:
        return repr(x)

    take.__annotations__ = {"x": kind, "return": str}
    return lenient(Tool.from_function(take, name="take"))


@pytest.mark.parametrize(
    ("kind", "value", "code", "reported"),
    [
        pytest.param(
            dict[Literal["x", "y"], int],
            {"z": 1},
            "enum",
            'the key \'x.z\' must be one of "x", "y".',
            id="one of several",
        ),
        pytest.param(
            dict[_Side, int],
            {"middle": 1},
            "enum",
            'the key \'x.middle\' must be one of "left", "right".',
            id="an enumeration",
        ),
        pytest.param(
            dict[int, str],
            {"a": "b"},
            "value",
            "the key 'x.a' is not accepted: a key must be an integer.",
            id="integers",
        ),
        pytest.param(
            dict[Annotated[int, Field(ge=1)], str],
            {"0": "b"},
            "value",
            "the key 'x.0' is not accepted: a key must be at least 1.",
            id="integers with a limit",
        ),
        pytest.param(
            dict[dt.date, int],
            {"jan": 1},
            "value",
            "the key 'x.jan' must have the format date such as \"2026-01-31\".",
            id="dates",
        ),
        pytest.param(
            dict[dt.date, int],
            {"2026-02-30": 1},
            "value",
            "the key 'x.2026-02-30' must have the format date such as \"2026-01-31\".",
            id="invalid date",
        ),
        pytest.param(
            dict[Annotated[str, Field(min_length=3)], int],
            {"b": 1},
            "value",
            "the key 'x.b' must have at least 3 characters.",
            id="length",
        ),
        pytest.param(
            dict[Annotated[str, Field(pattern="^a")], int],
            {"b": 1},
            "value",
            "the key 'x.b' is not accepted: a key must match the pattern \"^a\".",
            id="pattern",
        ),
        pytest.param(
            dict[Annotated[str, AfterValidator(_lower)], int],
            {"B": 1},
            "value",
            "the key 'x.B' is not accepted: keys are written in lower case.",
            id="the author's own sentence",
        ),
        pytest.param(
            dict[int | Literal["all"], int],
            {"some": 1},
            "value",
            "the key 'x.some' is not accepted by the tool; got a string.",
            id="two kinds of keys",
        ),
        pytest.param(
            _Open,
            {"codes": {"a": "b"}},
            "value",
            "the key 'x.codes.a' is not accepted: a key must be an integer.",
            id="a map inside an object",
        ),
    ],
)
async def test_the_message_describes_valid_keys(kind, value, code, reported):
    """The message about a wrong key describes valid keys, and no fix drops the entry."""
    refused = envelope(await call(_server(kind), "take", {"x": value}))
    (violation,) = refused["details"]["violations"]
    assert (violation["code"], violation["message"]) == (code, reported)
    assert refused["error_code"] == "INVALID_X_VALUE"
    assert "fixes" not in violation


async def test_an_entry_is_moved_to_the_only_similar_key():
    """The fix renames a key to the only similar allowed one, unless that was sent too."""
    server, sent = _server(dict[Literal["north", "south"], int]), {"x": {"Norht": 1}}
    (violation,) = envelope(await call(server, "take", sent))["details"]["violations"]
    assert violation["allowed_values"] == ["north", "south"]
    assert (
        got(await call(server, "take", jsonpatch.apply_patch(sent, violation["fixes"][0]))) == "{'north': 1}"
    )
    (violation,) = envelope(await call(server, "take", {"x": {"Norht": 1, "north": 2}}))["details"][
        "violations"
    ]
    assert "fixes" not in violation
    assert "did_you_mean" not in violation


async def test_a_wrong_key_and_its_wrong_value_are_both_reported():
    """A wrong key with a wrong value gets two messages."""
    refused = envelope(await call(_server(dict[int, int]), "take", {"x": {"a": "b"}}))
    assert [violation["code"] for violation in refused["details"]["violations"]] == ["value", "type"]


async def test_keys_are_described_by_the_schema_alone():
    """If only the schema is known, its ``propertyNames`` describe the keys."""
    keyed = {
        "type": "object",
        "propertyNames": {"enum": ["x", "y"]},
        "additionalProperties": {"type": "integer"},
    }
    server = lenient(published("own", m=keyed), policy=Policy(unrepairable="refuse"))
    (violation,) = envelope(await call(server, "own", {"m": {"z": 1}}))["details"]["violations"]
    assert violation["message"] == 'the key \'m.z\' must be one of "x", "y".'
    assert violation["pointer"] == "/m/z"
