"""Test conversions between one value and a list."""

from __future__ import annotations

from typing import Any

from tables import (
    BOOLEAN,
    INTEGER,
    NUMBER,
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

STRINGS = array(STRING)
INTEGERS = array(INTEGER)
NUMBERS = array(NUMBER)


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
