"""Test whether text is certainly one item of a list."""

from __future__ import annotations

import time

from hypothesis import assume, given
from hypothesis import strategies as st
from tables import STRING, array, each_row, read_as

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)
PARTING = st.sampled_from(
    [",", ";", "|", "\n", "\t", " - ", " • ", "&", "+", " & ", "  ", ". ", ": ", "><", "、"]
)
WORDS = st.from_regex(r"[a-z]{1,5}", fullmatch=True)


def is_one_item(text, examples=()):
    """Return whether a text becomes a list of itself, where the items have these examples."""
    return read_as(array({**STRING, "examples": list(examples)}), text, "scalar_to_array") == [text]


@given(ANY_TEXT, st.lists(ANY_TEXT, max_size=4))
def test_no_text_raises(text, examples):
    """Any text has an answer, even lone surrogates."""
    assert is_one_item(text, examples) in {True, False}


@given(st.lists(WORDS, min_size=2, max_size=4), PARTING)
def test_a_known_item_is_one_item(words, parting):
    """A text with signs that part items is one item if it is a known one."""
    text = parting.join(words)
    assert is_one_item(text, [text])
    assert read_as(array({"enum": [text, "other"]}), text, "scalar_to_array") == [text]


@given(st.lists(WORDS, min_size=2, max_size=4), PARTING)
def test_text_with_separators_is_not_one_item(words, parting):
    """Words joined by anything but a single space, a slash or a sign used in names may be several items."""
    assert not is_one_item(parting.join(words))


@given(st.lists(WORDS, min_size=2, max_size=4, unique=True), st.sampled_from([" ", "/"]), st.data())
def test_text_with_a_known_item_is_not_one_item(words, parting, data):
    """Text that contains a known item, in any case, may be several items."""
    known = data.draw(st.sampled_from(words))
    text = parting.join(words)
    assume(text != "n/a")
    assert is_one_item(text)
    assert not is_one_item(text, [known.upper()])


@each_row(
    "text",
    [
        "a " * 100_000,
        "a" * 200_000,
        "a+" * 100_000,
        "'" * 200_000,
        "https://" + "a/" * 100_000,
        "/:" * 100_000,
    ],
)
def test_long_texts_take_linear_time(text):
    """The check of a long text is fast, however many items are known."""
    started = time.process_time()
    is_one_item(text)
    is_one_item(text, [f"a b{number}" for number in range(1_000)])
    assert time.process_time() - started < 2


@each_row(("text", "is_one"))
def test_signs_distinguish_one_item_from_several(text, is_one):
    """Letters, digits and the signs of names and URIs belong to one item. Other signs may separate items."""
    assert is_one_item(text) is is_one


@each_row(("characters", "is_one"), [(2**16, True), (2**16 + 1, False)])
def test_text_too_long_to_search_may_contain_a_known_item(characters, is_one):
    """Text of up to 65,536 characters is searched for known items. Without those its length is irrelevant."""
    text = "a" * characters
    assert is_one_item(text, ["b"]) is is_one
    assert is_one_item(text)
