"""Test conversions between one value and a list."""

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
    keeps,
    nullable,
    opened,
    refuses,
    repairs_to,
    table,
    union,
)

STRINGS = array(STRING)
MODES = enum("fast", "slow_mode")
INTEGERS = array(INTEGER)
NUMBERS = array(NUMBER)
ROW = closed("id", id=INTEGER, note=STRING)


@table(
    repairs_to("text", STRINGS, "a", ["a"], "scalar_to_array"),
    repairs_to("text with spaces", STRINGS, "a b c", ["a b c"], "scalar_to_array"),
    repairs_to("integer", INTEGERS, 5, [5], "scalar_to_array"),
    repairs_to("number", NUMBERS, 5.5, [5.5], "scalar_to_array"),
    repairs_to("boolean", array(BOOLEAN), True, [True], "scalar_to_array"),
    repairs_to("enum", array(enum("a", "b")), "a", ["a"], "scalar_to_array"),
    repairs_to("nullable list", nullable(STRINGS), "a", ["a"], "scalar_to_array"),
    repairs_to("number as text", INTEGERS, "5", [5], "scalar_to_array", "text_to_integer /p/0"),
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
    refuses("not valid by the item schema", array({**STRING, "pattern": "^[0-9]$"}), "a"),
    refuses("a list beside a number", union(INTEGER, STRINGS), "a"),
    keeps("a list", STRINGS, ["a"]),
    keeps("an empty list", STRINGS, []),
    keeps("a list or its item", union(STRING, STRINGS), "a,b"),
    refuses("contains a list", STRINGS, 'Tags: ["a"]'),
)
def test_scalar_to_array_wraps_unambiguous_scalars(
    schema: Any, sent: Any, expected: Any, repairs: Any
) -> None:
    """A scalar becomes a list of it if it cannot be read in another way."""
    check(schema, sent, expected, repairs)


