"""Test text that stands for booleans, null, enum values or lists."""

from __future__ import annotations

import time

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


@each_row(("text", "loose", "strict"))
def test_boolean_words_are_parsed(text, loose, strict):
    """Eight words are booleans in any case. In unions only true and false are."""
    assert read_as(BOOLEAN, text) is (REFUSED if loose is None else loose)
    assert read_as(union(BOOLEAN, ARRAY), text) is (REFUSED if strict is None else strict)


@each_row(
    ("text", "is_null"),
    [
        *((text, True) for text in ("null", "None", "none")),
        *((text, False) for text in ("NULL", "NONE", "nil", "undefined", "", " ", " null")),
    ],
)
def test_only_the_text_of_null_is_null(text, is_null):
    """Where null is allowed and no text, null as a serializer prints it is null; another word for nothing is not."""
    assert read_as(nullable(INTEGER), text) is (None if is_null else REFUSED)


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


@each_row(("text", "numbers"))
def test_split_numbers_refuses_ambiguous_commas(text, numbers):
    """Text is a list of numbers if no comma can be part of a number."""
    expected = REFUSED if numbers is None else numbers
    assert exactly(read_as(NUMBERS, text, "delimited_text_to_array")) == exactly(expected)


@each_row(("text", "members", "parts"))
def test_split_members_requires_only_members(text, members, parts):
    """Text is a list of members if every part is a member and no member contains the delimiter."""
    expected = REFUSED if parts is None else parts
    assert read_as(array(enum(*members)), text, "delimited_text_to_array") == expected


@given(ANY_TEXT)
def test_no_text_raises(text):
    """Every text has an answer, even lone surrogates."""
    assert read_as(BOOLEAN, text) in (True, False, REFUSED)
    either = read_as(union(BOOLEAN, ARRAY), text)
    assert isinstance(either, list) or either in (read_as(BOOLEAN, text), REFUSED)
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
    """A long text is read fast, whatever it may stand for."""
    started = time.process_time()
    kinds = [BOOLEAN, NUMBERS, array(enum("a", "1")), enum("in_progress", 1), array(STRING)]
    for text in (
        "1," * 100_000,
        "100," * 50_000 + "x",
        " " * 200_000,
        "a_" * 100_000,
        "1.000" * 40_000 + ",",
    ):
        for kind in kinds:
            assert read_as(kind, text) == ([text] if kind is kinds[-1] and text[0] == "a" else REFUSED)
    assert time.process_time() - started < 5


@each_row(
    ("schema", "sent", "fix"),
    [
        (nullable(INTEGER), "n/a", {"op": "remove", "path": "/p"}),
        *((INTEGER, text, {"op": "remove", "path": "/p"}) for text in ("NULL", "none")),
        (enum("a", "none"), "null", {"op": "remove", "path": "/p"}),
    ],
)
def test_what_is_likely_but_not_certain_is_offered(schema, sent, fix):
    """A word for nothing may be left out, which is a fix, and no repair."""
    (violation,) = normalize(closed(p=schema), {"p": sent}).violations
    assert fix in [dict(*patch) for patch in violation.fixes]
