"""Test that a value's depth is checked before a validator walks an endless value."""

from __future__ import annotations

import pytest
from sampling import quick

from mcp_lenient import normalize

CHAIN = {str(at): {"$ref": f"#/$defs/{at + 1}"} for at in range(9)}


def nested(depth):
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "schema",
    quick(
        [
            pytest.param({"properties": {"x": {"items": {"$ref": "#/properties/x"}}}}, id="to the parent"),
            pytest.param(
                {
                    "properties": {"x": {"$ref": "#/$defs/a"}},
                    "$defs": {"a": {"items": {"$ref": "#/$defs/b"}}, "b": {"items": {"$ref": "#/$defs/a"}}},
                },
                id="through another",
            ),
            pytest.param(
                {
                    "properties": {"x": {"$ref": "#/$defs/0"}},
                    "$defs": CHAIN | {"9": {"items": {"$ref": "#/$defs/4"}}},
                },
                id="far down",
            ),
        ],
        "to the parent",
    ),
)
def test_an_endless_value_of_a_recursive_schema_is_refused(schema):
    """An endlessly nested value is refused before a validator sees it; a nested one is accepted."""
    assert [each.code for each in normalize(schema, {"x": nested(100_000)}).violations] == ["size"]
    assert not normalize(schema, {"x": nested(50)}).violations


def test_an_endless_value_of_a_plain_schema_is_accepted():
    """Without recursion a validator goes no deeper than the schema, so that depth does not matter."""
    assert not normalize({"properties": {"x": {"type": "array"}}}, {"x": nested(100_000)}).violations
