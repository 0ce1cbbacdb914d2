"""Test text that stands for booleans, null, enum values or lists."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import each_row

from mcp_lenient.rules.words import (
    boolean_in_text,
    enum_folder,
    has_delimiter,
    is_null_text,
    json_boolean_in_text,
    says_nothing,
    split_members,
    split_numbers,
)

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
    assert boolean_in_text(text) is loose
    assert json_boolean_in_text(text) is strict


@each_row(
    ("text", "null"),
    [
        pytest.param("null", True, id="json"),
        pytest.param("None", True, id="python"),
        pytest.param("NULL", False, id="sql"),
        pytest.param("Null", False, id="Null"),
        pytest.param("none", False, id="none-is-a-word"),
        pytest.param("nil", False, id="nil"),
        pytest.param("undefined", False, id="undefined"),
        pytest.param("", False, id="empty"),
        pytest.param("null ", False, id="space"),
    ],
)
def test_null_text_is_exact(text, null):
    """Only the text that a JSON or Python serializer prints counts as null."""
    assert is_null_text(text) is null


@each_row("text", ["", " ", "\t\n", "null", "NULL", "None", "none", "undefined", "N/A", "nil", "NaN", "-"])
def test_words_for_absent_values_are_recognized(text):
    """A word for an absent value does not become a list."""
    assert says_nothing(text)


@each_row("text", ["NA", "nothing", "0", "false", "no", "nullable", "none of these", "a", "--x", "[]"])
def test_other_words_may_be_items(text):
    """A word that may be an item is not a word for an absent value."""
    assert not says_nothing(text)


@each_row(
    "text",
    [
        "a,b",
        "a; b",
        "a|b",
        "a\nb",
        "a\tb",
        "a\r\nb",
        ",",
        "a\uff0cb",
        "a\u3001b",
        "a\uff1bb",
        "a\u060cb",
        "a\u2028b",
    ],
)
def test_delimiters_of_any_script_are_recognized(text):
    """Text with a delimiter of any script may be several items."""
    assert has_delimiter(text)


@each_row("text", ["", "a", "a b", "a-b", "a/b", "a:b", "a.b", "a & b", "a and b"])
def test_spaces_and_other_punctuation_are_not_delimiters(text):
    """Spaces and other punctuation are not delimiters."""
    assert not has_delimiter(text)


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
    found = split_numbers(text)
    assert found == numbers
    assert found is None or [type(number) for number in found] == [type(number) for number in numbers]


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
    assert split_members(text, members) == parts


@given(ANY_TEXT)
def test_no_text_raises(text):
    """Every predicate answers for every text, even lone surrogates."""
    assert boolean_in_text(text) in (True, False, None)
    assert json_boolean_in_text(text) in (boolean_in_text(text), None)
    assert not is_null_text(text) or says_nothing(text)
    assert split_numbers(text) is None or has_delimiter(text)
    assert split_members(text, ["a", "b"]) is None or has_delimiter(text)


@given(st.lists(st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6), min_size=2, max_size=6))
def test_spaced_numbers_are_split_exactly(numbers):
    """Numbers joined by a comma and a space are split into the same numbers."""
    assert split_numbers(", ".join(map(repr, numbers))) == numbers


@given(st.lists(st.integers(1000, 999_999), min_size=2, max_size=4))
def test_numbers_with_thousands_commas_are_never_split(numbers):
    """Numbers with thousands commas are never split without spaces."""
    assert split_numbers(",".join(f"{number:,}" for number in numbers)) is None


def test_long_texts_take_linear_time():
    """Every predicate is fast for a megabyte of text."""
    started = time.process_time()
    fold = enum_folder(["in_progress", 1])
    for text in (
        "1," * 500_000,
        "100," * 250_000 + "x",
        " " * 1_000_000,
        "a_" * 500_000,
        "1.000" * 200_000 + ",",
    ):
        assert fold(text) == ()
        assert split_numbers(text) is None
        assert split_members(text, ["a", "1"]) is None
        assert boolean_in_text(text) is None
        assert says_nothing(text) is (not text.strip())
    assert time.process_time() - started < 10


def test_texts_beyond_the_limit_are_not_split():
    """Text beyond the limit is not split."""
    members, numbers = "a," + "a" * (2**16 - 2), f"{' ' * (2**16 - 4)}1, 2"
    assert split_members(members, ["a", "a" * (2**16 - 2)]) is not None
    assert split_members(f"{members} ", ["a", "a" * (2**16 - 2)]) is None
    assert split_numbers(numbers) == [1, 2]
    assert split_numbers(f"{numbers} ") is None
