"""Compare the schema validator with jsonschema, an independent oracle that shares no code with ours."""

from __future__ import annotations

import json
from typing import Any

import pytest
from decisions import contract
from hypothesis import assume, event, given
from hypothesis import strategies as st
from jsonschema import Draft4Validator, Draft7Validator, Draft202012Validator, SchemaError
from referencing import Registry
from referencing.exceptions import Unresolvable
from strategies import LAW, LOOSE_JSON, NAMES, Json, schemas, values
from tables import each_row

NOTHING_TO_FETCH: Registry[Any] = Registry()

# Keywords that the laws' schemas lack. No `format`, because ours asserts dates and times on purpose. No
# fractional `multipleOf`, whose rounding is unspecified, and only patterns that regex dialects read alike.
KEYWORDS = (
    {"multipleOf": 5},
    {"maxLength": 1},
    {"exclusiveMaximum": 5},
    {"minProperties": 2},
    {"maxProperties": 1},
    {"required": ["a"]},
    {"dependentRequired": {"a": ["b"]}},
    {"dependentSchemas": {"a": {"properties": {"b": {"type": "integer"}}}}},
    {"propertyNames": {"maxLength": 4}},
    {"contains": {"type": "integer"}, "maxContains": 2},
    {"contains": {"const": 1}, "minContains": 0},
    {"uniqueItems": True},
    {"not": {"type": "string"}},
    {"not": {"required": ["a"]}},
    {"if": {"type": "string"}, "then": {"minLength": 2}, "else": {"type": ["integer", "object", "array"]}},
    {"const": 1},
    {"const": {"a": 1.0}},
    {"enum": [0, False, [1], {"b": None}]},
    {"allOf": [{"type": ["integer", "string"]}, {"minimum": 3}]},
    {"oneOf": [{"type": "integer"}, {"minimum": 3}]},
    {"unevaluatedProperties": False, "properties": {"a": {}}},
    {"prefixItems": [{"type": "string"}], "items": False},
)


@st.composite
def richer_schemas(draw: st.DrawFn) -> Json:
    """Draw a schema of the laws with one more parameter that uses further keywords."""
    schema = draw(schemas())
    name = draw(st.sampled_from(NAMES))
    more = draw(st.lists(st.sampled_from(KEYWORDS), min_size=1, max_size=2))
    part: Json = {}
    for keywords in more:
        part |= keywords
    return {**schema, "properties": {**schema["properties"], name: part}}


@st.composite
def calls(draw: st.DrawFn) -> tuple[Json, Json]:
    """Draw a schema and arguments, valid or not."""
    schema = draw(richer_schemas())
    arguments = draw(values(schema, schema)) if draw(st.booleans()) else {}
    assume(isinstance(arguments, dict))
    names = st.sampled_from([*schema["properties"], *NAMES])
    return schema, arguments | draw(st.dictionaries(names, LOOSE_JSON, max_size=3))


def oracle(schema: Json, dialect: Any = Draft202012Validator) -> Any:
    return dialect(schema, registry=NOTHING_TO_FETCH)


@LAW
@given(calls())
def test_validator_agrees_with_the_oracle(call):
    """Both agree on whether a call is valid and whether it has faults."""
    schema, arguments = call
    validator = contract(schema, rules=()).validator
    accepted = oracle(schema).is_valid(arguments)
    event(f"accepted: {accepted}")
    assert validator.accepts(arguments) is accepted
    assert (validator.faults(arguments) == ()) is accepted


@LAW
@given(calls())
def test_each_parameter_agrees_with_the_oracle(call):
    """Both agree on a single parameter, which our own fast checks validate if they can."""
    schema, arguments = call
    plan = contract(schema).plan
    for name, node in plan.top.property_nodes.items():
        if name in arguments:
            alone = {"$defs": plan.tree.root.get("$defs", {}), "allOf": [plan.tree.root["properties"][name]]}
            assert node.accepts(arguments[name]) is oracle(alone).is_valid(arguments[name]), name


OLD_KEYWORDS = (
    {"items": [{"type": "string"}, {"type": "integer"}], "additionalItems": False},
    {"items": [{"type": "string"}], "additionalItems": {"type": "integer"}},
    {"dependencies": {"a": ["b"]}},
    {"dependencies": {"a": {"required": ["b"]}}},
    {"$ref": "#/definitions/Small", "type": "string"},
    {"anyOf": [{"$ref": "#/definitions/Small"}, {"type": "array", "items": {"$ref": "#/definitions/Small"}}]},
)
OF_DRAFT_4 = (
    *OLD_KEYWORDS,
    {"minimum": 3, "exclusiveMinimum": True},
    {"maximum": 42, "exclusiveMaximum": True},
    {"minimum": 3, "exclusiveMinimum": False},
)


def _has_whole_float(value: Any) -> bool:
    return ".0" in json.dumps(value)


@pytest.mark.parametrize(
    ("dialect", "keywords"),
    [
        pytest.param(Draft4Validator, OF_DRAFT_4, id="draft 4"),
        pytest.param(Draft7Validator, (*OLD_KEYWORDS, {"exclusiveMinimum": 3}), id="draft 7"),
    ],
)
@LAW
@given(data=st.data())
def test_translated_schema_agrees_with_the_oracle_of_its_draft(dialect, keywords, data):
    """A translated schema of an older draft agrees with the oracle of that draft."""
    schema = {
        "$schema": dialect.META_SCHEMA["$schema"],
        "type": "object",
        "properties": {"p": data.draw(st.sampled_from(keywords)), "q": data.draw(st.sampled_from(keywords))},
        "definitions": {"Small": {"type": "integer", "maximum": 9}},
    }
    arguments = data.draw(st.dictionaries(st.sampled_from(["p", "q"]), LOOSE_JSON, min_size=1))
    assume(not _has_whole_float(arguments))  # draft 4 does not count 7.0 as an integer
    accepted = oracle(schema, dialect).is_valid(arguments)
    event(f"accepted: {accepted}")
    assert contract(schema).validator.accepts(arguments) is accepted


UNREADABLE = {
    "a keyword with a wrong value": {"items": None},
    "an unknown type": {"type": "file"},
    "names that are not a list": {"required": "a"},
    "a reference to another document": {"$ref": "https://example.com/address.json"},
    "a reference to nothing": {"$ref": "#/$defs/gone"},
    "a reference to itself": {"$ref": "#/properties/p"},
    "a union with itself": {"anyOf": [{"$ref": "#/properties/p"}, {"type": "string"}]},
    "references without end": {"$ref": "#/$defs/a", "$defs": {"a": {"not": {"$ref": "#/properties/p"}}}},
}


@each_row("part", [pytest.param(part, id=name) for name, part in UNREADABLE.items()])
def test_oracle_cannot_validate_unread_parts_either(part):
    """A part stays unread only if it is not a JSON Schema, refers elsewhere, or never ends."""
    schema = {"type": "object", "properties": {"p": part}}
    assert contract(schema).plan.tree.unread
    try:
        Draft202012Validator.check_schema(schema)
        oracle(schema).is_valid({"p": 1})
    except (SchemaError, Unresolvable, RecursionError):
        return
    pytest.fail("the oracle validates it")
