"""Test text that stands for booleans, null, enum values or lists."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import (
    ARRAY,
    BOOLEAN,
    INTEGER,
    NUMBER,
    REFUSED,
    STRING,
    array,
    closed,
    each_row,
    enum,
    exactly,
    nullable,
    read_as,
    union,
)

from mcp_lenient import normalize

NUMBERS = array(NUMBER)
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)


@each_row(
    ("text", "loose", "strict"),
    [
        pytest.param("true", True, True, id="true"),
        pytest.param("False", False, False, id="False"),
        pytest.param("TRUE", True, True, id="TRUE"),
        pytest.param(" true\n", True, True, id="space"),
        pytest.param("yes", True, None, id="yes"),
        pytest.param("No", False, None, id="No"),
        pytest.param("ON", True, None, id="ON"),
        pytest.param("off", False, None, id="off"),
        pytest.param("1", True, None, id="1"),
        pytest.param("0", False, None, id="0"),
        pytest.param("1.0", None, None, id="1.0"),
        pytest.param("2", None, None, id="2"),
        pytest.param("-1", None, None, id="minus-1"),
        pytest.param("y", None, None, id="y"),
        pytest.param("t", None, None, id="t"),
        pytest.param("", None, None, id="empty"),
        pytest.param(" ", None, None, id="blank"),
        pytest.param("not true", None, None, id="prose"),
        pytest.param("true.", None, None, id="full-stop"),
        pytest.param('"true"', None, None, id="quoted"),
        pytest.param("none", None, None, id="none"),
        pytest.param("enabled", None, None, id="enabled"),
        pytest.param("\uff11", None, None, id="full-width-one"),
    ],
)
def test_boolean_words_are_parsed(text, loose, strict):
    """Eight words are booleans in any case. In unions only true and false are."""
    assert read_as(BOOLEAN, text) is (REFUSED if loose is None else loose)
    assert read_as(union(BOOLEAN, ARRAY), text) is (REFUSED if strict is None else strict)


@each_row("text", ["null", "None", "NULL", "none", "nil", "undefined", "", " "])
def test_a_word_for_nothing_is_not_null(text):
    """A word for nothing is no null; where null is allowed, it may be, which is offered as a fix."""
    assert read_as(nullable(INTEGER), text) is REFUSED


@each_row("text", ["", " ", "\t\n", "null", "NULL", "None", "none", "undefined", "N/A", "nil", "NaN", "-"])
def test_words_for_absent_values_are_recognized(text):
    """A word for an absent value does not become a list."""
    assert read_as(array(STRING), text) is REFUSED


@each_row("text", ["NA", "nothing", "0", "false", "no", "nullable", "none of these", "a", "--x"])
def test_other_words_may_be_items(text):
    """A word that may be an item is not a word for an absent value."""
    assert read_as(array(STRING), text) == [text]


@each_row("delimiter", [*",;|\n\t\uff0c\u3001\uff1b\u060c\u2028", "; ", "\r\n"])
def test_delimiters_of_any_script_are_recognized(delimiter):
    """A text with a delimiter of any script may be several items."""
    assert read_as(array(STRING), f"a{delimiter}b") is REFUSED


@each_row("text", ["a", "a b", "a-b", "a/b", "a:b", "a.b", "a and b"])
def test_spaces_and_other_punctuation_are_not_delimiters(text):
    """Spaces and other punctuation are not delimiters."""
    assert read_as(array(STRING), text) == [text]


@each_row(
    ("text", "numbers"),
    [
        pytest.param("1,2,3", [1, 2, 3], id="three"),
        pytest.param("34, 2, 56", [34, 2, 56], id="spaced"),
        pytest.param(" 1, 2 ", [1, 2], id="space-around"),
        pytest.param("1, 5", [1, 5], id="two-spaced"),
        pytest.param("1 ,5", [1, 5], id="space-before"),
        pytest.param("1,\n5", [1, 5], id="line-break"),
        pytest.param("1,5", None, id="two-unspaced"),
        pytest.param("-1,5", None, id="two-unspaced-negative"),
        pytest.param("1,500", None, id="thousands"),
        pytest.param("1,234,567", None, id="millions"),
        pytest.param("1,234.5", None, id="thousands-with-fraction"),
        pytest.param("100,200,300", None, id="hundreds-look-like-millions"),
        pytest.param("1,500,2,500", None, id="thousands-twice"),
        pytest.param("1, 234, 567", [1, 234, 567], id="spaced-hundreds"),
        pytest.param("1,234, 567", None, id="spaces-at-some-commas"),
        pytest.param("1,5, 2,5", None, id="decimal-commas-separated-by-spaced-ones"),
        pytest.param("1.234,5", None, id="decimal-comma"),
        pytest.param("1.5,2.5", [1.5, 2.5], id="decimals"),
        pytest.param("48.8566,2.3522", [48.8566, 2.3522], id="coordinates"),
        pytest.param("0.5,2", [0.5, 2], id="decimal-and-integer"),
        pytest.param("10,20,30", [10, 20, 30], id="tens"),
        pytest.param("1000,2000,3000", [1000, 2000, 3000], id="four-digits"),
        pytest.param("1;2", [1, 2], id="semicolon"),
        pytest.param("1,5;2,5", None, id="semicolon-and-comma"),
        pytest.param("1,2,", None, id="comma-at-the-end"),
        pytest.param("1,,2", None, id="empty-part"),
        pytest.param("5", None, id="one"),
        pytest.param("", None, id="empty"),
        pytest.param(",", None, id="comma"),
        pytest.param("1,a", None, id="word"),
        pytest.param("1,2,+3", None, id="not-json"),
        pytest.param("01,02,03", None, id="leading-zeros"),
        pytest.param("[1,2,3]", None, id="json"),
        pytest.param("1 2 3", None, id="only-spaces"),
        pytest.param("1,2,null", None, id="null"),
        pytest.param("NaN,1,2", None, id="nan"),
        pytest.param("2024-01-02,3,4", None, id="date"),
        pytest.param("1,500,2", None, id="thousands-and-a-digit"),
    ],
)
def test_split_numbers_refuses_ambiguous_commas(text, numbers):
    """Text is a list of numbers if no comma can be part of a number."""
    expected = REFUSED if numbers is None else numbers
    assert exactly(read_as(NUMBERS, text, "delimited_text_to_array")) == exactly(expected)


@each_row(
    ("text", "members", "parts"),
    [
        pytest.param("a,b", ["a", "b"], ["a", "b"], id="comma"),
        pytest.param(" a , b ", ["a", "b"], ["a", "b"], id="space"),
        pytest.param("a,a", ["a", "b"], ["a", "a"], id="twice"),
        pytest.param("a;b", ["a", "b"], ["a", "b"], id="semicolon"),
        pytest.param("a|b", ["a", "b"], ["a", "b"], id="bar"),
        pytest.param("a\nb", ["a", "b"], ["a", "b"], id="lines"),
        pytest.param("a,b;a", ["a", "b"], None, id="two-delimiters"),
        pytest.param("a", ["a", "b"], None, id="one-part"),
        pytest.param("a,c", ["a", "b"], None, id="no-member"),
        pytest.param("a,B", ["a", "b"], None, id="other-case"),
        pytest.param("a,b,", ["a", "b"], None, id="empty-part"),
        pytest.param("a,", ["a", ""], None, id="empty-member"),
        pytest.param("a,b", ["a", "b", "a,b"], None, id="member-with-comma"),
        pytest.param("a;b", ["a", "b", "x,y"], ["a", "b"], id="member-with-another-delimiter"),
        pytest.param("a, b and c", ["a", "b", "c"], None, id="prose"),
        pytest.param(
            "24 hours, Home Delivery",
            ["24 hours", "Home Delivery"],
            ["24 hours", "Home Delivery"],
            id="words",
        ),
        pytest.param("", ["a"], None, id="empty"),
        pytest.param("a,b", [], None, id="no-members"),
    ],
)
def test_split_members_requires_only_members(text, members, parts):
    """Text is a list of members if every part is a member and no member contains the delimiter."""
    expected = REFUSED if parts is None else parts
    assert read_as(array(enum(*members)), text, "delimited_text_to_array") == expected


@given(ANY_TEXT)
def test_no_text_raises(text):
    """Every text has an answer, even lone surrogates."""
    assert read_as(BOOLEAN, text) in (True, False, REFUSED)
    assert read_as(union(BOOLEAN, ARRAY), text) in (read_as(BOOLEAN, text), REFUSED)
    assert read_as(NUMBERS, text) is REFUSED or not any(each.isalpha() for each in text if each not in "eE")
    assert read_as(array(enum("a", "b")), text) is REFUSED or set(text) & {"a", "b"}


@given(st.lists(st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6), min_size=2, max_size=6))
def test_spaced_numbers_are_split_exactly(numbers):
    """Numbers joined by a comma and a space are split into the same numbers."""
    assert read_as(NUMBERS, ", ".join(map(repr, numbers))) == numbers


@given(st.lists(st.integers(1000, 999_999), min_size=2, max_size=4))
def test_numbers_with_thousands_commas_are_never_split(numbers):
    """Numbers with thousands commas are never split without spaces."""
    assert read_as(NUMBERS, ",".join(f"{number:,}" for number in numbers)) is REFUSED


def test_long_texts_take_linear_time():
    """A megabyte of text is read fast, whatever it may stand for."""
    started = time.process_time()
    kinds = [BOOLEAN, NUMBERS, array(enum("a", "1")), enum("in_progress", 1), array(STRING)]
    for text in (
        "1," * 500_000,
        "100," * 250_000 + "x",
        " " * 1_000_000,
        "a_" * 500_000,
        "1.000" * 200_000 + ",",
    ):
        for kind in kinds:
            assert read_as(kind, text) == ([text] if kind is kinds[-1] and text[0] == "a" else REFUSED)
    assert time.process_time() - started < 10


@each_row(
    ("schema", "required", "sent", "fix"),
    [
        *(
            (nullable(INTEGER), False, text, {"op": "remove", "path": "/p"})
            for text in ("null", "None", "n/a")
        ),
        *((INTEGER, False, text, {"op": "remove", "path": "/p"}) for text in ("null", "None")),
        (BOOLEAN, False, 1, {"op": "replace", "path": "/p", "value": True}),
        (BOOLEAN, True, 0, {"op": "replace", "path": "/p", "value": False}),
        (nullable(INTEGER), True, "null", {"op": "replace", "path": "/p", "value": None}),
    ],
)
def test_what_is_likely_but_not_certain_is_offered(schema, required, sent, fix):
    """A text for nothing may be left out, and 1 and 0 may be booleans: each is a fix, and no repair."""
    (violation,) = normalize(closed(*(["p"] if required else []), p=schema), {"p": sent}).violations
    assert fix in [dict(*patch) for patch in violation.fixes]