ONE_ITEM = [
    *("urgent", "gluten-free", "Wi-Fi", "v1.2.3", "user@example.com", "user+tag@example.com", "C#", "C++"),
    *(
        "#urgent",
        "@alice",
        "src/main.py",
        "/etc/hosts",
        "C:/Users",
        "*.py",
        "**/*.ts",
        "key=value",
        "~/notes",
        "50%",
    ),
    *(
        "10:30",
        "10:30:00",
        "host:5000/image:tag",
        "git@github.com:org/repo.git",
        "org/repo#12",
        "F##",
        "./data:rw",
    ),
    *(
        "a==1.0",
        "year=2024/month=01",
        "package@1.2.0",
        "arn:aws:s3:::bucket/key",
        "Windows 11",
        "*.tar.gz",
        "A 1",
    ),
    *(
        "it's",
        "O'Brien",
        "$USER",
        "key:value",
        "2024-01-01T10:00:00Z",
        "2024-01-01T10:00:00+01:00",
        "+4712345678",
    ),
    *(
        "https://a.com/x?a=1&b=2",
        "https://a.com/(x)+y!#part",
        "https://no.wikipedia.org/wiki/Troms\u00f8",
        "R&D",
    ),
    *(
        "https://archive.org/web/a.com",
        "urn:isbn:0451450523",
        "s3://bucket/key",
        "AT&T",
        "what?",
        "a_b",
    ),
    *("caf\u00e9", "gr\u00fcn", "\u0441\u0440\u043e\u0447\u043d\u043e", "\u0639\u0627\u062c\u0644"),
    *(
        "\u0939\u093f\u0928\u094d\u0926\u0940",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "e\u0301t\u00e9",
    ),
    *("\u5317\u4eac", "\u6771\u4eac\u30bf\u30ef\u30fc", "\u0e01\u0e23\u0e38\u0e07\u0e40\u0e17\u0e1e"),
    *(
        "New York",
        "a plain text of seven words",
        "24 hours",
        "VIP Seating",
        "\u0441\u0440\u043e\u0447\u043d\u043e 5",
    ),
    *("\u0939\u093f\u0928\u094d\u0926\u0940 \u0939\u0948", "\uc11c\uc6b8 \ubd80\uc0b0"),
]
SEVERAL_ITEMS = [
    *("10 20 30", "7 8", "\u0661 \u0662"),
    *("https://a.com/xhttps://b.com/y", "https://archive.org/web/https://a.com", "ftp://a~ftp://b"),
    *("a@x.com:b@y.org", "a@x.com/b@y.org", "x#y#z", "~/bin:~/lib", "./a:../b", "/a:./b"),
    *("a=1:b=2", "K=v:L=w:M=x", "*.py:*.toml"),
    *(
        "<item>a</item><item>b</item>",
        "<a>",
        "\u2022 a \u2022 b",
        "- a - b",
        "* a * b",
        "1. a 2. b",
        "1) a 2) b",
    ),
    *(
        "'a' 'b'",
        "'a'",
        "'a''b'",
        "`a` `b`",
        "\u201ca\u201d \u201cb\u201d",
        "\u00aba\u00bb",
        "a@x.com b@x.com",
        "#a #b",
    ),
    *(
        "a, b",
        "a; b",
        "a | b",
        "a / b",
        "a & b",
        "a + b",
        "a > b",
        "a -> b",
        "a \u2192 b",
        "a \u00b7 b",
        "a\u00b7b",
    ),
    *(
        "a&b",
        "red&blue",
        "a+b",
        "salt+pepper",
        "a>b",
        "a\\b",
        "a~ b",
        "a\u2013b",
        "a \u2014 b",
        "(a) (b)",
        "[a] [b]",
    ),
    *(
        "a  b",
        " a",
        "a ",
        "a\u00a0b",
        "a\u3000b",
        "a\u200bb",
        "a\nb",
        "a\tb",
        "a: b",
        "a = 1 b = 2",
        "a=1&b=2",
        "US&UK",
    ),
    *(
        "a, and b",
        "don't panic",
        "state-of-the-art model",
        "What is it?",
        "a. b",
        "a... b",
        "a (b)",
        "a\u2026",
    ),
    *(
        "#a#b",
        "$AAPL$MSFT",
        "@a@b",
        "/usr/bin:/usr/local/bin",
        "https://a.com,https://b.com",
        "https://a.com;x",
    ),
    *(
        "https://a.com https://b.com",
        "https://a.com&https://b.com",
        "https://a.com+https://b.com",
        "a \U0001f600 b",
    ),
    *(
        "\U0001f600\U0001f601",
        "1\ufe0f\u20e3a2\ufe0f\u20e3b",
        "\u2460a\u2461b",
        "\u5317\u4eac \u4e0a\u6d77",
        "a\u30fbb",
    ),
    *(
        "\u6771\u4eac \u5927\u962a",
        "\u30ab\u30ca \u30cf\u30ca",
        "\u0e01 \u0e02",
        "\u1780 \u1781",
        "\u1000 \u1001",
    ),
    *(
        "a\x00b",
        "a\ud800b",
        "a\u001fb",
        "key: value",
        "a\u2022b",
        "\u25aa a",
        "a\u2028b",
        "a\u061bb",
        "a\u3001b",
    ),
]


@table(
    *(repairs_to(ascii(text), STRINGS, text, [text], "scalar_to_array") for text in ONE_ITEM),
    *(refuses(ascii(text), STRINGS, text) for text in SEVERAL_ITEMS),
)
def test_scalar_to_array_wraps_text_that_is_one_item(
    schema: Any, sent: Any, expected: Any, repairs: Any
) -> None:
    """One URI, text without spaces, or plain words are one item. Other text may be several."""
    check(schema, sent, expected, repairs)


FRUITS = {**STRING, "examples": ["red apple", "pear", "kiwi"]}
SHOPS = enum("Home & Garden", "Books, Music", "in_stock", "in", "stock", "[x]")


