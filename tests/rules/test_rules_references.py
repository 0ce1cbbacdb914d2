"""Test that rules work through references, recursion and other schema keywords."""

from __future__ import annotations

from typing import Any

from tables import (
    BOOLEAN,
    INTEGER,
    OBJECT,
    STRING,
    Json,
    array,
    check,
    closed,
    keeps_call,
    opened,
    refuses_call,
    repairs_call_to,
    table,
)

TREE: Json = {
    **closed("root", root={"$ref": "#/$defs/Node"}),
    "$defs": {"Node": closed("value", value=INTEGER, children=array({"$ref": "#/$defs/Node"}))},
}


@table(
    repairs_call_to(
        "reference", TREE, {"root": {"value": "1"}}, {"root": {"value": 1}}, "text_to_integer /root/value"
    ),
    repairs_call_to(
        "recursion",
        TREE,
        {"root": {"value": 1, "children": [{"value": "2"}]}},
        {"root": {"value": 1, "children": [{"value": 2}]}},
        "text_to_integer /root/children/0/value",
    ),
    repairs_call_to(
        "recursion in text",
        TREE,
        {"root": {"value": 1, "children": '[{"value": 2}]'}},
        {"root": {"value": 1, "children": [{"value": 2}]}},
        "json_text_to_array /root/children",
    ),
    repairs_call_to(
        "the root itself",
        opened(n=INTEGER, next={"$ref": "#"}),
        {"next": {"next": {"n": "1"}}},
        {"next": {"next": {"n": 1}}},
        "text_to_integer /next/next/n",
    ),
    repairs_call_to(
        "definitions",
        {**closed(p={"$ref": "#/definitions/N"}), "definitions": {"N": INTEGER}},
        {"p": "1"},
        {"p": 1},
        "text_to_integer /p",
    ),
    repairs_call_to(
        "escaped reference",
        {**closed(p={"$ref": "#/$defs/a~1b"}), "$defs": {"a/b": INTEGER}},
        {"p": "1"},
        {"p": 1},
        "text_to_integer /p",
    ),
    repairs_call_to(
        "allOf of one",
        closed(p={"allOf": [INTEGER], "description": "n"}),
        {"p": "1"},
        {"p": 1},
        "text_to_integer /p",
    ),
    repairs_call_to(
        "allOf of two",
        closed(p={"allOf": [opened("a", a=INTEGER), opened("b", b=BOOLEAN)]}),
        {"p": {"a": "1", "b": "true"}},
        {"p": {"a": 1, "b": True}},
        "text_to_integer /p/a",
        "text_to_boolean /p/b",
    ),
    repairs_call_to(
        "allOf of the same property",
        closed(p={"allOf": [opened(a=INTEGER), opened(a={"minimum": 1})]}),
        {"p": {"a": "1"}},
        {"p": {"a": 1}},
        "text_to_integer /p/a",
    ),
    repairs_call_to(
        "prefixItems",
        closed(p={"type": "array", "prefixItems": [INTEGER, BOOLEAN]}),
        {"p": ["1", "true"]},
        {"p": [1, True]},
        "text_to_integer /p/0",
        "text_to_boolean /p/1",
    ),
    repairs_call_to(
        "items after prefixItems",
        closed(p={"type": "array", "prefixItems": [STRING], "items": INTEGER}),
        {"p": ["1", "2"]},
        {"p": ["1", 2]},
        "text_to_integer /p/1",
    ),
    repairs_call_to(
        "items of draft 7",
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            **closed(p={"type": "array", "items": [INTEGER, STRING]}),
        },
        {"p": ["1", "2"]},
        {"p": [1, "2"]},
        "text_to_integer /p/0",
    ),
    repairs_call_to(
        "patternProperties",
        closed(p={"type": "object", "patternProperties": {"^n_": INTEGER}}),
        {"p": {"n_a": "1", "b": "2"}},
        {"p": {"n_a": 1, "b": "2"}},
        "text_to_integer /p/n_a",
    ),
    repairs_call_to(
        "additionalProperties",
        closed(p={"type": "object", "additionalProperties": INTEGER}),
        {"p": {"a": "1"}},
        {"p": {"a": 1}},
        "text_to_integer /p/a",
    ),
    repairs_call_to(
        "a property named like a keyword",
        {**closed(default={"$ref": "#/$defs/N"}, enum=INTEGER), "$defs": {"N": INTEGER}},
        {"default": "1", "enum": "2"},
        {"default": 1, "enum": 2},
        "text_to_integer /default",
        "text_to_integer /enum",
    ),
    repairs_call_to(
        "a nested property named like a keyword",
        {**closed(o=closed(const={"$ref": "#/$defs/N"}, n=INTEGER)), "$defs": {"N": INTEGER}},
        {"o": {"const": "1", "n": "2"}},
        {"o": {"const": 1, "n": 2}},
        "text_to_integer /o/const",
        "text_to_integer /o/n",
    ),
    repairs_call_to(
        "an object by its own id",
        {"$id": "https://example.com/s", **TREE},
        {"root": {"value": "1"}},
        {"root": {"value": 1}},
        "text_to_integer /root/value",
    ),
    refuses_call("two items become the same", closed(p=array(INTEGER, uniqueItems=True)), {"p": ["1", 1]}),
    refuses_call("by allOf beyond a bound", closed(p={"allOf": [INTEGER, {"maximum": 5}]}), {"p": "6"}),
    refuses_call(
        "prefixItems of another type", closed(p={"type": "array", "prefixItems": [INTEGER]}), {"p": ["a"]}
    ),
    refuses_call("recursion, deep fault", TREE, {"root": {"value": 1, "children": [{"value": "x"}]}}),
    refuses_call(
        "a key that no pattern matches", {**closed(), "patternProperties": {"^n_": INTEGER}}, {"m_a": 1}
    ),
    refuses_call(
        "a forbidden property",
        {**closed("a", a=INTEGER), "properties": {"a": INTEGER, "b": False}},
        {"a": "1", "b": 2},
    ),
    keeps_call("no type below", closed(p={"properties": {"a": {}}}), {"p": {"a": "1"}}),
    keeps_call("free-form object", closed(p=OBJECT), {"p": {"a": "1", "maxResults": None}}),
    keeps_call("free-form list", closed(p={"type": "array"}), {"p": ["1", None, '["a"]']}),
)
def test_rules_apply_at_every_place(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """References, recursion, allOf, prefixItems, patternProperties and maps are followed."""
    check(schema, sent, expected, repairs)
