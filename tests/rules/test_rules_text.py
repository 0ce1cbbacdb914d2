"""Test containers sent as text: JSON, JSON5 and Python literals."""

from __future__ import annotations

from typing import Any

import pytest
from decisions import decide
from tables import (
    ARRAY,
    INTEGER,
    NUMBER,
    OBJECT,
    STRING,
    array,
    check,
    closed,
    each_row,
    keeps,
    nullable,
    refuses,
    refuses_call,
    repairs_call_to,
    repairs_to,
    table,
    union,
)

STRINGS = array(STRING)
POINT = closed("x", "y", x=INTEGER, y=INTEGER)


@table(
    repairs_to("strings", STRINGS, '["a", "b"]', ["a", "b"], "json_text_to_array"),
    repairs_to("empty", STRINGS, "[]", [], "json_text_to_array"),
    repairs_to("space around", STRINGS, '\n ["a"] \t', ["a"], "json_text_to_array"),
    repairs_to("byte order mark", STRINGS, '\ufeff["a"]', ["a"], "json_text_to_array"),
    repairs_to("fenced", STRINGS, '```json\n["a"]\n```', ["a"], "json_text_to_array"),
    repairs_to("fenced without language", STRINGS, '```\n["a"]\n```', ["a"], "json_text_to_array"),
    repairs_to("doubly encoded", STRINGS, '"[\\"a\\"]"', ["a"], "json_text_to_array"),
    repairs_to("raw newline in a string", STRINGS, '["a\nb"]', ["a\nb"], "json_text_to_array"),
    repairs_to("raw tab in a string", STRINGS, '["a\tb"]', ["a\tb"], "json_text_to_array"),
    repairs_to("escapes", STRINGS, '["\\u00e9\\n\\\\"]', ["é\n\\"], "json_text_to_array"),
    repairs_to("any items", ARRAY, '[1, null, {"a": true}]', [1, None, {"a": True}], "json_text_to_array"),
    repairs_to("nullable", nullable(STRINGS), '["a"]', ["a"], "json_text_to_array"),
    repairs_to(
        "numbers as text inside", array(INTEGER), '["1"]', [1], "json_text_to_array", "text_to_integer /p/0"
    ),
    repairs_to(
        "spelling kept for strings",
        STRINGS,
        "[3.10, 42]",
        ["3.10", "42"],
        "json_text_to_array",
        "number_to_text /p/0",
        "number_to_text /p/1",
    ),
    repairs_to("decimals", array(NUMBER), "[1.50, -2e3, 0.1]", [1.5, -2000.0, 0.1], "json_text_to_array"),
    repairs_to("decimals of any items", ARRAY, '[1.50, {"a": 0.1}]', [1.5, {"a": 0.1}], "json_text_to_array"),
    repairs_to("decimals in JSON5", array(NUMBER), "[1.50, 0.5,]", [1.5, 0.5], "json5_text_to_array"),
    repairs_to("text of an item", array(STRINGS), ['["a"]'], [["a"]], "json_text_to_array /p/0"),
    refuses("cut off", STRINGS, '["a", "b"'),
    refuses("cut off in a string", STRINGS, '["a", "b'),
    refuses("goes on", STRINGS, '["a"] and more'),
    refuses("two values", STRINGS, '["a"]["b"]'),
    refuses("an object", STRINGS, '{"a": 1}'),
    refuses("a quoted string", STRINGS, '"a"'),
    refuses("NaN", array(NUMBER), "[NaN]"),
    refuses("Infinity", array(NUMBER), "[-Infinity]"),
    refuses("overflow", array(NUMBER), "[1e999]"),
    refuses("a digit would be lost", array(NUMBER), "[0.12345678901234567890123]"),
    refuses("an integer that a double rounds", array(NUMBER), "[9007199254740993]"),
    refuses("a duplicate key inside", array(OBJECT), '[{"a": 1, "a": 2}]'),
    refuses("null", STRINGS, "null"),
    refuses("mixed", STRINGS, '["a", 1]'),
    refuses("an item of the wrong kind", array(INTEGER), '["a"]'),
    refuses("prose around", array(INTEGER), "Here: [1]"),
    refuses("unclosed fence", STRINGS, '```json\n["a"]'),
    refuses("beyond the depth", ARRAY, "[" * 70 + "]" * 70),
    keeps("a string stays", STRING, '["a"]'),
    keeps("a string in a union stays", union(STRING, STRINGS), '["a"]'),
    keeps("no type", {}, '["a"]'),
)
def test_json_text_becomes_an_array(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """Text of one whole JSON array becomes the array if an array is expected."""
    check(schema, sent, expected, repairs)


@table(
    repairs_to("free-form", OBJECT, '{"a": 1}', {"a": 1}, "json_text_to_object"),
    repairs_to("empty", OBJECT, "{}", {}, "json_text_to_object"),
    repairs_to("properties", POINT, '{"x": 1, "y": 2}', {"x": 1, "y": 2}, "json_text_to_object"),
    repairs_to(
        "values as text",
        POINT,
        '{"x": "1", "y": 2}',
        {"x": 1, "y": 2},
        "json_text_to_object",
        "text_to_integer /p/x",
    ),
    repairs_to(
        "names by case",
        closed("max_x", max_x=INTEGER),
        '{"maxX": 1}',
        {"max_x": 1},
        "json_text_to_object",
        "rename_case /p/maxX",
    ),
    repairs_to("doubly encoded", OBJECT, '"{\\"a\\": 1}"', {"a": 1}, "json_text_to_object"),
    repairs_to("fenced", OBJECT, '```json\n{"a": 1}\n```', {"a": 1}, "json_text_to_object"),
    repairs_to("beside an array", union(OBJECT, STRINGS), '{"a": 1}', {"a": 1}, "json_text_to_object"),
    repairs_to(
        "an object in a list",
        array(POINT),
        ['{"x": 1, "y": 2}'],
        [{"x": 1, "y": 2}],
        "json_text_to_object /p/0",
    ),
    refuses("a duplicate key", OBJECT, '{"a": 1, "a": 2}'),
    refuses("a duplicate key of one value", OBJECT, '{"a": 1, "a": 1}'),
    refuses("cut off", OBJECT, '{"a": 1'),
    refuses("cut off after a colon", OBJECT, '{"a":'),
    refuses("an array", OBJECT, "[1]"),
    refuses("NaN", OBJECT, '{"a": NaN}'),
    refuses("goes on", OBJECT, '{"a": 1}}'),
    refuses("a missing property", POINT, '{"x": 1}'),
    refuses("an unknown property", POINT, '{"x": 1, "y": 2, "colour": 3}'),
    refuses("a text", OBJECT, "a"),
    keeps("a string stays", STRING, '{"a": 1}'),
)
def test_json_text_becomes_an_object(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """Text of one whole JSON object becomes the object if an object is expected."""
    check(schema, sent, expected, repairs)


@table(
    repairs_to("comma at the end", array(INTEGER), "[1, 2,]", [1, 2], "json5_text_to_array"),
    repairs_to("comment", STRINGS, '["a" /* one */]', ["a"], "json5_text_to_array"),
    repairs_to("line comment", STRINGS, '["a" // one\n]', ["a"], "json5_text_to_array"),
    repairs_to("single quotes", STRINGS, "['a']", ["a"], "json5_text_to_array"),
    repairs_to("bare keys", OBJECT, "{a: 1, b_c: true}", {"a": 1, "b_c": True}, "json5_text_to_object"),
    repairs_to("null", OBJECT, "{'a': null}", {"a": None}, "json5_text_to_object"),
    repairs_to("nested", OBJECT, "{a: [{b: 'x',},],}", {"a": [{"b": "x"}]}, "json5_text_to_object"),
    repairs_to("a double quote inside", STRINGS, "['say \"a\"']", ['say "a"'], "json5_text_to_array"),
    repairs_to("an escaped quote", STRINGS, r"['it\'s']", ["it's"], "json5_text_to_array"),
    repairs_to("fenced", STRINGS, "```json5\n['a',]\n```", ["a"], "json5_text_to_array"),
    repairs_to("Python words", ARRAY, "[True, None]", [True, None], "python_text_to_array"),
    repairs_to("Python dict", OBJECT, "{'a': True}", {"a": True}, "python_text_to_object"),
    repairs_to(
        "Python dict of None",
        OBJECT,
        "{'a': None, 'b': [False]}",
        {"a": None, "b": [False]},
        "python_text_to_object",
    ),
    repairs_to("Python tuple", array(INTEGER), "(1, 2)", [1, 2], "python_text_to_array"),
    repairs_to("Python tuple of one", array(INTEGER), "(1,)", [1], "python_text_to_array"),
    repairs_to(
        "Python tuples in a list",
        array(array(INTEGER)),
        "[(1, 2), (3, 4)]",
        [[1, 2], [3, 4]],
        "python_text_to_array",
    ),
    refuses("a Windows path", STRINGS, r"['C:\dir']"),
    refuses("a regex", STRINGS, r"['\d+']"),
    refuses("an octal escape", STRINGS, r"['\101']"),
    refuses("a hex number", array(INTEGER), "[0x10,]"),
    refuses("a plus sign", array(INTEGER), "[+1,]"),
    refuses("a bare point", array(NUMBER), "[.5,]"),
    refuses("Infinity", array(NUMBER), "[Infinity,]"),
    refuses("NaN", array(NUMBER), "['a', NaN]"),
    refuses("underscores", array(INTEGER), "[1_000,]"),
    refuses("a set", ARRAY, "{'a', 'b'}"),
    refuses("an ellipsis", ARRAY, "['a', ...]"),
    refuses("a byte string", ARRAY, "[b'a']"),
    refuses("a raw string", ARRAY, "[r'a']"),
    refuses("a format string", ARRAY, "[f'a']"),
    refuses("adjacent literals", STRINGS, "['a' 'b']"),
    refuses("number keys", OBJECT, "{1: 'a'}"),
    refuses("a tuple key", OBJECT, "{(1, 2): 'a'}"),
    refuses("a call", ARRAY, "[str(1)]"),
    refuses("a sum", ARRAY, "[1 + 2]"),
    refuses("a complex number", ARRAY, "[1j]"),
    refuses("a duplicate key", OBJECT, "{'a': 1, 'a': 2}"),
    refuses("a duplicate key by two spellings", OBJECT, "{a: 1, 'a': 2}"),
    refuses("cut off", STRINGS, "['a', 'b'"),
    refuses("two commas", STRINGS, "['a',, 'b']"),
    refuses("words of both", ARRAY, "[true, None]"),
    refuses("a bare word", STRINGS, "[a, b]"),
    refuses("parentheses around one number", array(INTEGER), "(1)"),
    refuses("a smart quote", STRINGS, "[“a”]"),
    refuses("an apostrophe", STRINGS, "['it's']"),
    refuses("a triple quote", STRINGS, "['''a''']"),
)
def test_json5_and_python_text_become_containers(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """JSON5 and Python are parsed by grammar, and only if the value exists in JSON."""
    check(schema, sent, expected, repairs)


@table(
    repairs_call_to("JSON", closed("a", a=INTEGER), '{"a": 1}', {"a": 1}, "json_text_to_object "),
    repairs_call_to(
        "with a fault",
        closed("a", a=INTEGER),
        '{"a": "1"}',
        {"a": 1},
        "json_text_to_object ",
        "text_to_integer /a",
    ),
    repairs_call_to(
        "Python", closed("a", a=OBJECT), "{'a': {'b': None}}", {"a": {"b": None}}, "python_text_to_object "
    ),
    repairs_call_to(
        "fenced", closed("a", a=INTEGER), '```json\n{"a": 1}\n```', {"a": 1}, "json_text_to_object "
    ),
    refuses_call("an array", closed("a", a=INTEGER), "[1]"),
    refuses_call("cut off", closed("a", a=INTEGER), '{"a": 1'),
    refuses_call("prose", closed("a", a=INTEGER), "a is 1"),
    refuses_call("the empty text", closed("a", a=INTEGER), ""),
    refuses_call("a duplicate key", closed("a", a=INTEGER), '{"a": 1, "a": 2}'),
    refuses_call("still wrong inside", closed("a", a=INTEGER), '{"a": "x"}'),
)
def test_arguments_as_text_are_parsed(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """Arguments sent as text are parsed like an object parameter."""
    check(schema, sent, expected, repairs)


@pytest.mark.parametrize("rule", ["json_text_to_array", "json5_text_to_array", "python_text_to_array"])
def test_each_grammar_can_be_disabled(rule: str) -> None:
    """Text in a disabled grammar is refused, even if another grammar could parse it."""
    texts = {"json_text_to_array": '["a"]', "json5_text_to_array": "['a']", "python_text_to_array": "('a',)"}
    schema = closed("p", p=STRINGS)
    check(schema, {"p": texts[rule]}, {"p": ["a"]}, [(rule, "/p")])
    disabled = {"json5_text_to_array", "python_text_to_array"} if rule == "json5_text_to_array" else {rule}
    check(schema, {"p": texts[rule]}, None, [], disable=disabled)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "schema", "text", "value"),
    [("array", STRINGS, r"['a\/b']", ["a/b"]), ("object", OBJECT, r"{'a': '\/'}", {"a": "/"})],
)
def test_disabled_grammar_does_not_make_text_ambiguous(kind: str, schema: Any, text: str, value: Any) -> None:
    """Text that two grammars read differently is parsed if one of them is disabled."""
    (other,) = {"array", "object"} - {kind}
    sent = {"p": text}
    check(closed(p=schema), sent, None, [], disable={f"python_text_to_{other}"})
    check(
        closed(p=schema),
        sent,
        {"p": value},
        [(f"json5_text_to_{kind}", "/p")],
        disable={f"python_text_to_{kind}"},
    )


@each_row(
    ("schema", "text"),
    [
        *((STRINGS, '{"a": 1}'), (STRINGS, "{'a': 1}"), (OBJECT, "[1]"), (OBJECT, "[1,]")),
        *((INTEGER, "[1]"), (INTEGER, "{'a': 1}")),
    ],
)
def test_text_of_another_container_stays_text(schema: Any, text: str) -> None:
    """The text is refused as sent, because the parsed value is not valid either."""
    outcome = decide(closed(p=schema), {"p": text})
    assert (outcome.status, outcome.arguments, outcome.repairs) == ("refused", {"p": text}, ())
