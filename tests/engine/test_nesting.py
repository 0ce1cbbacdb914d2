"""Test that a value's depth is checked before a validator walks an endless value."""

from __future__ import annotations

import pytest
from sampling import quick

from mcp_lenient.schema.compile import depth_check

CHAIN = {
    "properties": {"a": {"$ref": "#/$defs/0"}},
    "$defs": {str(at): {"$ref": f"#/$defs/{at + 1}"} for at in range(9)},
}


def nested(depth):
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "schema",
    quick(
        [
            pytest.param({"items": {"$ref": "#"}}, id="to the root"),
            pytest.param({"properties": {"a": {"items": {"$ref": "#/properties/a"}}}}, id="to the parent"),
            pytest.param(
                {
                    "$ref": "#/$defs/a",
                    "$defs": {"a": {"items": {"$ref": "#/$defs/b"}}, "b": {"items": {"$ref": "#/$defs/a"}}},
                },
                id="through another",
            ),
            pytest.param({"items": {"$dynamicRef": "#node"}, "$dynamicAnchor": "node"}, id="dynamic"),
            pytest.param({"$id": "https://a.example/b", "items": {"$ref": "b"}}, id="not followed"),
            pytest.param(
                CHAIN | {"$defs": CHAIN["$defs"] | {"9": {"items": {"$ref": "#/$defs/4"}}}}, id="far down"
            ),
            pytest.param({"enum": [{"a": at} for at in range(200_000)]}, id="too large to search"),
        ],
        *("to the root", "not followed"),
    ),
)
def test_recursive_schema_checks_the_depth(schema):
    """An endlessly nested value is refused before a validator sees it."""
    assert not depth_check(schema)(nested(100_000))
    assert depth_check(schema)(nested(50))


@pytest.mark.parametrize(
    "schema",
    quick(
        [
            pytest.param({"type": "array"}, id="no reference"),
            pytest.param(
                CHAIN | {"$defs": CHAIN["$defs"] | {"9": {"type": "array"}}}, id="a chain that ends"
            ),
            pytest.param(
                {"properties": {"a": {"$ref": "#/$defs/a"}, "b": {"$ref": "#/$defs/a"}}, "$defs": {"a": {}}},
                id="twice",
            ),
        ],
        "no reference",
    ),
)
def test_plain_schema_skips_the_depth_check(schema):
    """A schema without recursion needs no depth check, because its validator goes no deeper."""
    assert depth_check(schema)(nested(100_000))
