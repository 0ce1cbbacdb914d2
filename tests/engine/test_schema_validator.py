"""Test the faults that a published schema alone reports."""

from __future__ import annotations

from typing import Any

import pytest
from tables import INTEGER, NULL, closed, each_row, opened

from mcp_lenient import Policy, normalize

TREE: dict[str, Any] = {"type": "object", "properties": {"n": INTEGER, "next": {"$ref": "#"}}}


def found(schema: dict[str, Any], arguments: dict[Any, Any], **policy: Any) -> list[str]:
    """Return the violations of arguments without repairs, each as its code and pointer."""
    asked = normalize(schema, arguments, Policy(rules=(), **policy))
    return [f"{each.code} {each.pointer}" for each in asked.violations]


@each_row(("schema", "value", "violation"))
def test_a_wrong_value_is_reported_by_its_code_and_place(schema, value, violation):
    """A wrong JSON type is a type error, a wrong value of the right type says what is wrong with it."""
    assert found(closed("p", p=schema), {"p": value}) == violation


@each_row(
    ("schema", "sent", "violations"),
    [
        pytest.param(
            closed("b", "a", o=closed("n", n=INTEGER), rows={"type": "array", "items": INTEGER}),
            {"o": {"m": 1}, "x": 1, "rows": [1, "2", 3, "4"]},
            ["missing /b", "missing /a", "unknown /x", "missing /o/n", "unknown /o/m", "type /rows/1"],
            id="names and items",
        ),
        pytest.param(
            closed(p={"type": "array", "prefixItems": [INTEGER, NULL], "items": {"type": "string"}}),
            {"p": [None, None, 5]},
            ["type /p/0", "type /p/2"],
            id="a tuple",
        ),
        pytest.param(
            {"type": "object", "patternProperties": {"^x": NULL}, "additionalProperties": INTEGER},
            {"xa": 1, "b": "1", "c": 1},
            ["type /xa", "type /b"],
            id="by pattern, or as any other name",
        ),
        pytest.param(opened(n=INTEGER), {"other": 1, "n": "x"}, ["type /n"], id="an open object"),
        *(
            pytest.param(
                {**closed(n=INTEGER), "patternProperties": {"^x": INTEGER}}, {key: "x"}, said, id=f"key {key}"
            )
            for key, said in ((1, ["unknown /1"]), (None, ["unknown /None"]))
        ),
    ],
)
def test_violations_are_reported_at_their_places(schema, sent, violations):
    """All violations are reported, each at its place."""
    assert found(schema, sent) == violations


@pytest.mark.parametrize("closing", [False, True])
def test_values_of_non_string_keys_are_not_searched(closing):
    """A key that is not a string has no schema, not even ``additionalProperties``."""
    schema = {"type": "object", "additionalProperties": closed(n=INTEGER)}
    assert found(schema, {1: {"m": 1}}, closed=closing) == ["value "]
    assert found(schema, {"1": {"m": 1}}, closed=closing) == ["unknown /1/m"]


def test_violations_are_bounded_in_depth():
    """A deeply nested value and an endless one are too large."""
    for depth in (150, 100_000):
        value: Any = {"n": "x"}
        for _ in range(depth):
            value = {"next": value}
        assert found(TREE, value) == ["size "]
