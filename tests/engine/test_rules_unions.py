"""Unions, discriminators, references and the other ways a schema says what stands where."""

from __future__ import annotations

from typing import Any

import pytest
from tables import (
    BOOLEAN,
    INTEGER,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    Json,
    array,
    check,
    check_destructive,
    closed,
    enum,
    leaves,
    leaves_call,
    mends,
    mends_call,
    nullable,
    opened,
    refuses,
    refuses_call,
    table,
    tied_values,
    union,
)

STRINGS = array(STRING)
CIRCLE = closed("kind", "radius", kind={"const": "circle"}, radius=NUMBER)
SQUARE = closed("kind", "side", kind={"const": "square"}, side=NUMBER)
SHAPE = union(CIRCLE, SQUARE)


@table(
    mends("JSON text across types", union(INTEGER, STRINGS), '["a"]', ["a"], "json_text_to_array"),
    mends("JSON object across types", union(INTEGER, OBJECT), '{"a": 1}', {"a": 1}, "json_text_to_object"),
    mends("JSON number across types", union(BOOLEAN, INTEGER), "5", 5, "text_to_integer"),
    mends("JSON boolean across types", union(BOOLEAN, STRINGS), "true", True, "text_to_boolean"),
    mends("integer or number", union(INTEGER, NUMBER), "5", 5, "text_to_integer"),
    mends("null is no other type", union(array(INTEGER), NULL), 5, [5], "scalar_to_array"),
    mends("one branch of two objects", union(closed("a", a=INTEGER), closed("b", b=INTEGER)), {"b": "1"}, {"b": 1}, "text_to_integer /p/b"),
    mends("oneOf", {"oneOf": [INTEGER, STRINGS]}, "5", 5, "text_to_integer"),
    mends("type list", {"type": ["integer", "array"]}, "5", 5, "text_to_integer"),
    refuses("JSON5 across types", union(INTEGER, STRINGS), "['a']"),
    refuses("wrapping across types", union(INTEGER, STRINGS), "a"),
    refuses("unwrapping across types", union(INTEGER, OBJECT), ["a"]),
    refuses("folding across types", union(INTEGER, enum("fast", "slow")), "FAST"),
    refuses("number to text across types", union(STRING, STRINGS), 5),
    refuses("yes across types", union(BOOLEAN, INTEGER), "yes"),
    refuses("two branches of the same type", union(closed("x", x=INTEGER), closed("x", x=BOOLEAN)), {"x": "1"}),
    refuses("two branches, texts and booleans", union(closed("x", x=BOOLEAN), closed("x", x=STRING)), {"x": 1}),
    refuses("both branches of oneOf take it", {"oneOf": [closed(x=INTEGER), closed(x=NUMBER)]}, {"x": 1}),
    leaves("the other branch takes it", union(INTEGER, STRING), "5"),
    leaves("anything", union(INTEGER, {}), "5"),
)
def test_unions(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """Each branch is tried, and across JSON types only JSON text and JSON literals win."""
    check(schema, sent, expected, repairs)


@table(
    mends("value", SHAPE, {"kind": "circle", "radius": "2"}, {"kind": "circle", "radius": 2}, "text_to_number /p/radius"),
    mends("tag in another case", SHAPE, {"kind": "Circle", "radius": 2}, {"kind": "circle", "radius": 2}, "fold_enum /p/kind"),
    mends("tag and value", SHAPE, {"kind": "SQUARE", "side": "2"}, {"kind": "square", "side": 2}, "fold_enum /p/kind", "text_to_number /p/side"),
    mends("name", SHAPE, {"kind": "circle", "Radius": 2}, {"kind": "circle", "radius": 2}, "rename_case /p/Radius"),
    mends("in a list", array(SHAPE), [{"kind": "circle", "radius": "2"}], [{"kind": "circle", "radius": 2}], "text_to_number /p/0/radius"),
    mends("as text", SHAPE, '{"kind": "circle", "radius": 2}', {"kind": "circle", "radius": 2}, "json_text_to_object"),
    mends("beside null", union(CIRCLE, SQUARE, NULL), {"kind": "circle", "radius": "2"}, {"kind": "circle", "radius": 2}, "text_to_number /p/radius"),
    refuses("unknown tag", SHAPE, {"kind": "triangle", "side": 2}),
    refuses("a slip in the tag", SHAPE, {"kind": "cirlce", "radius": 2}),
    refuses("fields of the other branch", SHAPE, {"kind": "circle", "side": 2}),
    refuses("no tag", SHAPE, {"radius": 2}),
    refuses("a lone constant", closed("kind", kind={"const": "DELETE"}), {"kind": "delete"}),
    refuses("the tag is null", SHAPE, {"kind": None, "radius": 2}),
)
def test_discriminators(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """The property whose constants tell the branches apart decides first."""
    check(schema, sent, expected, repairs)


TREE: Json = {
    **closed("root", root={"$ref": "#/$defs/Node"}),
    "$defs": {"Node": closed("value", value=INTEGER, children=array({"$ref": "#/$defs/Node"}))},
}


@table(
    mends_call("reference", TREE, {"root": {"value": "1"}}, {"root": {"value": 1}}, "text_to_integer /root/value"),
    mends_call("recursion", TREE, {"root": {"value": 1, "children": [{"value": "2"}]}}, {"root": {"value": 1, "children": [{"value": 2}]}}, "text_to_integer /root/children/0/value"),
    mends_call("recursion in text", TREE, {"root": {"value": 1, "children": '[{"value": 2}]'}}, {"root": {"value": 1, "children": [{"value": 2}]}}, "json_text_to_array /root/children"),
    mends_call("the root itself", opened(n=INTEGER, next={"$ref": "#"}), {"next": {"next": {"n": "1"}}}, {"next": {"next": {"n": 1}}}, "text_to_integer /next/next/n"),
    mends_call("definitions", {**closed(p={"$ref": "#/definitions/N"}), "definitions": {"N": INTEGER}}, {"p": "1"}, {"p": 1}, "text_to_integer /p"),
    mends_call("escaped reference", {**closed(p={"$ref": "#/$defs/a~1b"}), "$defs": {"a/b": INTEGER}}, {"p": "1"}, {"p": 1}, "text_to_integer /p"),
    mends_call("allOf of one", closed(p={"allOf": [INTEGER], "description": "n"}), {"p": "1"}, {"p": 1}, "text_to_integer /p"),
    mends_call("allOf of two", closed(p={"allOf": [opened("a", a=INTEGER), opened("b", b=BOOLEAN)]}), {"p": {"a": "1", "b": "true"}}, {"p": {"a": 1, "b": True}}, "text_to_integer /p/a", "text_to_boolean /p/b"),
    mends_call("allOf of the same property", closed(p={"allOf": [opened(a=INTEGER), opened(a={"minimum": 1})]}), {"p": {"a": "1"}}, {"p": {"a": 1}}, "text_to_integer /p/a"),
    mends_call("prefixItems", closed(p={"type": "array", "prefixItems": [INTEGER, BOOLEAN]}), {"p": ["1", "true"]}, {"p": [1, True]}, "text_to_integer /p/0", "text_to_boolean /p/1"),
    mends_call("items after prefixItems", closed(p={"type": "array", "prefixItems": [STRING], "items": INTEGER}), {"p": ["1", "2"]}, {"p": ["1", 2]}, "text_to_integer /p/1"),
    mends_call("items of draft 7", {"$schema": "http://json-schema.org/draft-07/schema#", **closed(p={"type": "array", "items": [INTEGER, STRING]})}, {"p": ["1", "2"]}, {"p": [1, "2"]}, "text_to_integer /p/0"),
    mends_call("patternProperties", closed(p={"type": "object", "patternProperties": {"^n_": INTEGER}}), {"p": {"n_a": "1", "b": "2"}}, {"p": {"n_a": 1, "b": "2"}}, "text_to_integer /p/n_a"),
    mends_call("additionalProperties", closed(p={"type": "object", "additionalProperties": INTEGER}), {"p": {"a": "1"}}, {"p": {"a": 1}}, "text_to_integer /p/a"),
    mends_call("a property named like a keyword", {**closed(default={"$ref": "#/$defs/N"}, enum=INTEGER), "$defs": {"N": INTEGER}}, {"default": "1", "enum": "2"}, {"default": 1, "enum": 2}, "text_to_integer /default", "text_to_integer /enum"),
    mends_call("a nested property named like a keyword", {**closed(o=closed(const={"$ref": "#/$defs/N"}, n=INTEGER)), "$defs": {"N": INTEGER}}, {"o": {"const": "1", "n": "2"}}, {"o": {"const": 1, "n": 2}}, "text_to_integer /o/const", "text_to_integer /o/n"),
    mends_call("an object by its own id", {"$id": "https://example.com/s", **TREE}, {"root": {"value": "1"}}, {"root": {"value": 1}}, "text_to_integer /root/value"),
    refuses_call("two items become the same", closed(p=array(INTEGER, uniqueItems=True)), {"p": ["1", 1]}),
    refuses_call("by allOf beyond a bound", closed(p={"allOf": [INTEGER, {"maximum": 5}]}), {"p": "6"}),
    refuses_call("prefixItems of another type", closed(p={"type": "array", "prefixItems": [INTEGER]}), {"p": ["a"]}),
    refuses_call("recursion, deep fault", TREE, {"root": {"value": 1, "children": [{"value": "x"}]}}),
    refuses_call("a key no pattern takes", {**closed(), "patternProperties": {"^n_": INTEGER}}, {"m_a": 1}),
    refuses_call("a property that may never come", {**closed("a", a=INTEGER), "properties": {"a": INTEGER, "b": False}}, {"a": "1", "b": 2}),
    leaves_call("no type below", closed(p={"properties": {"a": {}}}), {"p": {"a": "1"}}),
    leaves_call("free-form object", closed(p=OBJECT), {"p": {"a": "1", "maxResults": None}}),
    leaves_call("free-form list", closed(p={"type": "array"}), {"p": ["1", None, '["a"]']}),
)
def test_places(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """References, recursion, allOf, prefixItems, patternProperties and maps are followed."""
    check(schema, sent, expected, repairs)


@pytest.mark.parametrize(
    ("schema", "sent", "readings"),
    [
        pytest.param(union(closed("x", x=INTEGER), closed("x", x=BOOLEAN)), {"x": "1"}, [{"x": 1}, {"x": True}], id="objects"),
        pytest.param(nullable(enum("none", "all")), "None", ["none", None], id="null or none"),
        pytest.param(union(array(INTEGER), array(BOOLEAN)), ["1"], [[1], [True]], id="lists"),
        pytest.param(union(closed("x", x=BOOLEAN), closed("x", x=STRING)), {"x": 1}, [{"x": True}, {"x": "1"}], id="tier 4"),
    ],
)
def test_a_tie_names_both_readings(schema: Any, sent: Any, readings: list[Any]) -> None:
    """Law 3: two readings of the same cost are refused, and both are named."""
    named = tied_values(closed("p", "n", p=schema, n=INTEGER), {"p": sent, "n": 1})["p"]
    assert len(named) == 2
    assert all(reading in named for reading in readings)


@table(
    mends("tier 1", STRINGS, '["a"]', ["a"], "json_text_to_array"),
    mends("tier 1, number", INTEGER, "5", 5, "text_to_integer"),
    mends("tier 2, Python", OBJECT, "{'a': None}", {"a": None}, "python_text_to_object"),
    mends_call("name by case", closed("user_id", user_id=INTEGER), {"userId": 5}, {"user_id": 5}, "rename_case /userId"),
    mends_call("toolCallId", closed("id", id=INTEGER), {"id": 5, "toolCallId": "c"}, {"id": 5}, "drop_injected /toolCallId"),
    mends_call("what comes with it", closed("id", id=INTEGER), {"id": 5, "toolCallId": "c", "action": "x"}, {"id": 5}, "drop_injected /toolCallId", "drop_injected /action"),
    mends_call("null toward a null default", closed("id", id=INTEGER, at={**INTEGER, "default": None}), {"id": 5, "at": None}, {"id": 5}, "null_to_absent /at"),
    mends_call("empty toward a null default", closed("id", id=INTEGER, at={**INTEGER, "default": None}), {"id": 5, "at": ""}, {"id": 5}, "empty_text_to_absent /at"),
    mends_call("null text toward a null default", closed("id", id=INTEGER, at={**INTEGER, "default": None}), {"id": 5, "at": "null"}, {"id": 5}, "null_text_to_absent /at"),
    refuses_call("null toward no default", closed("id", id=INTEGER, at=INTEGER), {"id": 5, "at": None}),
    refuses_call("null toward another default", closed("id", id=INTEGER, at={**INTEGER, "default": 9}), {"id": 5, "at": None}),
    refuses_call("empty toward another default", closed("id", id=INTEGER, at={**INTEGER, "default": 9}), {"id": 5, "at": ""}),
    refuses_call("null text toward no default", closed("id", id=INTEGER, at=INTEGER), {"id": 5, "at": "null"}),
    refuses_call("private key", closed("id", id=INTEGER), {"id": 5, "_meta": {}}),
    refuses_call("wait_for_previous", closed("id", id=INTEGER), {"id": 5, "wait_for_previous": True}),
    refuses("one for a list", STRINGS, "a"),
    refuses("list for one", STRING, ["a"]),
    refuses("1 for true", BOOLEAN, 1),
    refuses("number for text", STRING, 5),
    refuses("numbers in a text", array(INTEGER), "1, 2"),
    refuses("wrapper of its own", INTEGER, {"p": 5}),
    refuses_call("wrapped arguments", closed("id", id=INTEGER), {"args": {"id": 5}}),
    refuses_call("flat fields", closed("data", data=closed("id", id=INTEGER)), {"id": 5}),
    refuses_call("name by slip", closed("content", content=STRING), {"contnet": "a"}),
)
def test_destructive_tools(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """A tool that destroys gets rules of tiers 1 and 2 alone, and a default only where it is null."""
    check_destructive(schema, sent, expected, repairs)
