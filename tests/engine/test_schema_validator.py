"""Test the issues that a published schema alone reports."""

from __future__ import annotations

from typing import Any

import pytest
from tables import each_row

from mcp_lenient.engine.contract import own_validator
from mcp_lenient.engine.repair import Plan
from mcp_lenient.engine.schema_validator import PublishedSchemaValidator
from mcp_lenient.rules.policy import Policy
from mcp_lenient.values.limits import MOST_ISSUES

INTEGER = {"type": "integer"}
NULL = {"type": "null"}
TREE: dict[str, Any] = {"type": "object", "properties": {"n": INTEGER, "next": {"$ref": "#"}}}


def closed(*required: str, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def found(schema: dict[str, Any], arguments: dict[Any, Any]) -> list[tuple[tuple[Any, ...], str]]:
    validator = PublishedSchemaValidator(schema)
    assert validator.accepts(arguments) is (validator.issues(arguments) == ())
    return [(issue.path, issue.kind) for issue in validator.issues(arguments)]


@each_row(
    ("schema", "value", "kind"),
    [
        pytest.param(INTEGER, "x", "type", id="another type"),
        pytest.param(INTEGER, 2.5, "type", id="a fraction for an integer"),
        pytest.param(INTEGER, True, "type", id="a boolean for an integer"),
        pytest.param({**INTEGER, "minimum": 5}, 3, "value", id="an integer below its limit"),
        pytest.param(
            {"type": "number", "minimum": 5}, 3, "value", id="an integer for a number below its limit"
        ),
        pytest.param({"type": "number", "minimum": 5}, 3.5, "value", id="a number below its limit"),
        pytest.param({"enum": ["a"]}, 5, "value", id="no type is declared"),
        pytest.param({"anyOf": [INTEGER, NULL]}, "x", "type", id="no branch"),
        pytest.param({"anyOf": [{**INTEGER, "minimum": 5}, NULL]}, 3, "value", id="type of one branch"),
        pytest.param({"anyOf": [closed(a=INTEGER), NULL]}, {"a": "x"}, "value", id="within a branch"),
        pytest.param(
            {"properties": {"a": INTEGER}, "anyOf": [{"type": "object", "required": ["a"]}, NULL]},
            {"a": "x"},
            "value",
            id="within a union that names properties beside its branches",
        ),
        pytest.param({"type": "array", "minItems": 2}, [1], "value", id="a list as a whole"),
        pytest.param({"type": "object", "minProperties": 1}, {}, "value", id="an object as a whole"),
        pytest.param({"type": "number"}, "x", "type", id="a text for a number"),
        pytest.param(closed(a=INTEGER), [], "type", id="a list for an object"),
        pytest.param(
            {"type": "string", "properties": {"a": INTEGER}}, {"a": "x"}, "type", id="an object for a text"
        ),
        pytest.param({"type": "string", "items": INTEGER}, ["x"], "type", id="a list for a text"),
        pytest.param({"type": "array", "items": INTEGER}, {}, "type", id="an object for a list"),
    ],
)
def test_issue_kind_is_type_or_value(schema, value, kind):
    """A wrong JSON type gives a type issue. The right type with a wrong value gives a value issue."""
    assert found(closed("p", p=schema), {"p": value}) == [(("p",), kind)]


def test_issues_are_reported_at_their_paths():
    """All issues are reported from the top down, names first. Valid values have none."""
    schema = closed("b", "a", o=closed("n", n=INTEGER), rows={"type": "array", "items": INTEGER})
    arguments = {"o": {"m": 1}, "x": 1, "rows": [1, "2", 3, "4"]}
    assert found(schema, arguments) == [
        *((("a",), "missing"), (("b",), "missing"), (("x",), "unknown")),
        *((("o", "n"), "missing"), (("o", "m"), "unknown")),
        *((("rows", 1), "type"), (("rows", 3), "type")),
    ]


def test_tuple_items_use_their_own_schemas():
    """Each item of a tuple is validated by its own schema, and further items by ``items``."""
    schema = closed(p={"type": "array", "prefixItems": [INTEGER, NULL], "items": {"type": "string"}})
    assert found(schema, {"p": [None, None, 5]}) == [(("p", 0), "type"), (("p", 2), "type")]


@pytest.mark.parametrize(
    ("key", "reported"), [pytest.param(1, 1, id="integer"), pytest.param(None, "None", id="None")]
)
def test_non_string_key_is_unknown(key, reported):
    """A key that is not a string is unknown, and gives no other issue."""
    validator = PublishedSchemaValidator({**closed(n=INTEGER), "patternProperties": {"^x": INTEGER}})
    assert [(issue.path, issue.kind) for issue in validator.issues({key: "x"})] == [((reported,), "unknown")]


def test_values_of_non_string_keys_are_not_searched():
    """A key that is not a string has no schema, not even ``additionalProperties``."""
    schema = {"type": "object", "additionalProperties": closed(n=INTEGER)}
    closing = own_validator(Plan(schema, Policy(closed=True)), PublishedSchemaValidator(schema))
    for validator in (closing, PublishedSchemaValidator(schema)):
        assert [(issue.path, issue.kind) for issue in validator.issues({1: {"m": 1}})] == [((), "value")]
        assert [issue.path for issue in validator.issues({"1": {"m": 1}})] == [("1", "m")]


def test_additional_properties_use_their_schema():
    """A name is validated by the schema of its pattern, otherwise by ``additionalProperties``."""
    schema = {"type": "object", "patternProperties": {"^x": NULL}, "additionalProperties": INTEGER}
    assert found(schema, {"xa": 1, "b": "1", "c": 1}) == [(("xa",), "type"), (("b",), "type")]


def test_open_object_accepts_undeclared_names():
    """In an open object an undeclared name is not unknown."""
    schema = {"type": "object", "properties": {"n": INTEGER}}
    assert found(schema, {"other": 1, "n": "x"}) == [(("n",), "type")]


def test_issues_are_bounded_in_number():
    """A list with only wrong items has a bounded number of issues."""
    schema = closed(p={"type": "array", "items": INTEGER})
    assert len(found(schema, {"p": ["x"] * (MOST_ISSUES + 5)})) == MOST_ISSUES == 1_000


def test_issues_are_bounded_in_depth():
    """A deeply nested issue is reported at the depth limit."""
    value: Any = {"n": "x"}
    for _ in range(150):
        value = {"next": value}
    ((path, kind),) = found(TREE, value)
    assert path == ("next",) * 101
    assert kind == "value"


def test_endless_value_is_too_large():
    """A recursive schema refuses an endless value for its size."""
    value: Any = {}
    for _ in range(100_000):
        value = {"next": value}
    assert found(TREE, value) == [((), "size")]
