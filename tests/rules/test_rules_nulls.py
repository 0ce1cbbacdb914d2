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
    OBJECT,
    STRING,
    array,
    closed,
    each_row,
    enum,
)

from mcp_lenient import Policy, normalize


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
