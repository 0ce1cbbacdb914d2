"""The only value that a place allows is never produced by a repair; whether it is the only one, the validator says."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from calls import call, code, got, lenient
from pydantic import AfterValidator, BaseModel, Field
from tables import BOOLEAN, INTEGER, STRING, array, closed, each_row, enum, nullable

from mcp_lenient import normalize

_TRUE = {"allOf": [BOOLEAN, {"const": True}]}
_WORDS = enum("keep", "delete")


@each_row(
    ("schema", "sent"),
    [
        (closed(x={**_WORDS, "pattern": "^d"}), {"x": "DELETE"}),
        (closed(x={**_WORDS, "not": {"const": "keep"}}), {"x": "DELETE"}),
        (closed(x={**_WORDS, "maxLength": 4}), {"x": "KEEP"}),
        (closed(x={**INTEGER, "minimum": 7, "maximum": 7}), {"x": "7"}),
        (closed(x={**INTEGER, "exclusiveMinimum": 4, "exclusiveMaximum": 6}), {"x": "5"}),
        (closed(x={**INTEGER, "minimum": 8, "maximum": 15, "multipleOf": 10}), {"x": "10"}),
        (closed(x={**BOOLEAN, "not": {"const": False}}), {"x": "true"}),
        (closed(x=_TRUE), {"x": "true"}),
        (closed(x={**STRING, "pattern": "^7781$"}), {"x": 7781}),
        ({**closed(x=BOOLEAN), "not": {"properties": {"x": {"const": False}}}}, {"x": "true"}),
        ({**closed(x=BOOLEAN), "if": {"properties": {"x": {"const": False}}}, "then": False}, {"x": "yes"}),
        (closed(xs=array({**_WORDS, "pattern": "^d"})), {"xs": ["DELETE"]}),
        (closed(o=nullable(closed(x={**_WORDS, "pattern": "^d"}))), {"o": {"x": "DELETE"}}),
    ],
)
def test_the_only_value_is_not_produced(schema, sent):
    """Where no other value is accepted, the value has to be sent exactly, however the schema says that."""
    assert normalize(schema, sent).violations


@each_row(
    ("schema", "sent", "read"),
    [
        (closed(x=_WORDS), {"x": "DELETE"}, {"x": "delete"}),
        (closed(x={**INTEGER, "minimum": 7, "maximum": 8}), {"x": "7"}, {"x": 7}),
        (closed(x={**INTEGER, "minimum": 0, "multipleOf": 60}), {"x": "60"}, {"x": 60}),
        (closed(x={**STRING, "pattern": "^[0-9]+$"}), {"x": 7781}, {"x": "7781"}),
        (closed(x=BOOLEAN), {"x": "true"}, {"x": True}),
        (
            {
                "anyOf": [
                    closed("kind", kind=enum("first"), n=INTEGER),
                    closed("kind", kind=enum("second"), m=INTEGER),
                ]
            },
            {"kind": "FIRST", "n": 1},
            {"kind": "first", "n": 1},
        ),
    ],
)
def test_a_value_among_others_is_repaired(schema, sent, read):
    """Where another value is accepted as well, or the value is a tag, the repair stays."""
    found = normalize(closed(v=schema), {"v": sent})
    assert (found.arguments, found.violations) == ({"v": read}, ())


def test_the_other_repairs_of_a_refused_call_stay():
    """The envelope speaks of the value that must be sent exactly alone."""
    schema = closed(confirm={**BOOLEAN, "not": {"const": False}}, tags=array(STRING))
    (violation,) = normalize(schema, {"confirm": "true", "tags": '["a"]'}).violations
    assert violation.pointer == "/confirm"


def _sure(value: Any) -> Any:
    if value not in (True, "yes", 30):
        msg = "only one will do"
        raise ValueError(msg)
    return value


def _even(value: int) -> int:
    if value % 2:
        msg = "odd"
        raise ValueError(msg)
    return value


class _Inner(BaseModel):
    confirm: Annotated[bool, AfterValidator(_sure)]


@pytest.mark.parametrize(
    ("kind", "sent"),
    [
        (Annotated[bool, AfterValidator(_sure)], "true"),
        (Annotated[int, AfterValidator(_sure)], "30"),
        (Annotated[Literal["yes", "no"], AfterValidator(_sure)], "YES"),
        (_Inner, {"confirm": "true"}),
        (Annotated[int, Field(ge=5, le=5)], "5"),
    ],
)
async def test_a_validator_of_the_author_may_allow_one_value(kind, sent):
    """An author's validator that takes one value alone is not answered by a repair; FastMCP's own conversion stays."""

    def tool(x: Any, limit: int = 0) -> str:
        return repr((x, limit))

    tool.__annotations__ = {"x": kind, "limit": int, "return": str}
    assert code(await call(lenient(tool, strict=True), "tool", {"x": sent}))


async def test_a_validator_that_takes_some_numbers_lets_them_through():
    """A validator that refuses the neighbors of a number still takes others."""

    def tool(x: Annotated[int, AfterValidator(_even)]) -> int:
        return x

    assert got(await call(lenient(tool, strict=True), "tool", {"x": "4"})) == 4
