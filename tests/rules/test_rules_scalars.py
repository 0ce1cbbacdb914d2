"""Test numbers, booleans and strings sent as another JSON type."""

from __future__ import annotations

from typing import Any

from tables import (
    BOOLEAN,
    INTEGER,
    NUMBER,
    OBJECT,
    STRING,
    array,
    check,
    enum,
    keeps,
    nullable,
    refuses,
    repairs_to,
    table,
    union,
)


@table(
    repairs_to("digits", INTEGER, "42", 42, "text_to_integer"),
    repairs_to("space around", INTEGER, " 42\n", 42, "text_to_integer"),
    repairs_to("negative", INTEGER, "-7", -7, "text_to_integer"),
    repairs_to("whole fraction", INTEGER, "5.0", 5, "text_to_integer"),
    repairs_to("whole exponent", INTEGER, "1e3", 1000, "text_to_integer"),
    repairs_to("zero", INTEGER, "0", 0, "text_to_integer"),
    repairs_to("beyond doubles", INTEGER, "9007199254740993", 9007199254740993, "text_to_integer"),
    repairs_to("thirty digits", INTEGER, "1" * 30, int("1" * 30), "text_to_integer"),
    repairs_to("nullable", nullable(INTEGER), "42", 42, "text_to_integer"),
    repairs_to("beside a list", union(INTEGER, array(STRING)), "42", 42, "text_to_integer"),
    refuses("half", INTEGER, "5.5"),
    refuses("underscore", INTEGER, "1_000"),
    refuses("octal", INTEGER, "0644"),
    repairs_to("plus", INTEGER, "+5", 5, "text_to_integer"),
    refuses("full-width digits", INTEGER, "\uff14\uff12"),
    refuses("Arabic digits", INTEGER, "\u0664\u0662"),
    refuses("thousands", INTEGER, "1,234"),
    refuses("NaN", INTEGER, "NaN"),
    refuses("hex", INTEGER, "0x10"),
    refuses("empty", INTEGER, ""),
    refuses("minus zero", INTEGER, "-0"),
    refuses("a word", INTEGER, "five"),
    refuses("a unit", INTEGER, "5px"),
    refuses("two numbers", INTEGER, "1 2"),
    refuses("quoted twice", INTEGER, '"5"'),
    refuses("beyond the maximum", {**INTEGER, "maximum": 10}, "11"),
    refuses("boolean", INTEGER, True),
    refuses("half a number", INTEGER, 5.5),
    refuses("whole fraction beyond 2^53", INTEGER, "9007199254740993.0"),
    keeps("a string stays", STRING, "42"),
    keeps("a string beside a number stays", union(STRING, INTEGER), "42"),
)
def test_text_to_integer_loses_no_digit(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """Text of one JSON integer becomes the integer without losing a digit."""
    check(schema, sent, expected, repairs)


@table(
    repairs_to("fraction", NUMBER, "3.14", 3.14, "text_to_number"),
    repairs_to("integer", NUMBER, "3", 3, "text_to_number"),
    repairs_to("exponent", NUMBER, "1.5e-7", 1.5e-7, "text_to_number"),
    repairs_to("negative", NUMBER, "-0.5", -0.5, "text_to_number"),
    repairs_to("space around", NUMBER, "\t2.5 ", 2.5, "text_to_number"),
    repairs_to("zero at the end", NUMBER, "4.20", 4.2, "text_to_number"),
    repairs_to("nullable", nullable(NUMBER), "3.14", 3.14, "text_to_number"),
    refuses("overflow", NUMBER, "1e999"),
    refuses("underflow", NUMBER, "1e-999"),
    refuses("lost digits", NUMBER, "0.1234567890123456789"),
    refuses("decimal comma", NUMBER, "3,14"),
    refuses("bare point", NUMBER, ".5"),
    refuses("point at the end", NUMBER, "5."),
    refuses("Infinity", NUMBER, "Infinity"),
    refuses("NaN", NUMBER, "nan"),
    refuses("percent", NUMBER, "5%"),
    refuses("money", NUMBER, "$5"),
    refuses("below the minimum", {**NUMBER, "minimum": 0}, "-1"),
    keeps("a string stays", STRING, "3.14"),
)
def test_text_to_number_loses_no_digit(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """Text of one JSON number becomes the number without losing a digit."""
    check(schema, sent, expected, repairs)


@table(
    keeps("whole float", INTEGER, 7.0),
    keeps("whole float for a number", NUMBER, 7.0),
    refuses("half", INTEGER, 7.5),
    refuses("NaN", INTEGER, float("nan")),
    refuses("infinite", INTEGER, float("inf")),
    repairs_to(
        "whole, beside one to repair",
        array(INTEGER),
        [7.0, "5"],
        [7.0, 5],
        "text_to_integer /p/1",
    ),
)
def test_whole_floats_accepted_by_the_schema_stay(
    schema: Any, sent: Any, expected: Any, repairs: Any
) -> None:
    """JSON Schema accepts 7.0 as an integer, and valid values stay unchanged."""
    check(schema, sent, expected, repairs)


@table(
    repairs_to("true", BOOLEAN, "true", True, "text_to_boolean"),
    repairs_to("FALSE", BOOLEAN, "FALSE", False, "text_to_boolean"),
    repairs_to("yes", BOOLEAN, "Yes", True, "text_to_boolean"),
    repairs_to("no", BOOLEAN, "no", False, "text_to_boolean"),
    repairs_to("on", BOOLEAN, "on", True, "text_to_boolean"),
    repairs_to("off", BOOLEAN, " OFF ", False, "text_to_boolean"),
    repairs_to("one", BOOLEAN, "1", True, "text_to_boolean"),
    repairs_to("zero", BOOLEAN, "0", False, "text_to_boolean"),
    repairs_to("nullable", nullable(BOOLEAN), "yes", True, "text_to_boolean"),
    repairs_to("true beside a number", union(BOOLEAN, NUMBER), "true", True, "text_to_boolean"),
    repairs_to("the digit beside a number is a number", union(BOOLEAN, NUMBER), "1", 1, "text_to_number"),
    repairs_to("true and false without a type", {"enum": [True, False]}, "TRUE", True, "text_to_boolean"),
    repairs_to("false and true without a type", {"enum": [False, True]}, "off", False, "text_to_boolean"),
    *(
        refuses(f"an integer for {name}", schema, 0)
        for name, schema in (
            ("a boolean", BOOLEAN),
            ("an enum", enum(True, False)),
            ("null", nullable(BOOLEAN)),
        )
    ),
    refuses("one boolean without a type", {"enum": [True]}, "true"),
    refuses("true as a constant", {"const": True}, "true"),
    refuses("a boolean beside a word", {"enum": [True, "auto"]}, "true"),
    refuses("numbers without a type", {"enum": [1, 0]}, "true"),
    refuses("true and false without a type, a word", {"enum": [True, False]}, "enabled"),
    repairs_to("text in a list", array(BOOLEAN), ["true", False], [True, False], "text_to_boolean /p/0"),
    refuses("yes beside a number", union(BOOLEAN, NUMBER), "yes"),
    refuses("y", BOOLEAN, "y"),
    refuses("t", BOOLEAN, "t"),
    refuses("two", BOOLEAN, 2),
    refuses("minus one", BOOLEAN, -1),
    refuses("1.0", BOOLEAN, "1.0"),
    refuses("the float", BOOLEAN, 1.0),
    refuses("enabled", BOOLEAN, "enabled"),
    refuses("empty", BOOLEAN, ""),
    refuses("a truthy object", BOOLEAN, {"a": 1}),
    refuses("integer beside a list", union(BOOLEAN, array(STRING)), 1),
    keeps("a string stays", STRING, "true"),
    keeps("an integer stays", union(BOOLEAN, INTEGER), 1),
)
def test_words_and_digits_become_booleans(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """Words and 1/0 become booleans. In unions of several types only true and false do."""
    check(schema, sent, expected, repairs)


@table(
    repairs_to("integer", STRING, 42, "42", "number_to_text"),
    repairs_to("negative", STRING, -1, "-1", "number_to_text"),
    repairs_to("2^53", STRING, 2**53, "9007199254740992", "number_to_text"),
    repairs_to("beyond every double", STRING, 2**53 + 1, "9007199254740993", "number_to_text"),
    repairs_to("two decimals", STRING, 3.14, "3.14", "number_to_text"),
    repairs_to("with a pattern", {**STRING, "pattern": "^[0-9]{5}$"}, 12345, "12345", "number_to_text"),
    repairs_to("nullable", nullable(STRING), 42, "42", "number_to_text"),
    repairs_to(
        "numbers throughout", array(STRING), [1, 2], ["1", "2"], "number_to_text /p/0", "number_to_text /p/1"
    ),
    repairs_to(
        "in a map", {**OBJECT, "additionalProperties": STRING}, {"a": 1}, {"a": "1"}, "number_to_text /p/a"
    ),
    refuses("a double beyond 2^53", STRING, 2**53 + 2),
    refuses("an identifier that JavaScript rounded", STRING, 1917043659912705300),
    refuses("ten to the 22nd", STRING, 10**22),
    refuses("one decimal", STRING, 3.1),
    refuses("six decimals that lost two zeros", STRING, 1602167511.0003),
    refuses("whole float", STRING, 5.0),
    refuses("exponent", STRING, 1.25e-7),
    refuses("NaN", STRING, float("nan")),
    refuses("boolean", STRING, True),
    refuses("null", STRING, None),
    refuses("list", STRING, [1, 2]),
    refuses("object", STRING, {"a": 1}),
    refuses("format", {**STRING, "format": "date"}, 20240101),
    refuses("format through a reference", {"allOf": [{**STRING, "format": "date-time"}]}, 20240101),
    repairs_to("member of an enum", {**STRING, "enum": ["1", "2"]}, 1, "1", "number_to_text"),
    refuses("not a member of an enum", {**STRING, "enum": ["1", "2"]}, 3),
    refuses("const", {**STRING, "const": "1"}, 1),
    refuses("mixed list", array(STRING), ["a", 1]),
    refuses("list with a boolean", array(STRING), [1, True]),
    refuses("list with null", array(STRING), [None, 1]),
    refuses("beside a list", union(STRING, array(STRING)), 42),
    refuses("too short", {**STRING, "minLength": 3}, 42),
    keeps("beside a number", union(STRING, NUMBER), 42),
    keeps("no type", {}, 42),
)
def test_number_to_text_requires_a_certain_spelling(
    schema: Any, sent: Any, expected: Any, repairs: Any
) -> None:
    """A number becomes text only if it has just one possible spelling."""
    check(schema, sent, expected, repairs)
