"""Test null, the text "null" and empty text."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any
from uuid import UUID

from decisions import decide_value, refusals
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
@each_row(
    "schema",
    [INTEGER, array(INTEGER), BOOLEAN, OBJECT, {**INTEGER, "default": 5}, enum("a", "b"), enum(1, 2)],
)
def test_a_text_of_null_is_left_out(schema: Any, sent: str) -> None:
    """The text of null is left out for an optional property that takes neither null nor text."""
    found = normalize(_optional(schema), {"n": 1, "p": sent})
    assert (found.arguments, [each.rule for each in found.repairs]) == ({"n": 1}, ["null_text_to_absent"])
    assert normalize(_optional(schema), {"n": 1, "p": sent}, Policy(destructive=True)).violations


@each_row(
    "schema", [enum("a", "none"), enum("unset", "b"), array(enum("a", "none")), {**STRING, "minLength": 9}]
)
def test_a_text_of_null_is_not_left_out(schema: Any) -> None:
    """It stays refused where a text is allowed, a word for nothing is, or the schema says no type."""
    assert normalize(_optional(schema), {"n": 1, "p": "null"}).violations
    assert normalize(_optional(INTEGER), {"n": 1, "p": "none"}).violations


@each_row("kind", [dt.date, UUID, AnyUrl])
def test_null_text_becomes_null_for_types_with_a_format(kind: Any) -> None:
    """A nullable type whose format has no word for null gets null for it; one with a pattern of its own does not."""
    assert decide_value(kind | None, "null").arguments == {"x": None}
    assert refusals(decide_value(Annotated[str, Field(pattern="^[A-Z]{3}$")] | None, "null"))
