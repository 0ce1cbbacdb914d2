"""Test numbers, booleans and strings sent as another JSON type."""

from __future__ import annotations

from typing import Any

from tables import (
    BOOLEAN,
    INTEGER,
    NUMBER,
    STRING,
    array,
    check,
    keeps,
    nullable,
    refuses,
    repairs_to,
    table,
    union,
)


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
    repairs_to("an integer", BOOLEAN, 1, True, "integer_to_boolean"),
    repairs_to("an integer without a type", {"enum": [True, False]}, 0, False, "integer_to_boolean"),
    repairs_to("an integer, nullable", nullable(BOOLEAN), 0, False, "integer_to_boolean"),
    repairs_to("an integer in a list", array(BOOLEAN), [0, True], [False, True], "integer_to_boolean /p/0"),
    refuses("an integer beside a text", union(BOOLEAN, STRING), 1),
    refuses("an integer for true as a constant", {"const": True}, 1),
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
