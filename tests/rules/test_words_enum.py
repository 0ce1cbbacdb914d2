"""Test which enum member a text matches."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tables import REFUSED, enum, exactly, read_as, rows

NO_MATCH = REFUSED
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)
JSON_VALUE = st.recursive(
    # A schema with half a surrogate pair cannot be read, and takes anything.
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=30), inner, max_size=3),
    max_leaves=5,
)


def folded(values: list[Any], sent: str) -> Any:
    """Return the member of an enum that a text is read as; a lone member gets another beside it."""
    return read_as(enum(*values, *(["\u203b"] if len(values) < 2 else [])), sent, "fold_enum")


def test_a_text_is_folded_to_the_only_member():
    """A text matches the only member that differs just in spelling."""
    wrong = []
    for values, sent, *member in rows(__file__, "folded"):
        found = folded(values, sent)
        if exactly(found) != exactly(member[0] if member else NO_MATCH):
            wrong.append((values, sent, found))
    assert wrong == []


@given(st.lists(JSON_VALUE, max_size=5), ANY_TEXT)
def test_a_text_is_folded_to_members_only(values, sent):
    """The result is a member or none, and a member folds to itself."""
    found = folded(values, sent)
    if found is not NO_MATCH:
        assert any(type(member) is type(found) and member == found for member in values)
        assert folded(values, found) == found


@given(st.lists(ANY_TEXT, min_size=1, max_size=5, unique=True), st.data())
def test_exact_members_stay(values, data):
    """An exact member is never replaced by another."""
    member = data.draw(st.sampled_from(values))
    assert folded(values, member) == member


@given(
    st.lists(st.text("aAbB1-_ ", max_size=4), max_size=5, unique=True),
    st.text("aAbB1-_ \"'", max_size=6),
    st.randoms(),
)
def test_order_of_members_does_not_matter(values, sent, random):
    """The match does not depend on the order of the members."""
    assert folded(values, sent) == folded(random.sample(values, len(values)), sent)
