"""Test null, the text "null" and empty text."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any
from uuid import UUID

import pytest
from calls import call, envelope, got, lenient
from fastmcp.tools import Tool
from pydantic import AnyUrl, Field
from tables import (
    BOOLEAN,
    INTEGER,
    NULL,
    OBJECT,
    STRING,
    array,
    check,
    closed,
    each_row,
    enum,
    keeps,
    nullable,
    refuses,
    repairs_call_to,
    repairs_to,
    table,
    union,
)

from mcp_lenient import Policy, normalize

_FORMATS = ("date", "date-time", "time", "duration", "uuid", "uri", "email", "ipv4", "ipv6")


@table(
    repairs_to("null for nullable", nullable(INTEGER), "null", None, "null_text_to_null"),
    repairs_to("None for nullable", nullable(INTEGER), "None", None, "null_text_to_null"),
    repairs_to("none for nullable", nullable(INTEGER), "none", None, "null_text_to_null"),
    repairs_to("type list", {"type": ["boolean", "null"]}, "null", None, "null_text_to_null"),
    repairs_to("nullable list", nullable(array(STRING)), "null", None, "null_text_to_null"),
    repairs_to("nullable object", nullable(OBJECT), "None", None, "null_text_to_null"),
    *(
        repairs_to(
            f"{word} for {form}", nullable({**STRING, "format": form}), word, None, "null_text_to_null"
        )
        for form in _FORMATS
        for word in ("null", "None", "none")
    ),
    repairs_to(
        "types with a format",
        {"type": ["string", "null"], "format": "date"},
        "null",
        None,
        "null_text_to_null",
    ),
    repairs_to("nullable enum", nullable(enum("a", "b")), "null", None, "null_text_to_null"),
    repairs_to("in a list", array(nullable(INTEGER)), [1, "null"], [1, None], "null_text_to_null /p/1"),
    refuses("the only value", NULL, "null"),
    refuses("the only value but null", nullable(enum(5)), "null"),
)
def test_text_of_null_becomes_null(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """The text of null becomes null where null is allowed and no word is."""
    check(schema, sent, expected, repairs)


@table(
    *(
        refuses(word, nullable(INTEGER), word)
        for word in ("NULL", "NONE", "undefined", "nil", "N/A", "", " null ")
    ),
    refuses("required", INTEGER, "null"),
    refuses("an item that is not nullable", array(INTEGER), [1, "null"]),
    refuses("two readings", nullable(enum("none", "all")), "None"),
    refuses("a string with a pattern", {"type": ["string", "null"], "pattern": "^[A-Z]{3}$"}, "None"),
    refuses("NULL for a nullable date", nullable({**STRING, "format": "date"}), "NULL"),
    refuses("a date that is not nullable", {**STRING, "format": "date"}, "null"),
    refuses(
        "a date beside a string with a pattern",
        union({**STRING, "format": "date"}, {**STRING, "pattern": "^[A-Z]{3}$"}, NULL),
        "null",
    ),
    refuses("a format that has words", nullable({**STRING, "format": "hostname", "minLength": 9}), "null"),
    keeps("a nullable string", nullable(STRING), "null"),
    keeps("a nullable format that is not checked", nullable({**STRING, "format": "hostname"}), "null"),
    keeps("another word for a format that is not checked", nullable({**STRING, "format": "uuid"}), "n1"),
)
def test_text_never_becomes_null(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """No other word is repaired to null, nor any where a text is allowed."""
    check(schema, sent, expected, repairs)


def _optional(schema: Any) -> Any:
    return closed("n", n=INTEGER, p=schema)


@each_row("sent", ["null", "None"])
@each_row("schema", [INTEGER, array(INTEGER), BOOLEAN, OBJECT, {**INTEGER, "default": 5}])
def test_a_text_of_null_is_left_out(schema: Any, sent: str) -> None:
    """The text of null is left out for an optional property that takes neither null nor text."""
    found = normalize(_optional(schema), {"n": 1, "p": sent})
    assert (found.arguments, [each.rule for each in found.repairs]) == ({"n": 1}, ["null_text_to_absent"])
    assert normalize(_optional(schema), {"n": 1, "p": sent}, Policy(destructive=True)).violations


@each_row("schema", [enum("a", "b"), enum(1, 2), array(enum("a", "none")), {**STRING, "minLength": 9}])
def test_a_text_of_null_is_not_left_out(schema: Any) -> None:
    """It stays refused where a text is allowed, a word for nothing is, or the schema says no type."""
    assert normalize(_optional(schema), {"n": 1, "p": "null"}).violations
    assert normalize(_optional(INTEGER), {"n": 1, "p": "none"}).violations


@table(
    *(
        repairs_call_to(
            name, _optional(schema), {"n": "1", "p": sent}, {"n": 1, "p": sent}, "text_to_integer /n"
        )
        for name, schema, sent in (
            ("null, accepted beside a fault", nullable(STRING), None),
            ("empty, accepted beside a fault", STRING, ""),
            ("null text, a string", STRING, "null"),
        )
    ),
)
def test_accepted_null_stays_beside_a_repair(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """A valid null or empty text stays when another parameter is repaired. It may mean "clear this"."""
    check(schema, sent, expected, repairs)


def _take(kind: Any) -> Tool:
    def take(x: Any) -> str:
        return repr(x)

    take.__annotations__ = {"x": kind | None, "return": str}
    return Tool.from_function(take, name="take")


@pytest.mark.parametrize("kind", [dt.date, UUID, AnyUrl])
async def test_null_text_becomes_null_for_types_with_a_format(kind: Any) -> None:
    """A server gets null for a nullable type whose format has no word for it."""
    assert got(await call(lenient(_take(kind)), "take", {"x": "null"})) == "None"


async def test_null_text_stays_refused_for_free_text() -> None:
    """A server does not get null for a word that its own pattern refuses."""
    server = lenient(_take(Annotated[str, Field(pattern="^[A-Z]{3}$")]))
    assert envelope(await call(server, "take", {"x": "null"}))["error_code"] == "INVALID_X_VALUE"
