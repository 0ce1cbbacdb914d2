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


@each_row("sent", ["null", "None"])
@each_row("schema", [INTEGER, array(INTEGER), BOOLEAN, nullable(INTEGER)])
def test_leaving_out_a_text_of_null_is_offered(schema: Any, sent: str) -> None:
    """The text of null is refused for an optional property, and leaving it out is a fix."""
    (violation,) = normalize(_optional(schema), {"n": 1, "p": sent}).violations
    assert ({"op": "remove", "path": "/p"},) in violation.fixes


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
async def test_a_text_of_null_is_offered_as_null_by_a_server(kind: Any) -> None:
    """A server refuses the text of null for a nullable type whose format has no word for it, and offers null."""
    reported = envelope(await call(lenient(_take(kind)), "take", {"x": "null"}))
    (violation,) = reported["details"]["violations"]
    assert [{"op": "replace", "path": "/x", "value": None}] in violation["fixes"]


async def test_null_text_stays_refused_for_free_text() -> None:
    """A server does not get null for a word that its own pattern refuses."""
    server = lenient(_take(Annotated[str, Field(pattern="^[A-Z]{3}$")]))
    assert envelope(await call(server, "take", {"x": "null"}))["error_code"] == "INVALID_X_VALUE"
