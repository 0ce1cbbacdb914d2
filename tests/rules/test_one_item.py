"""Whether a text is certainly one item of a list."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lenient.rules.rules import one_item

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)
PARTING = st.sampled_from(
    [",", ";", "|", "\n", "\t", " - ", " • ", "&", "+", " & ", "  ", ". ", ": ", "><", "、"]
)
WORDS = st.from_regex(r"[a-z]{1,5}", fullmatch=True)


@given(ANY_TEXT, st.lists(ANY_TEXT, max_size=4), st.lists(ANY_TEXT, max_size=4))
def test_no_text_raises(text, members, examples):
    """Every text has an answer, lone surrogates included; a known item alone is one item."""
    is_one = one_item(members, examples)
    assert is_one(text) in {True, False}
    assert all(one_item([member], [])(member) for member in members)
    assert all(one_item([], [example])(example) for example in examples)


@given(st.lists(WORDS, min_size=2, max_size=4), PARTING)
def test_text_with_separators_is_not_one_item(words, parting):
    """Words joined by anything but a single space, a slash or a sign used in names may be several items."""
    assert not one_item((), ())(parting.join(words))


@given(st.lists(WORDS, min_size=2, max_size=4, unique=True), st.sampled_from([" ", "/"]), st.data())
def test_text_with_a_known_item_is_not_one_item(words, parting, data):
    """A text that contains a known item may be several, in any case."""
    known = data.draw(st.sampled_from(words))
    text = parting.join(words)
    assert one_item((), ())(text)
    assert not one_item((), [known.upper()])(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "a " * 500_000,
        "a" * 1_000_000,
        "a+" * 500_000,
        "'" * 1_000_000,
        "https://" + "a/" * 500_000,
        "/:" * 500_000,
    ],
    ids=["words", "word", "plus", "quotes", "uri", "paths"],
)
def test_long_texts_take_linear_time(text):
    """No text of a megabyte makes the check run away, however many items are known."""
    started = time.process_time()
    one_item((), ())(text)
    one_item([f"a{number} b" for number in range(1_000)], [f"a b{number}" for number in range(1_000)])(text)
    assert time.process_time() - started < 2
