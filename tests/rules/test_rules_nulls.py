"""Test null, the text "null" and empty text."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any
from uuid import UUID

import pytest
from calls import call, envelope, lenient
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
    refuses_call,
    repairs_call_to,
    table,
    union,
)

from mcp_lenient import normalize

_FORMATS = ("date", "date-time", "time", "duration", "uuid", "uri", "email", "ipv4", "ipv6")
_TEXTS_OF_NULL = [
    pytest.param(nullable(INTEGER), "null", id="null for nullable"),
    pytest.param(nullable(INTEGER), "None", id="None for nullable"),
    pytest.param(nullable(INTEGER), "none", id="none for nullable"),
    pytest.param({"type": ["boolean", "null"]}, "null", id="type list"),
    pytest.param(nullable(array(STRING)), "null", id="nullable list"),
    pytest.param(nullable(OBJECT), "None", id="nullable object"),
    pytest.param(NULL, "null", id="null alone"),
    *(
        pytest.param(nullable({**STRING, "format": form}), word, id=f"{word} for a nullable {form}")
        for form in _FORMATS
        for word in ("null", "None", "none")
    ),
    pytest.param({"type": ["string", "null"], "format": "date"}, "null", id="a list of types with a format"),
]


@each_row(("schema", "sent"), _TEXTS_OF_NULL)
def test_a_text_of_null_is_offered_as_null(schema: Any, sent: str) -> None:
    """The text of null is refused where null is allowed and a string is not, and null is a fix."""
    (violation,) = normalize(closed("p", p=schema), {"p": sent}).violations
    assert ({"op": "replace", "path": "/p", "value": None},) in violation.fixes


@table(
    *(
        refuses(word, nullable(INTEGER), word)
        for word in ("NULL", "NONE", "undefined", "nil", "N/A", "", " null ")
    ),
    refuses("in a list", array(nullable(INTEGER)), [1, "null"]),
    refuses("required", INTEGER, "null"),
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
    """No text is repaired to null."""
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
    repairs_call_to("empty, object", _optional(OBJECT), {"n": 1, "p": ""}, {"n": 1}, "empty_text_to_absent"),
    repairs_call_to(
        "empty, enum without default",
        _optional(enum("a", "b")),
        {"n": 1, "p": ""},
        {"n": 1},
        "empty_text_to_absent",
    ),
)
def test_forbidden_nulls_are_dropped(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """A null or empty text is dropped if the property is optional and forbids it."""
    check(schema, sent, expected, repairs)


@each_row("sent", ["null", "None"])
@each_row("schema", [INTEGER, array(INTEGER), BOOLEAN, nullable(INTEGER)])
def test_leaving_out_a_text_of_null_is_offered(schema: Any, sent: str) -> None:
    """The text of null is refused for an optional property, and leaving it out is a fix."""
    (violation,) = normalize(_optional(schema), {"n": 1, "p": sent}).violations
    assert ({"op": "remove", "path": "/p"},) in violation.fixes


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


@pytest.mark.parametrize("kind", [dt.date, UUID, AnyUrl])
async def test_a_text_of_null_is_offered_as_null_by_a_server(kind: Any) -> None:
    """A server refuses the text of null for a nullable type whose format has no word for it, and offers null."""
    reported = envelope(await call(lenient(_take(kind)), "take", {"x": "null"}))
    (violation,) = reported["details"]["violations"]
    assert [{"op": "replace", "path": "/x", "value": None}] in violation["fixes"]


async def test_null_text_stays_refused_for_free_text() -> None:
    """A server does not get null for a word that its own pattern refuses."""
    server = lenient(_take(Annotated[str, Field(pattern="^[A-Z]{3}$")]))
    assert envelope(await call(server, "take", {"x": "null"}))["error_code"] == "INVALID_X_VALUE"
