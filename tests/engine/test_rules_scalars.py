"""Numbers, booleans, enums and strings that came as another JSON type or spelling."""

from __future__ import annotations

from typing import Any

from tables import (
    BOOLEAN,
    INTEGER,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    array,
    check,
    closed,
    enum,
    leaves,
    mends,
    mends_call,
    nullable,
    refuses,
    refuses_call,
    table,
    union,
)


@table(
    mends("digits", INTEGER, "42", 42, "text_to_integer"),
    mends("space around", INTEGER, " 42\n", 42, "text_to_integer"),
    mends("negative", INTEGER, "-7", -7, "text_to_integer"),
    mends("whole fraction", INTEGER, "5.0", 5, "text_to_integer"),
    mends("whole exponent", INTEGER, "1e3", 1000, "text_to_integer"),
    mends("zero", INTEGER, "0", 0, "text_to_integer"),
    mends("beyond doubles", INTEGER, "9007199254740993", 9007199254740993, "text_to_integer"),
    mends("thirty digits", INTEGER, "1" * 30, int("1" * 30), "text_to_integer"),
    mends("nullable", nullable(INTEGER), "42", 42, "text_to_integer"),
    mends("beside a list", union(INTEGER, array(STRING)), "42", 42, "text_to_integer"),
    refuses("half", INTEGER, "5.5"),
    refuses("underscore", INTEGER, "1_000"),
    refuses("octal", INTEGER, "0644"),
    refuses("plus", INTEGER, "+5"),
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
    leaves("a string stays", STRING, "42"),
    leaves("a string beside a number stays", union(STRING, INTEGER), "42"),
)
def test_text_to_integer(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """A text that is one JSON integer becomes it, and loses no digit."""
    check(schema, sent, expected, repairs)


@table(
    mends("fraction", NUMBER, "3.14", 3.14, "text_to_number"),
    mends("integer", NUMBER, "3", 3, "text_to_number"),
    mends("exponent", NUMBER, "1.5e-7", 1.5e-7, "text_to_number"),
    mends("negative", NUMBER, "-0.5", -0.5, "text_to_number"),
    mends("space around", NUMBER, "\t2.5 ", 2.5, "text_to_number"),
    mends("zero at the end", NUMBER, "4.20", 4.2, "text_to_number"),
    mends("nullable", nullable(NUMBER), "3.14", 3.14, "text_to_number"),
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
    leaves("a string stays", STRING, "3.14"),
)
def test_text_to_number(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """A text that is one JSON number becomes it, and loses no digit."""
    check(schema, sent, expected, repairs)


@table(
    leaves("whole float", INTEGER, 7.0),
    leaves("whole float for a number", NUMBER, 7.0),
    refuses("half", INTEGER, 7.5),
    refuses("NaN", INTEGER, float("nan")),
    refuses("infinite", INTEGER, float("inf")),
)
def test_whole_floats(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """JSON Schema takes 7.0 for an integer, and what is taken is not touched."""
    check(schema, sent, expected, repairs)


@table(
    mends("true", BOOLEAN, "true", True, "text_to_boolean"),
    mends("FALSE", BOOLEAN, "FALSE", False, "text_to_boolean"),
    mends("yes", BOOLEAN, "Yes", True, "text_to_boolean"),
    mends("no", BOOLEAN, "no", False, "text_to_boolean"),
    mends("on", BOOLEAN, "on", True, "text_to_boolean"),
    mends("off", BOOLEAN, " OFF ", False, "text_to_boolean"),
    mends("one", BOOLEAN, "1", True, "text_to_boolean"),
    mends("zero", BOOLEAN, "0", False, "text_to_boolean"),
    mends("nullable", nullable(BOOLEAN), "yes", True, "text_to_boolean"),
    mends("true beside a number", union(BOOLEAN, NUMBER), "true", True, "text_to_boolean"),
    mends("the digit beside a number is a number", union(BOOLEAN, NUMBER), "1", 1, "text_to_number"),
    mends("integer one", BOOLEAN, 1, True, "integer_to_boolean"),
    mends("integer zero", BOOLEAN, 0, False, "integer_to_boolean"),
    mends("integer, nullable", nullable(BOOLEAN), 0, False, "integer_to_boolean"),
    mends("text in a list", array(BOOLEAN), ["true", False], [True, False], "text_to_boolean /p/0"),
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
    leaves("a string stays", STRING, "true"),
    leaves("an integer stays", union(BOOLEAN, INTEGER), 1),
)
def test_booleans(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """Words and 1/0 become booleans; across other types only true and false do."""
    check(schema, sent, expected, repairs)


@table(
    mends("integer", STRING, 42, "42", "number_to_text"),
    mends("negative", STRING, -1, "-1", "number_to_text"),
    mends("2^53", STRING, 2**53, "9007199254740992", "number_to_text"),
    mends("beyond every double", STRING, 2**53 + 1, "9007199254740993", "number_to_text"),
    mends("two decimals", STRING, 3.14, "3.14", "number_to_text"),
    mends("with a pattern", {**STRING, "pattern": "^[0-9]{5}$"}, 12345, "12345", "number_to_text"),
    mends("nullable", nullable(STRING), 42, "42", "number_to_text"),
    mends("numbers throughout", array(STRING), [1, 2], ["1", "2"], "number_to_text /p/0", "number_to_text /p/1"),
    mends("in a map", {**OBJECT, "additionalProperties": STRING}, {"a": 1}, {"a": "1"}, "number_to_text /p/a"),
    refuses("a double beyond 2^53", STRING, 2**53 + 2),
    refuses("ten to the 22nd", STRING, 10**22),
    refuses("one decimal", STRING, 3.1),
    refuses("whole float", STRING, 5.0),
    refuses("exponent", STRING, 1.25e-7),
    refuses("NaN", STRING, float("nan")),
    refuses("boolean", STRING, True),
    refuses("null", STRING, None),
    refuses("list", STRING, [1, 2]),
    refuses("object", STRING, {"a": 1}),
    refuses("format", {**STRING, "format": "date"}, 20240101),
    refuses("format through a reference", {"allOf": [{**STRING, "format": "date-time"}]}, 20240101),
    refuses("enum", {**STRING, "enum": ["1", "2"]}, 1),
    refuses("const", {**STRING, "const": "1"}, 1),
    refuses("mixed list", array(STRING), ["a", 1]),
    refuses("list with a boolean", array(STRING), [1, True]),
    refuses("list with null", array(STRING), [None, 1]),
    refuses("beside a list", union(STRING, array(STRING)), 42),
    refuses("too short", {**STRING, "minLength": 3}, 42),
    leaves("beside a number", union(STRING, NUMBER), 42),
    leaves("no type", {}, 42),
)
def test_number_to_text(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """A number becomes text only where it is certain how it was written."""
    check(schema, sent, expected, repairs)


MODES = enum("fast", "slow_mode", "AUTO")


@table(
    mends("upper", MODES, "FAST", "fast", "fold_enum"),
    mends("lower", MODES, "auto", "AUTO", "fold_enum"),
    mends("space", MODES, " fast ", "fast", "fold_enum"),
    mends("quotes", MODES, '"fast"', "fast", "fold_enum"),
    mends("hyphen", MODES, "slow-mode", "slow_mode", "fold_enum"),
    mends("blank", MODES, "Slow Mode", "slow_mode", "fold_enum"),
    mends("number text", enum(1, 2), "2", 2, "fold_enum"),
    mends("typed", {**STRING, "enum": ["asc", "desc"]}, "ASC", "asc", "fold_enum"),
    mends("in a list", array(MODES), ["FAST"], ["fast"], "fold_enum /p/0"),
    mends("nullable", nullable(MODES), "Fast", "fast", "fold_enum"),
    mends("with null", enum("asc", "desc", None), "ASC", "asc", "fold_enum"),
    refuses("beginning", MODES, "fas"),
    refuses("slip", MODES, "fsat"),
    refuses("meaning", MODES, "quick"),
    refuses("joined words", MODES, "slowmode"),
    refuses("two fit", enum("ab", "AB", "c"), "Ab"),
    refuses("minute or month", enum("1m", "1h"), "1M"),
    refuses("month or minute", enum("1M", "1w"), "1m"),
    refuses("one letter", enum("m", "h"), "M"),
    refuses("lone const", {"const": "DELETE"}, "delete"),
    refuses("lone enum value", enum("DELETE"), "delete"),
    refuses("lone enum value, typed", {**STRING, "enum": ["DELETE"]}, "delete"),
    refuses("number beside its text in another case", enum("1", 1), 1.5),
    refuses("hyphen beside a digit", enum("v1_0", "v2_0"), "v1-0"),
    refuses("number of a text member", enum("1", "2"), 1),
    refuses("empty", MODES, ""),
    refuses("null", MODES, None),
    refuses("across types", union(BOOLEAN, enum("auto", "never")), "AUTO"),
    leaves("both spellings are members", enum("ab", "AB"), "AB"),
    leaves("a text and its number", enum("1", 1), "1"),
)
def test_fold_enum(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """An enum value that differs by spelling alone is found when it is the only one."""
    check(schema, sent, expected, repairs)


@table(
    mends("null for nullable", nullable(INTEGER), "null", None, "null_text_to_null"),
    mends("None for nullable", nullable(INTEGER), "None", None, "null_text_to_null"),
    mends("type list", {"type": ["boolean", "null"]}, "null", None, "null_text_to_null"),
    mends("nullable list", nullable(array(STRING)), "null", None, "null_text_to_null"),
    mends("nullable object", nullable(OBJECT), "None", None, "null_text_to_null"),
    mends("null alone", NULL, "null", None, "null_text_to_null"),
    mends("in a list", array(nullable(INTEGER)), [1, "null"], [1, None], "null_text_to_null /p/1"),
    refuses("NULL", nullable(INTEGER), "NULL"),
    refuses("none", nullable(INTEGER), "none"),
    refuses("undefined", nullable(INTEGER), "undefined"),
    refuses("nil", nullable(INTEGER), "nil"),
    refuses("N/A", nullable(INTEGER), "N/A"),
    refuses("empty", nullable(INTEGER), ""),
    refuses("space", nullable(INTEGER), " null "),
    refuses("required", INTEGER, "null"),
    refuses("two readings", nullable(enum("none", "all")), "None"),
    refuses("a string with a pattern", {"type": ["string", "null"], "pattern": "^[A-Z]{3}$"}, "None"),
    leaves("a nullable string", nullable(STRING), "null"),
)
def test_null_text_to_null(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """The text of null becomes null where null may come and a string may not."""
    check(schema, sent, expected, repairs)


def _optional(schema: Any) -> Any:
    return closed("n", n=INTEGER, p=schema)


@table(
    mends_call("null, integer", _optional(INTEGER), {"n": 1, "p": None}, {"n": 1}, "null_to_absent"),
    mends_call("null, string", _optional(STRING), {"n": 1, "p": None}, {"n": 1}, "null_to_absent"),
    mends_call("null, list", _optional(array(STRING)), {"n": 1, "p": None}, {"n": 1}, "null_to_absent"),
    mends_call("null, object", _optional(OBJECT), {"n": 1, "p": None}, {"n": 1}, "null_to_absent"),
    mends_call("null, enum", _optional(enum("a", "b")), {"n": 1, "p": None}, {"n": 1}, "null_to_absent"),
    mends_call("null, with a default", _optional({**INTEGER, "default": 5}), {"n": 1, "p": None}, {"n": 1}, "null_to_absent"),
    mends_call("null, nested", closed("o", o=_optional(INTEGER)), {"o": {"n": 1, "p": None}}, {"o": {"n": 1}}, "null_to_absent /o/p"),
    mends_call("null, in an item", closed("o", o=array(_optional(INTEGER))), {"o": [{"n": 1, "p": None}]}, {"o": [{"n": 1}]}, "null_to_absent /o/0/p"),
    mends_call("empty, integer", _optional(INTEGER), {"n": 1, "p": ""}, {"n": 1}, "empty_text_to_absent"),
    mends_call("empty, boolean", _optional(BOOLEAN), {"n": 1, "p": ""}, {"n": 1}, "empty_text_to_absent"),
    mends_call("empty, nullable", _optional(nullable(INTEGER)), {"n": 1, "p": ""}, {"n": 1}, "empty_text_to_absent"),
    mends_call("empty, short string", _optional({**STRING, "minLength": 1}), {"n": 1, "p": ""}, {"n": 1}, "empty_text_to_absent"),
    mends_call("empty, object", _optional(OBJECT), {"n": 1, "p": ""}, {"n": 1}, "empty_text_to_absent"),
    mends_call("empty, enum without default", _optional(enum("a", "b")), {"n": 1, "p": ""}, {"n": 1}, "empty_text_to_absent"),
    mends_call("null text, integer", _optional(INTEGER), {"n": 1, "p": "null"}, {"n": 1}, "null_text_to_absent"),
    mends_call("null text, list", _optional(array(INTEGER)), {"n": 1, "p": "None"}, {"n": 1}, "null_text_to_absent"),
    mends_call("null text, boolean", _optional(BOOLEAN), {"n": 1, "p": "null"}, {"n": 1}, "null_text_to_absent"),
)
def test_left_out(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """A null, its text or an empty text leaves an optional property out, where the schema forbids it."""
    check(schema, sent, expected, repairs)


@table(
    refuses("null, required", STRING, None),
    refuses("empty, required", INTEGER, ""),
    refuses("null, an item", array(STRING), ["a", None]),
    refuses("null, an entry of a map", {**OBJECT, "additionalProperties": INTEGER}, {"a": None}),
    refuses("empty, an entry of a map", {**OBJECT, "additionalProperties": INTEGER}, {"a": ""}),
    refuses("null text, an entry of a map", {**OBJECT, "additionalProperties": INTEGER}, {"a": "null"}),
    refuses("null, by pattern", {**OBJECT, "patternProperties": {"^a": INTEGER}}, {"a": None}),
    refuses("empty, an item", array(INTEGER), [1, ""]),
    leaves("null, accepted", nullable(STRING), None),
    leaves("empty, accepted", STRING, ""),
    leaves("null, no type", {}, None),
)
def test_what_must_stay_is_not_left_out(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """A required property, a map entry and a list item are never left out, nor what is accepted."""
    check(schema, sent, expected, repairs)


@table(
    *(
        mends_call(name, _optional(schema), {"n": "1", "p": sent}, {"n": 1, "p": sent}, "text_to_integer /n")
        for name, schema, sent in (
            ("null, accepted beside a fault", nullable(STRING), None),
            ("empty, accepted beside a fault", STRING, ""),
            ("null text, a string", STRING, "null"),
        )
    ),
)
def test_what_is_accepted_stays_beside_a_fault(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """An accepted null or empty text stays where another parameter is repaired: it may mean "clear this"."""
    check(schema, sent, expected, repairs)


@table(
    refuses_call("null, an enum with none", _optional(enum("none", "all")), {"n": 1, "p": None}),
    refuses_call("null, an enum with unset", _optional(enum("UNSET", "all")), {"n": 1, "p": None}),
    refuses_call("empty, a list", _optional(array(STRING, minItems=1)), {"n": 1, "p": ""}),
    refuses_call("empty, a nullable list", _optional(nullable(array(INTEGER))), {"n": 1, "p": ""}),
    refuses_call("empty, an enum with a default", _optional({**enum("a", "b"), "default": "a"}), {"n": 1, "p": ""}),
    refuses_call("null text, a short string", _optional({**STRING, "maxLength": 2}), {"n": 1, "p": "null"}),
    refuses_call("null text, an enum of strings", _optional({**STRING, "enum": ["a", "b"]}), {"n": 1, "p": "null"}),
    refuses_call("NULL", _optional(INTEGER), {"n": 1, "p": "NULL"}),
    refuses_call("blank", _optional(INTEGER), {"n": 1, "p": " "}),
    refuses_call("undefined", _optional(INTEGER), {"n": 1, "p": "undefined"}),
)
def test_guards_against_leaving_out(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """Where leaving out would be a guess, the call is refused."""
    check(schema, sent, expected, repairs)
