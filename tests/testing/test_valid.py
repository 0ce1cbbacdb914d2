"""Test that generated arguments are valid by their schema."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from decisions import contract
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples
from tables import ARRAY, INTEGER, OBJECT, STRING, array, closed, each_row, enum, nullable, opened

from mcp_lenient.testing.example_arguments import NoValueError, valid_arguments

MAP = {**OBJECT, "additionalProperties": INTEGER}
_SCHEMAS = [
    pytest.param({"type": "integer", "minimum": 3, "exclusiveMaximum": 5}, id="bounds"),
    pytest.param({"type": "integer", "multipleOf": 7, "minimum": -15, "maximum": -14}, id="single-multiple"),
    pytest.param({"type": "integer", "minimum": 1000}, id="above-all-samples"),
    pytest.param({"type": "integer", "multipleOf": 7, "minimum": 15}, id="multiple"),
    pytest.param({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.1}, id="narrow"),
    pytest.param({"type": "string", "minLength": 40}, id="long-text"),
    pytest.param({"type": "string", "maxLength": 2}, id="short-text"),
    pytest.param({"type": "string", "pattern": "^[A-Z]{3}$"}, id="pattern"),
    pytest.param({"type": "string", "pattern": "^q{17}$"}, id="pattern-without-a-sample"),
    pytest.param({"type": "string", "pattern": r"^(?:ab|cd)[x-z]{3,5}-\d+\.?$"}, id="pattern-of-parts"),
    pytest.param({"type": "string", "format": "date-time"}, id="format"),
    pytest.param({"enum": ["a", 1, None]}, id="enum"),
    pytest.param({"anyOf": [{"type": "boolean"}, {"type": "null"}]}, id="union"),
    pytest.param({"type": "array", "items": {"type": "integer"}, "minItems": 5, "maxItems": 6}, id="array"),
    pytest.param({"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True}, id="unique"),
    pytest.param(array(enum(1, 2, 3), uniqueItems=True, minItems=3), id="all-members"),
    pytest.param({**ARRAY, "prefixItems": [STRING, INTEGER], "minItems": 2}, id="tuple"),
    pytest.param({"type": "object", "additionalProperties": {"type": "number"}}, id="map"),
    pytest.param({**MAP, "propertyNames": enum("x", "y"), "minProperties": 2}, id="names-of-an-enum"),
    pytest.param({**MAP, "propertyNames": {"pattern": "^[a-z]{2}_[0-9]$"}}, id="names-by-pattern"),
    pytest.param({"properties": {"a": {"type": "integer"}}, "required": ["a"]}, id="object-without-type"),
    pytest.param({"items": {"type": "integer"}}, id="array-without-type"),
    pytest.param({"allOf": [{"type": "integer", "minimum": 3}, {"minimum": 8, "maximum": 9}]}, id="all-of"),
    pytest.param({"type": "string", "examples": ["only this"]}, id="examples"),
    pytest.param({"$ref": "#/$defs/tree"}, id="recursive"),
    pytest.param({"$ref": "#/$defs/chain"}, id="recursive-by-null"),
    pytest.param({"type": "null"}, id="null"),
    pytest.param({}, id="anything"),
]
_DEFS: dict[str, Any] = {
    "tree": opened("value", "children", value=INTEGER, children=array({"$ref": "#/$defs/tree"})),
    "chain": opened("next", next=nullable({"$ref": "#/$defs/chain"})),
}


def _tool(value: Any) -> dict[str, Any]:
    return {**closed("value", value=value, other=STRING), "$defs": _DEFS}


@each_row("schema", _SCHEMAS)
def test_generated_arguments_are_valid(schema):
    """Generated arguments are valid with any seed, with and without optional parameters."""
    tool = _tool(schema)
    validator = contract(tool).validator
    for seed in range(examples(10)):
        for optional in (0.0, 1.0):
            made = valid_arguments(tool, Random(seed), optional=optional)  # noqa: S311 - nothing is secret
            assert validator.accepts(made)
            assert ("other" in made) == bool(optional)


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        pytest.param({"type": "string", "pattern": "^(?=a)b$"}, "valid at value", id="pattern"),
        pytest.param({"type": "integer", "not": {"minimum": -5}, "minimum": 0}, "valid at value", id="never"),
        pytest.param({"$ref": "https://example.com/schema"}, "leads to no schema", id="remote"),
    ],
)
def test_schemas_without_generated_arguments_are_reported(schema, why):
    """If nothing can be generated for a schema, the error names the part or the reason."""
    with pytest.raises(NoValueError, match=why):
        valid_arguments(_tool(schema), Random(0), optional=1.0)  # noqa: S311 - nothing is secret


@given(st.integers())
def test_the_same_seed_makes_the_same_arguments(seed):
    """A seed determines all choices."""
    tool = _tool({"$ref": "#/$defs/tree"})
    first, second = (valid_arguments(tool, Random(seed), optional=0.5) for _ in range(2))  # noqa: S311 - as above
    assert first == second


def test_json_in_text_is_valid_by_its_content_schema():
    """JSON in generated text is valid by the content schema."""
    content = {"type": "array", "items": {"type": "integer"}, "minItems": 1}
    text = {"type": "string", "contentMediaType": "application/json", "contentSchema": content}
    for seed in range(20):
        made = valid_arguments(_tool(text), Random(seed), optional=0.0)  # noqa: S311 - nothing is secret
        assert all(isinstance(each, int) for each in json.loads(made["value"]))


@pytest.mark.parametrize("wide", [False, True])
def test_a_number_or_string_is_generated_as_a_number(wide):
    """For a number or any string, as decimals are published, a number or its digits are generated."""
    decimal = {"anyOf": [{"type": "number"}, {"type": "string"}]}
    for seed in range(20):
        made = valid_arguments(_tool(decimal), Random(seed), optional=0.0, wide=wide)  # noqa: S311 - as above
        assert isinstance(float(made["value"]), float)
