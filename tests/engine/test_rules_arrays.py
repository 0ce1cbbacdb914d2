"""Between one value and a list of it."""

from __future__ import annotations

from typing import Any

from tables import (
    ARRAY,
    BOOLEAN,
    INTEGER,
    NUMBER,
    OBJECT,
    STRING,
    array,
    check,
    closed,
    enum,
    leaves,
    mends,
    nullable,
    opened,
    refuses,
    table,
    union,
)

STRINGS = array(STRING)
INTEGERS = array(INTEGER)
NUMBERS = array(NUMBER)
ROW = closed("id", id=INTEGER, note=STRING)


@table(
    mends("text", STRINGS, "a", ["a"], "scalar_to_array"),
    mends("text with spaces", STRINGS, "a b c", ["a b c"], "scalar_to_array"),
    mends("integer", INTEGERS, 5, [5], "scalar_to_array"),
    mends("number", NUMBERS, 5.5, [5.5], "scalar_to_array"),
    mends("boolean", array(BOOLEAN), True, [True], "scalar_to_array"),
    mends("enum", array(enum("a", "b")), "a", ["a"], "scalar_to_array"),
    mends("nullable list", nullable(STRINGS), "a", ["a"], "scalar_to_array"),
    mends("number as text", INTEGERS, "5", [5], "scalar_to_array", "text_to_integer /p/0"),
    refuses("integer for strings", STRINGS, 123),
    refuses("float for strings", STRINGS, 12.34),
    refuses("boolean for strings", STRINGS, True),
    refuses("object for strings", STRINGS, {"key": "value"}),
    refuses("null", STRINGS, None),
    refuses("empty", STRINGS, ""),
    refuses("blank", STRINGS, "  "),
    refuses("none", STRINGS, "none"),
    refuses("null text", STRINGS, "null"),
    refuses("undefined", STRINGS, "Undefined"),
    refuses("n/a", STRINGS, "N/A"),
    refuses("looks like a list", STRINGS, "[a"),
    refuses("looks like an object", STRINGS, '{"a"'),
    refuses("looks like a JSON text", STRINGS, '"a"'),
    refuses("looks like a fence", STRINGS, "```a```"),
    *(refuses(f"delimiter {ord(sign):04x}", STRINGS, f"a{sign}b") for sign in ",;|\n\t\uff0c\u3001\uff1b"),
    refuses("a scalar for a list of lists", array(INTEGERS), 5),
    refuses("an item of a list of lists", array(INTEGERS), [1, 3]),
    refuses("one item of a list of lists", array(INTEGERS), [[1], 3]),
    refuses("too few", array(STRING, minItems=2), "a"),
    refuses("the item schema does not take it", array({**STRING, "pattern": "^[0-9]$"}), "a"),
    refuses("a list beside a number", union(INTEGER, STRINGS), "a"),
    leaves("a list", STRINGS, ["a"]),
    leaves("an empty list", STRINGS, []),
    leaves("a list or its item", union(STRING, STRINGS), "a,b"),
    refuses("holds a list", STRINGS, 'Tags: ["a"]'),
)
def test_scalar_to_array(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """One scalar becomes a list of it, where nothing speaks for another reading."""
    check(schema, sent, expected, repairs)


@table(
    mends("row", array(ROW), {"id": 1}, [{"id": 1}], "object_to_array"),
    mends("all keys", array(ROW), {"id": 1, "note": "a"}, [{"id": 1, "note": "a"}], "object_to_array"),
    mends("open row", array(opened("id", id=INTEGER)), {"id": 1}, [{"id": 1}], "object_to_array"),
    mends("nullable", nullable(array(ROW)), {"id": 1}, [{"id": 1}], "object_to_array"),
    mends("text inside", array(ROW), {"id": "1"}, [{"id": 1}], "object_to_array", "text_to_integer /p/0/id"),
    mends(
        "rows of a union",
        array(union(ROW, closed("name", name=STRING))),
        {"name": "a"},
        [{"name": "a"}],
        "object_to_array",
    ),
    refuses("a free-form object", array(OBJECT), {"id": 1}),
    refuses("an empty object", array(ROW), {}),
    refuses("an undeclared key", array(opened("id", id=INTEGER)), {"id": 1, "size": 2}),
    refuses("a missing key", array(ROW), {"note": "a"}),
    refuses("a name in another case", array(ROW), {"ID": 1}),
    refuses("a value that is too wrong", array(ROW), {"id": 1, "note": 5}),
    refuses("an item of a list of lists", array(array(ROW)), [{"id": 1}]),
    refuses("no items declared", array({}), {"id": 1}),
    refuses("rows beside a text", {"type": ["array", "string"], "items": ROW}, {"id": 1}),
    refuses("an empty object for rows that require nothing", array(closed(id=INTEGER)), {}),
)
def test_object_to_array(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """One object becomes a list of it, where the items declare every key that came."""
    check(schema, sent, expected, repairs)


@table(
    mends("integer", INTEGER, [5], 5, "array_to_scalar"),
    mends("text", STRING, ["a"], "a", "array_to_scalar"),
    mends("number", NUMBER, [2.5], 2.5, "array_to_scalar"),
    mends("boolean", BOOLEAN, [False], False, "array_to_scalar"),
    mends("enum", {**STRING, "enum": ["a", "b"]}, ["a"], "a", "array_to_scalar"),
    mends("nullable", nullable(INTEGER), [5], 5, "array_to_scalar"),
    mends("number as text", INTEGER, ["5"], 5, "array_to_scalar", "text_to_integer"),
    refuses("two", INTEGER, [5, 6]),
    refuses("none", INTEGER, []),
    refuses("nested", INTEGER, [[5]]),
    refuses("another type", INTEGER, ["a"]),
    refuses("null", INTEGER, [None]),
    refuses("an object", closed("a", a=INTEGER), [{"a": 1}]),
    leaves("no type", {}, [5]),
    leaves("a list beside it", union(INTEGER, INTEGERS), [5]),
    mends("any scalar", {"type": ["string", "number", "integer", "boolean"]}, [5], 5, "array_to_scalar"),
    refuses("JSON text is wanted", {**STRING, "contentMediaType": "application/json"}, ["5"]),
)
def test_array_to_scalar(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """A list of one becomes its item where one scalar is wanted."""
    check(schema, sent, expected, repairs)


@table(
    mends("item of a list", INTEGERS, {"item": [1, 2]}, [1, 2], "item_wrapper_to_array"),
    mends("items of a list", STRINGS, {"items": ["a"]}, ["a"], "item_wrapper_to_array"),
    mends("each item", INTEGERS, [{"item": 1}, {"item": 2}], [1, 2], "item_wrapper_to_array"),
    mends("empty", STRINGS, {"item": []}, [], "item_wrapper_to_array"),
    mends("nullable", nullable(STRINGS), {"item": ["a"]}, ["a"], "item_wrapper_to_array"),
    mends("rows", array(ROW), {"item": [{"id": 1}]}, [{"id": 1}], "item_wrapper_to_array"),
    mends("text inside", INTEGERS, {"item": ["1"]}, [1], "item_wrapper_to_array", "text_to_integer /p/0"),
    refuses("a scalar", INTEGERS, {"item": 1}),
    refuses("another key", INTEGERS, {"value": [1]}),
    refuses("two keys", INTEGERS, {"item": [1], "count": 1}),
    refuses("only some", INTEGERS, [{"item": 1}, 2]),
    refuses("in a text", INTEGERS, '[{"item": 1}]'),
    refuses("another type", INTEGERS, {"item": ["a"]}),
    refuses("an object is wanted", closed("id", id=INTEGER), {"item": [1]}),
    leaves("the schema takes it", array(opened("item", item=INTEGER)), [{"item": 1}]),
    leaves("the schema takes the object", union(INTEGERS, OBJECT), {"item": [1]}),
    refuses("one is wanted", INTEGER, {"item": [5]}),
    refuses("each item, in a text", INTEGERS, '[{"item": 1}]'),
)
def test_item_wrapper_to_array(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """A list comes out of the wrapper that XML-minded callers put round it or round its items."""
    check(schema, sent, expected, repairs)


@table(
    mends("integers", INTEGERS, "1,2,3", [1, 2, 3], "delimited_text_to_array"),
    mends("spaced", INTEGERS, "1, 2", [1, 2], "delimited_text_to_array"),
    mends("semicolons", NUMBERS, "1.5; 2.5", [1.5, 2.5], "delimited_text_to_array"),
    mends("fractions", NUMBERS, "1.5,2.5", [1.5, 2.5], "delimited_text_to_array"),
    mends("negative", INTEGERS, "-1, -2", [-1, -2], "delimited_text_to_array"),
    mends("members", array(enum("a", "b", "c")), "a,c", ["a", "c"], "delimited_text_to_array"),
    mends(
        "members, spaced",
        array({**STRING, "enum": ["a", "b"]}),
        "a, b",
        ["a", "b"],
        "delimited_text_to_array",
    ),
    mends("members, bars", array(enum("a", "b")), "a|b", ["a", "b"], "delimited_text_to_array"),
    mends("nullable", nullable(INTEGERS), "1, 2", [1, 2], "delimited_text_to_array"),
    refuses("two unspaced integers", INTEGERS, "1,5"),
    refuses("thousands", INTEGERS, "1,234,567"),
    refuses("hundreds", INTEGERS, "100,200"),
    refuses("thousands with decimals", NUMBERS, "1,234.50"),
    refuses("two numbers with thousands", NUMBERS, "1,234.50,2,345.60"),
    refuses("thousands and a small number", INTEGERS, "1,500,20"),
    refuses("decimal commas", NUMBERS, "1.234,5"),
    refuses("a word between", INTEGERS, "1, two, 3"),
    refuses("an empty part", INTEGERS, "1,,2"),
    refuses("a comma at the end", INTEGERS, "1,2,3,"),
    refuses("a part is no member", array(enum("a", "b")), "a,d"),
    refuses("a member holds a comma", array(enum("a", "b", "a,b")), "a,b,a"),
    refuses("strings", STRINGS, "a,b"),
    refuses("strings, spaced", STRINGS, "a, b"),
    refuses("rows", array(ROW), "1,2,3"),
    refuses("lists", array(INTEGERS), "1,2,3"),
    refuses("any items", ARRAY, "1,2,3"),
    refuses("fractions for integers", INTEGERS, "1.5, 2"),
    leaves("a string", STRING, "1,2,3"),
    mends(
        "integers or numbers",
        array({"type": ["integer", "number"]}),
        "1, 2.5",
        [1, 2.5],
        "delimited_text_to_array",
    ),
    refuses("numbers beside an object", {"type": ["array", "object"], "items": INTEGER}, "1, 2"),
    refuses("members of which some are numbers", array(enum("a", 1)), "a,a"),
    refuses("numbers for strings", STRINGS, "1, 2"),
    refuses("numbers of an enum", array({**INTEGER, "enum": [1, 2]}), "1, 2"),
)
def test_delimited_text_to_array(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """Numbers and enum members that a text lists become a list, where their parting has one reading."""
    check(schema, sent, expected, repairs)