@table(
    repairs_to("a member with signs", array(SHOPS), "Home & Garden", ["Home & Garden"], "scalar_to_array"),
    repairs_to("a member with a comma", array(SHOPS), "Books, Music", ["Books, Music"], "scalar_to_array"),
    repairs_to(
        "a member in another case", array(MODES), "FAST", ["fast"], "scalar_to_array", "fold_enum /p/0"
    ),
    repairs_to(
        "a member of two words", array(MODES), "Slow Mode", ["slow_mode"], "scalar_to_array", "fold_enum /p/0"
    ),
    repairs_to(
        "signs in another case",
        array(SHOPS),
        "home & garden",
        ["Home & Garden"],
        "scalar_to_array",
        "fold_enum /p/0",
    ),
    repairs_to(
        "space around a member", array(MODES), " fast ", ["fast"], "scalar_to_array", "fold_enum /p/0"
    ),
    refuses("space around a text", STRINGS, " fast "),
    refuses("signs in another case, cut off", array(SHOPS), "home &"),
    refuses("a member of two members", array(enum("red", "blue", "red,blue")), "red,blue"),
    refuses("a member of two words that are members", array(enum("red", "blue", "red blue")), "red blue"),
    repairs_to(
        "a member with another one in it",
        array(enum("New York", "York")),
        "New York",
        ["New York"],
        "scalar_to_array",
    ),
    refuses("members in another case", array(enum("red", "blue", "red,blue")), "RED,BLUE"),
    repairs_to("a symbol", STRINGS, "\U0001f389", ["\U0001f389"], "scalar_to_array"),
    refuses("two members that are a third", array(SHOPS), "in stock"),
    repairs_to("an example", array(FRUITS), "red apple", ["red apple"], "scalar_to_array"),
    repairs_to("another text", array(FRUITS), "green plum", ["green plum"], "scalar_to_array"),
    repairs_to(
        "a text with an example in a word", array(FRUITS), "kiwis pearl", ["kiwis pearl"], "scalar_to_array"
    ),
    refuses("two examples", array(FRUITS), "pear kiwi"),
    refuses("an example among words", array(FRUITS), "two Kiwi trees"),
    refuses("an example of two words", array(FRUITS), "plum red apple"),
    refuses("an example before a slash", array(FRUITS), "pear/plum"),
    refuses("an example of the list", array(STRING, examples=[["pear", "kiwi"]]), "pear plum"),
    refuses("an example of OpenAPI", array({**STRING, "example": "pear"}), "pear plum"),
    refuses("a member beside free texts", array(union(enum("pear", "kiwi"), STRING)), "pear kiwi"),
)
def test_scalar_to_array_respects_known_items(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """A known item is one item, whatever it contains. Text that contains one may be several."""
    check(schema, sent, expected, repairs)


@table(
    repairs_to("row", array(ROW), {"id": 1}, [{"id": 1}], "object_to_array"),
    repairs_to("all keys", array(ROW), {"id": 1, "note": "a"}, [{"id": 1, "note": "a"}], "object_to_array"),
    repairs_to("open row", array(opened("id", id=INTEGER)), {"id": 1}, [{"id": 1}], "object_to_array"),
    repairs_to("nullable", nullable(array(ROW)), {"id": 1}, [{"id": 1}], "object_to_array"),
    repairs_to(
        "text inside", array(ROW), {"id": "1"}, [{"id": 1}], "object_to_array", "text_to_integer /p/0/id"
    ),
    repairs_to(
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
    refuses("value of a wrong type", array(ROW), {"id": 1, "note": 5}),
    refuses("an item of a list of lists", array(array(ROW)), [{"id": 1}]),
    refuses("no items declared", array({}), {"id": 1}),
    refuses("rows beside a text", {"type": ["array", "string"], "items": ROW}, {"id": 1}),
    refuses("an empty object for rows that require nothing", array(closed(id=INTEGER)), {}),
)
def test_object_to_array_requires_declared_keys(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """An object becomes a list of it if the items declare every sent key."""
    check(schema, sent, expected, repairs)


@table(
    repairs_to("integer", INTEGER, [5], 5, "array_to_scalar"),
    repairs_to(
        "text with a format", {**STRING, "format": "date"}, ["2026-01-02"], "2026-01-02", "array_to_scalar"
    ),
    refuses("text, which may be to hold JSON", STRING, ["a"]),
    repairs_to("number", NUMBER, [2.5], 2.5, "array_to_scalar"),
    repairs_to("boolean", BOOLEAN, [False], False, "array_to_scalar"),
    repairs_to("enum", {**STRING, "enum": ["a", "b"]}, ["a"], "a", "array_to_scalar"),
    repairs_to("nullable", nullable(INTEGER), [5], 5, "array_to_scalar"),
    refuses("a text for a number", INTEGER, ["5"]),
    refuses("a number for a text", STRING, [1]),
    refuses("a number for a text that may be null", nullable(STRING), [1]),
    refuses("another spelling of a member", {**STRING, "enum": ["a", "b"]}, ["A"]),
    refuses("a text for a boolean", BOOLEAN, ["true"]),
    refuses("a whole float for a text", STRING, [1.25]),
    refuses("a list in a text", INTEGER, "[5]"),
    refuses("two", INTEGER, [5, 6]),
    refuses("none", INTEGER, []),
    refuses("nested", INTEGER, [[5]]),
    refuses("another type", INTEGER, ["a"]),
    refuses("null", INTEGER, [None]),
    refuses("an object", closed("a", a=INTEGER), [{"a": 1}]),
    keeps("no type", {}, [5]),
    keeps("a list beside it", union(INTEGER, INTEGERS), [5]),
    repairs_to("any number", {"type": ["number", "integer", "boolean"]}, [5], 5, "array_to_scalar"),
    refuses("any scalar, so also a text", {"type": ["string", "number", "integer", "boolean"]}, [5]),
    refuses("JSON text is wanted", {**STRING, "contentMediaType": "application/json"}, ["5"]),
)
def test_array_to_scalar_unwraps_one_item(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """A list of one item becomes the item if a scalar is expected."""
    check(schema, sent, expected, repairs)


@table(
    repairs_to("item of a list", INTEGERS, {"item": [1, 2]}, [1, 2], "item_wrapper_to_array"),
    repairs_to("items of a list", STRINGS, {"items": ["a"]}, ["a"], "item_wrapper_to_array"),
    repairs_to("each item", INTEGERS, [{"item": 1}, {"item": 2}], [1, 2], "item_wrapper_to_array"),
    repairs_to("empty", STRINGS, {"item": []}, [], "item_wrapper_to_array"),
    repairs_to("nullable", nullable(STRINGS), {"item": ["a"]}, ["a"], "item_wrapper_to_array"),
    repairs_to("rows", array(ROW), {"item": [{"id": 1}]}, [{"id": 1}], "item_wrapper_to_array"),
    repairs_to(
        "text inside", INTEGERS, {"item": ["1"]}, [1], "item_wrapper_to_array", "text_to_integer /p/0"
    ),
    repairs_to("a scalar", INTEGERS, {"item": 1}, [1], "item_wrapper_to_array"),
    refuses("a text that may be several", STRINGS, {"item": "a, b"}),
    repairs_to("a text", STRINGS, {"item": "a b"}, ["a b"], "item_wrapper_to_array"),
    repairs_to("a text in the plural", STRINGS, {"items": "New York"}, ["New York"], "item_wrapper_to_array"),
    refuses("a text in the plural that may be several", STRINGS, {"items": "a, b"}),
    refuses("another key", INTEGERS, {"value": [1]}),
    refuses("two keys", INTEGERS, {"item": [1], "count": 1}),
    refuses("only some", INTEGERS, [{"item": 1}, 2]),
    refuses("another type", INTEGERS, {"item": ["a"]}),
    refuses("any object is an item", array(OBJECT), {"item": [{"id": 1}]}),
    refuses("anything is an item", array({}), {"item": {"id": 1}}),
    repairs_to(
        "a map is no item",
        array({**OBJECT, "additionalProperties": STRING}),
        {"item": {"id": "a"}},
        [{"id": "a"}],
        "item_wrapper_to_array",
    ),
    refuses("an object is wanted", closed("id", id=INTEGER), {"item": [1]}),
    keeps("the schema accepts it", array(opened("item", item=INTEGER)), [{"item": 1}]),
    keeps("the schema accepts the object", union(INTEGERS, OBJECT), {"item": [1]}),
    refuses("one is wanted", INTEGER, {"item": [5]}),
    refuses("null for nullable items", array(nullable(STRING)), {"item": None}),
    refuses("null in the plural for nullable items", array(nullable(STRING)), {"items": None}),
    repairs_to(
        "each item, in a text", INTEGERS, '[{"item": 1}]', [1], "json_text_to_array", "item_wrapper_to_array"
    ),
)
def test_item_wrapper_to_array_unwraps_lists(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """A list is unwrapped from an XML-style wrapper around it or around its items."""
    check(schema, sent, expected, repairs)


@table(
    repairs_to("integers", INTEGERS, "1,2,3", [1, 2, 3], "delimited_text_to_array"),
    repairs_to("spaced", INTEGERS, "1, 2", [1, 2], "delimited_text_to_array"),
    repairs_to("semicolons", NUMBERS, "1.5; 2.5", [1.5, 2.5], "delimited_text_to_array"),
    repairs_to("fractions", NUMBERS, "1.5,2.5", [1.5, 2.5], "delimited_text_to_array"),
    repairs_to("negative", INTEGERS, "-1, -2", [-1, -2], "delimited_text_to_array"),
    repairs_to("members", array(enum("a", "b", "c")), "a,c", ["a", "c"], "delimited_text_to_array"),
    repairs_to(
        "members, spaced",
        array({**STRING, "enum": ["a", "b"]}),
        "a, b",
        ["a", "b"],
        "delimited_text_to_array",
    ),
    repairs_to("members, bars", array(enum("a", "b")), "a|b", ["a", "b"], "delimited_text_to_array"),
    repairs_to("nullable", nullable(INTEGERS), "1, 2", [1, 2], "delimited_text_to_array"),
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
    refuses("a part is not a member", array(enum("a", "b")), "a,d"),
    refuses("a member contains a comma", array(enum("a", "b", "a,b")), "a,b,a"),
    refuses("strings", STRINGS, "a,b"),
    refuses("strings, spaced", STRINGS, "a, b"),
    refuses("rows", array(ROW), "1,2,3"),
    refuses("lists", array(INTEGERS), "1,2,3"),
    refuses("any items", ARRAY, "1,2,3"),
    refuses("fractions for integers", INTEGERS, "1.5, 2"),
    keeps("a string", STRING, "1,2,3"),
    repairs_to(
        "integers or numbers",
        array({"type": ["integer", "number"]}),
        "1, 2.5",
        [1, 2.5],
        "delimited_text_to_array",
    ),
    refuses("numbers beside an object", {"type": ["array", "object"], "items": INTEGER}, "1, 2"),
    refuses("members, some of them numbers", array(enum("a", 1)), "a,a"),
    refuses("numbers for strings", STRINGS, "1, 2"),
    refuses("numbers of an enum", array({**INTEGER, "enum": [1, 2]}), "1, 2"),
)
def test_delimited_text_to_array_splits_unambiguous_text(
    schema: Any, sent: Any, expected: Any, repairs: Any
) -> None:
    """Text of numbers or enum members becomes a list if it can be split in only one way."""
    check(schema, sent, expected, repairs)
