"""Test null, the text "null" and empty text."""

from __future__ import annotations

import datetime as dt
from ipaddress import IPv4Address, IPv6Address
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
    enum,
    keeps,
    nullable,
    refuses,
    refuses_call,
    repairs_call_to,
    repairs_to,
    table,
    union,
)


@table(
    repairs_to("null for nullable", nullable(INTEGER), "null", None, "null_text_to_null"),
    repairs_to("None for nullable", nullable(INTEGER), "None", None, "null_text_to_null"),
    repairs_to("type list", {"type": ["boolean", "null"]}, "null", None, "null_text_to_null"),
    repairs_to("nullable list", nullable(array(STRING)), "null", None, "null_text_to_null"),
    repairs_to("nullable object", nullable(OBJECT), "None", None, "null_text_to_null"),
    repairs_to("null alone", NULL, "null", None, "null_text_to_null"),
    repairs_to("in a list", array(nullable(INTEGER)), [1, "null"], [1, None], "null_text_to_null /p/1"),
    refuses("NULL", nullable(INTEGER), "NULL"),
    repairs_to("none", nullable(INTEGER), "none", None, "null_text_to_null"),
    refuses("None in capitals", nullable(INTEGER), "NONE"),
    refuses("undefined", nullable(INTEGER), "undefined"),
    refuses("nil", nullable(INTEGER), "nil"),
    refuses("N/A", nullable(INTEGER), "N/A"),
    refuses("empty", nullable(INTEGER), ""),
    refuses("space", nullable(INTEGER), " null "),
    refuses("required", INTEGER, "null"),
    refuses("two readings", nullable(enum("none", "all")), "None"),
    refuses("a string with a pattern", {"type": ["string", "null"], "pattern": "^[A-Z]{3}$"}, "None"),
    *(
        repairs_to(
            f"{word} for a nullable {form}",
            nullable({**STRING, "format": form}),
            word,
            None,
            "null_text_to_null",
        )
        for form in ("date", "date-time", "time", "duration", "uuid", "uri", "email", "ipv4", "ipv6")
        for word in ("null", "None", "none")
    ),
    repairs_to(
        "a list of types with a format",
        {"type": ["string", "null"], "format": "date"},
        "null",
        None,
        "null_text_to_null",
    ),
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
def test_null_text_becomes_null(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """The text of null becomes null if null is allowed and a string is not."""
    check(schema, sent, expected, repairs)


def _optional(schema: Any) -> Any:
    return closed("n", n=INTEGER, p=schema)


@table(
    repairs_call_to("null, integer", _optional(INTEGER), {"n": 1, "p": None}, {"n": 1}, "null_to_absent"),
    repairs_call_to("null, string", _optional(STRING), {"n": 1, "p": None}, {"n": 1}, "null_to_absent"),
    repairs_call_to("null, list", _optional(array(STRING)), {"n": 1, "p": None}, {"n": 1}, "null_to_absent"),
    repairs_call_to("null, object", _optional(OBJECT), {"n": 1, "p": None}, {"n": 1}, "null_to_absent"),
    repairs_call_to("null, enum", _optional(enum("a", "b")), {"n": 1, "p": None}, {"n": 1}, "null_to_absent"),
    repairs_call_to(
        "null, with a default",
        _optional({**INTEGER, "default": 5}),
        {"n": 1, "p": None},
        {"n": 1},
        "null_to_absent",
    ),
    repairs_call_to(
        "null, nested",
        closed("o", o=_optional(INTEGER)),
        {"o": {"n": 1, "p": None}},
        {"o": {"n": 1}},
        "null_to_absent /o/p",
    ),
    repairs_call_to(
        "null, in an item",
        closed("o", o=array(_optional(INTEGER))),
        {"o": [{"n": 1, "p": None}]},
        {"o": [{"n": 1}]},
        "null_to_absent /o/0/p",
    ),
    repairs_call_to(
        "empty, integer", _optional(INTEGER), {"n": 1, "p": ""}, {"n": 1}, "empty_text_to_absent"
    ),
    repairs_call_to(
        "empty, boolean", _optional(BOOLEAN), {"n": 1, "p": ""}, {"n": 1}, "empty_text_to_absent"
    ),
    repairs_call_to(
        "empty, nullable", _optional(nullable(INTEGER)), {"n": 1, "p": ""}, {"n": 1}, "empty_text_to_absent"
    ),
    repairs_call_to(
        "empty, integer with a default",
        _optional({**INTEGER, "default": 5}),
        {"n": 1, "p": ""},
        {"n": 1},
        "empty_text_to_absent",
    ),
    repairs_call_to(
        "null text, nullable",
        _optional(nullable(INTEGER)),
        {"n": 1, "p": "null"},
        {"n": 1, "p": None},
        "null_text_to_null",
    ),
    repairs_call_to("empty, object", _optional(OBJECT), {"n": 1, "p": ""}, {"n": 1}, "empty_text_to_absent"),
    repairs_call_to(
        "empty, enum without default",
        _optional(enum("a", "b")),
        {"n": 1, "p": ""},
        {"n": 1},
        "empty_text_to_absent",
    ),
    repairs_call_to(
        "null text, integer", _optional(INTEGER), {"n": 1, "p": "null"}, {"n": 1}, "null_text_to_absent"
    ),
    repairs_call_to(
        "null text, list", _optional(array(INTEGER)), {"n": 1, "p": "None"}, {"n": 1}, "null_text_to_absent"
    ),
    repairs_call_to(
        "null text, boolean", _optional(BOOLEAN), {"n": 1, "p": "null"}, {"n": 1}, "null_text_to_absent"
    ),
)
def test_forbidden_nulls_are_dropped(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """A null, its text or empty text is dropped if the property is optional and forbids it."""
    check(schema, sent, expected, repairs)


@table(
    refuses("null, required", STRING, None),
    refuses("empty, required", INTEGER, ""),
    refuses("null, an item", array(STRING), ["a", None]),
    refuses("null, an entry of a map", {**OBJECT, "additionalProperties": INTEGER}, {"a": None}),
    refuses("empty, an entry of a map", {**OBJECT, "additionalProperties": INTEGER}, {"a": ""}),
    refuses("null text, an entry of a map", {**OBJECT, "additionalProperties": INTEGER}, {"a": "null"}),
    refuses("null, by pattern", {**OBJECT, "patternProperties": {"^a": INTEGER}}, {"a": None}),
    refuses("empty, an item", array(INTEGER), [1, ""]),
    keeps("null, accepted", nullable(STRING), None),
    keeps("empty, accepted", STRING, ""),
    keeps("null, no type", {}, None),
)
def test_required_values_and_items_are_never_dropped(
    schema: Any, sent: Any, expected: Any, repairs: Any
) -> None:
    """A required property, a map entry, a list item and a valid value are never dropped."""
    check(schema, sent, expected, repairs)


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


@table(
    refuses_call("none for a type that is not nullable", _optional(INTEGER), {"n": 1, "p": "none"}),
    refuses_call("empty, a minimum length", _optional({**STRING, "minLength": 1}), {"n": 1, "p": ""}),
    refuses_call(
        "empty, a minimum length in a union",
        _optional(union({**STRING, "minLength": 1}, INTEGER)),
        {"n": 1, "p": ""},
    ),
    refuses_call("null, an enum with none", _optional(enum("none", "all")), {"n": 1, "p": None}),
    refuses_call("null, an enum with unset", _optional(enum("UNSET", "all")), {"n": 1, "p": None}),
    refuses_call("null, an enum with null", _optional(enum("null", "all")), {"n": 1, "p": None}),
    refuses_call(
        "null, an enum with none in a union", _optional(union(INTEGER, enum("none"))), {"n": 1, "p": None}
    ),
    refuses_call(
        "null, an enum that contains it", _optional({**STRING, "enum": ["a", None]}), {"n": 1, "p": None}
    ),
    refuses_call("null text, no type", _optional({"not": STRING, "pattern": "^n"}), {"n": 1, "p": "null"}),
    refuses_call(
        "null text, a short string in a union",
        _optional(union(INTEGER, {**STRING, "maxLength": 2})),
        {"n": 1, "p": "null"},
    ),
    refuses_call(
        "empty, an enum in a union with a default",
        _optional({**union(INTEGER, enum("a", "b")), "default": "a"}),
        {"n": 1, "p": ""},
    ),
    refuses_call("empty, a list", _optional(array(STRING, minItems=1)), {"n": 1, "p": ""}),
    refuses_call("empty, a nullable list", _optional(nullable(array(INTEGER))), {"n": 1, "p": ""}),
    refuses_call(
        "empty, an enum with a default", _optional({**enum("a", "b"), "default": "a"}), {"n": 1, "p": ""}
    ),
    refuses_call("null text, a short string", _optional({**STRING, "maxLength": 2}), {"n": 1, "p": "null"}),
    refuses_call(
        "null text, an enum of strings", _optional({**STRING, "enum": ["a", "b"]}), {"n": 1, "p": "null"}
    ),
    refuses_call("NULL", _optional(INTEGER), {"n": 1, "p": "NULL"}),
    refuses_call("blank", _optional(INTEGER), {"n": 1, "p": " "}),
    refuses_call("undefined", _optional(INTEGER), {"n": 1, "p": "undefined"}),
    refuses_call("null text, an enum without a type", _optional(enum(1, 2)), {"n": 1, "p": "null"}),
)
def test_doubtful_nulls_are_refused(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """If dropping a value would be a guess, the call is refused."""
    check(schema, sent, expected, repairs)


def _take(kind: Any) -> Tool:
    def take(x: Any) -> str:
        return repr(x)

    take.__annotations__ = {"x": kind | None, "return": str}
    return Tool.from_function(take, name="take")


@pytest.mark.parametrize("word", ["null", "None", "none"])
@pytest.mark.parametrize(
    "kind", [dt.date, dt.datetime, dt.time, dt.timedelta, UUID, AnyUrl, IPv4Address, IPv6Address]
)
async def test_null_text_becomes_null_for_types_with_a_format(kind: Any, word: str) -> None:
    """A server gets null for a nullable type whose format has no word for it."""
    assert got(await call(lenient(_take(kind)), "take", {"x": word})) == "None"


async def test_null_text_stays_refused_for_free_text() -> None:
    """A server does not get null for a word that its own pattern refuses."""
    server = lenient(_take(Annotated[str, Field(pattern="^[A-Z]{3}$")]))
    assert envelope(await call(server, "take", {"x": "null"}))["error_code"] == "INVALID_X_VALUE"
