"""Test which objects a closed schema forbids other names in, and which it leaves open."""

from __future__ import annotations

from typing import Any

import pytest
from tables import INTEGER, NULL, STRING, Json, array, each_row, enum, nullable, opened, union

from mcp_lenient import Policy, normalize

_PERSON = opened(name=STRING)
_REF: Json = {"$ref": "#/$defs/Person"}
_DEFS: Json = {"$defs": {"Person": _PERSON}}


def _accepts(schema: Json, value: Any) -> tuple[bool, bool]:
    """Return whether the schema accepts a value of its property ``p``, as written and when closed."""
    whole = {**opened(p=schema), **_DEFS}
    policies = (Policy(rules=()), Policy(rules=(), closed=True))
    one, other = (not normalize(whole, {"p": value}, each).violations for each in policies)
    return one, other


@each_row(
    ("schema", "value"),
    [
        pytest.param(_PERSON, {"x": 1}, id="object"),
        pytest.param(array(_PERSON), [{"name": "a"}, {"x": 1}], id="item"),
        pytest.param({"prefixItems": [_PERSON]}, [{"x": 1}], id="tuple"),
        pytest.param({"additionalProperties": _PERSON}, {"a": {"x": 1}}, id="map entry"),
        pytest.param({"patternProperties": {"^a": _PERSON}}, {"a": {"x": 1}}, id="by pattern"),
        pytest.param(nullable(_PERSON), {"x": 1}, id="nullable"),
        pytest.param({"type": ["object", "null"], "properties": {"a": {}}}, {"x": 1}, id="list of types"),
        pytest.param(union(_PERSON, opened(kind=STRING)), {"name": "a", "kind": "b"}, id="union"),
        pytest.param(_REF, {"x": 1}, id="reference"),
        pytest.param({**_REF, "description": "A person."}, {"x": 1}, id="described reference"),
        pytest.param({"allOf": [_REF]}, {"x": 1}, id="allOf"),
        pytest.param({"allOf": [_REF, opened(age=INTEGER)]}, {"name": "a", "age": 1, "x": 1}, id="two parts"),
        pytest.param({**_REF, **opened(age=INTEGER)}, {"name": "a", "x": 1}, id="beside a reference"),
        pytest.param(
            {**opened(a={}, b={}), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
            {"a": 1, "x": 1},
            id="one of two names",
        ),
        pytest.param(opened(kind=enum("x"), one=_REF), {"one": {"x": 1}}, id="nested"),
    ],
)
def test_an_unknown_name_is_refused(schema: Json, value: Any) -> None:
    """A closed schema forbids undeclared names in an object that is not explicitly open."""
    assert _accepts(schema, value) == (True, False)


@each_row(
    ("schema", "value"),
    [
        pytest.param({**_PERSON, "additionalProperties": True}, {"x": 1}, id="others allowed"),
        pytest.param({**_PERSON, "additionalProperties": INTEGER}, {"x": 1}, id="others of one type"),
        pytest.param({**_PERSON, "unevaluatedProperties": True}, {"x": 1}, id="unevaluated allowed"),
        pytest.param({"type": "object"}, {"x": 1}, id="nothing declared"),
        pytest.param(opened(), {"x": 1}, id="no property"),
        pytest.param({**_PERSON, "patternProperties": {"^x": {}}}, {"x": 1}, id="by pattern"),
        pytest.param({"allOf": [_REF, opened(age=INTEGER)]}, {"name": "a", "age": 1}, id="two parts"),
        pytest.param({"allOf": [_REF, {"additionalProperties": True}]}, {"x": 1}, id="a part allows them"),
        pytest.param(
            {**_PERSON, "if": {"required": ["x"]}, "then": {"properties": {"x": {}}}},
            {"x": 1},
            id="conditional",
        ),
        pytest.param(
            {**_PERSON, "anyOf": [opened(a={}), opened(b={})]}, {"name": "a", "b": 1}, id="branches add"
        ),
        pytest.param({"allOf": [_REF, {"not": _REF | opened("y")}]}, {"name": "a"}, id="condition"),
        pytest.param({"contains": {"anyOf": [_REF]}}, [{"x": 1}], id="contains"),
        pytest.param(union(_PERSON, NULL), None, id="null"),
    ],
)
def test_explicitly_allowed_names_stay_allowed(schema: Json, value: Any) -> None:
    """An object that allows other names, or whose parts declare them, is not closed."""
    assert _accepts(schema, value) == (True, True)


def test_closing_changes_no_input() -> None:
    """The published schema is never changed."""
    published = opened(p=_PERSON)
    normalize(published, {"p": {"x": 1}}, Policy(closed=True))
    assert published == opened(p=opened(name=STRING))


def test_recursion_ends() -> None:
    """A recursive schema is closed in finite time."""
    node: Json = {**opened(next={"$ref": "#/$defs/Node"}), "allOf": [{"$ref": "#/$defs/Node"}]}
    schema = {**opened(p={"$ref": "#/$defs/Node"}), "$defs": {"Node": node}}
    assert not normalize(schema, {"p": {"next": {}}}, Policy(closed=True)).violations
