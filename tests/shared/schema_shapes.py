"""Schemas that providers reject, each with a call in the author's words and in those of the portable form."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def parameters(**properties: Any) -> Json:
    """Return the schema of a tool with these parameters, the last of which is required."""
    return {"type": "object", "properties": properties, "required": list(properties)[-1:]}


TREE = {
    **parameters(node={"$ref": "#/$defs/Node"}),
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "below": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
            },
        }
    },
}
TWO_WAYS = {
    "oneOf": [
        {
            "type": "object",
            "properties": {"do": {"const": "go"}, "to": {"type": "string"}},
            "required": ["do", "to"],
        },
        {
            "type": "object",
            "properties": {"do": {"const": "wait"}, "for": {"type": "number"}},
            "required": ["do"],
        },
    ]
}
SHAPES: dict[str, tuple[Json, Json, Json]] = {
    "map": (
        parameters(prices={"type": "object", "additionalProperties": {"type": "number"}}),
        {"prices": {"tea": 2.5, "a b": 1}},
        {"prices": [{"key": "tea", "value": 2.5}, {"key": "a b", "value": 1}]},
    ),
    "free_object": (parameters(filter={"type": "object"}), {"filter": {"a": [1]}}, {"filter": '{"a": [1]}'}),
    "any_value": (parameters(value={}), {"value": "[1]"}, {"value": "[1]"}),
    "any_list": (parameters(value={}), {"value": [1]}, {"value": {"json": "[1]"}}),
    "any_null": (parameters(value={}), {"value": None}, {"value": {"json": "null"}}),
    "object_or_text": (
        parameters(value={"anyOf": [{"type": "string"}, {"type": "object"}]}),
        {"value": {"a": 1}},
        {"value": {"json": '{"a": 1}'}},
    ),
    "text_or_object": (
        parameters(value={"anyOf": [{"type": "string"}, {"type": "object"}]}),
        {"value": '{"a": 1}'},
        {"value": '{"a": 1}'},
    ),
    "tuple": (
        parameters(
            at={"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}], "minItems": 2}
        ),
        {"at": [1, "m"]},
        {"at": '[1, "m"]'},
    ),
    "old_tuple": (
        parameters(at={"type": "array", "items": [{"type": "number"}, {"type": "string"}]}),
        {"at": [1, "m"]},
        {"at": '[1, "m"]'},
    ),
    "recursion": (
        TREE,
        {"node": {"name": "a", "below": [{"name": "b", "below": []}]}},
        {"node": {"name": "a", "below": ['{"name": "b", "below": []}']}},
    ),
    "illegal_name": (parameters(**{"$top": {"type": "integer"}}), {"$top": 3}, {"top": 3}),
    "two_illegal_names": (
        parameters(**{"a[x]": {"type": "integer"}, "a{x}": {"type": "integer"}}),
        {"a[x]": 1, "a{x}": 2},
        {"a_x": 1, "a_x_": 2},
    ),
    "required_null": (parameters(until={"type": ["string", "null"]}), {"until": None}, {"until": None}),
    "null_apart": (
        {"type": "object", "properties": {"n": {"type": ["integer", "null"], "default": 5}}},
        {"n": None},
        {"n": None},
    ),
    "null_without_default": (
        {"type": "object", "properties": {"n": {"type": ["integer", "null"]}}},
        {"n": None},
        {"n": None},
    ),
    "controls_as_text": (
        parameters(filter={"type": "object"}),
        {"filter": {"a\b": "\f\\b"}},
        {"filter": '{"a\\u0008": "\\u000c\\\\b"}'},
    ),
    "more_names": (
        {
            "type": "object",
            "properties": {"a": {"type": "string"}},
            "additionalProperties": {"type": "integer"},
        },
        {"a": "x", "b": 1},
        {"a": "x", "additional_properties": [{"key": "b", "value": 1}]},
    ),
    "root_one_of": (TWO_WAYS, {"do": "go", "to": "there"}, {"do": "go", "to": "there"}),
    "map_of_objects": (
        parameters(
            by={"type": "object", "additionalProperties": parameters(**{"x-y/z": {"type": "integer"}})}
        ),
        {"by": {"k": {"x-y/z": 1}}},
        {"by": [{"key": "k", "value": {"x-y_z": 1}}]},
    ),
    "nullable": (
        parameters(size={"type": "integer", "nullable": True}, name={"type": "string"}),
        {"name": "a", "size": 3},
        {"name": "a", "size": 3},
    ),
}
