"""Test the laws of every ready-made normalizer with any JSON value."""

from __future__ import annotations

import json

import pytest
from declare.normalizers.marked import EACH
from hypothesis import example, given
from hypothesis import strategies as st

from mcp_lenient.errors import NormalizationError
from mcp_lenient.normalizers import lower, upper

TEXT = st.text(st.characters(exclude_categories=()), max_size=20) | st.sampled_from(
    [
        '["a", "b"]',
        "['a']",
        "a, b",
        "null",
        "01/02/2024",
        "31 Jan 2024",
        "1e5",
        "-0",
        "[",
        '"',
        "none",
        "Open",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=10,
)


def deep(levels, wrap):
    value = "a"
    for _ in range(levels):
        value = wrap(value)
    return value


def normalized(normalize, value):
    """Return the normalizer's result in a list, or an empty list if it refuses."""
    try:
        return [normalize(value)]
    except NormalizationError:
        return []


@pytest.mark.parametrize("normalize", EACH, ids=repr)
@given(value=JSON)
@example(value="\ud800")
@example(value=["\ud800\udfff", "\udfff"])
@example(value="9" * 10_000)
@example(value="[" * 10_000)
@example(value='["a",' * 10_000)
@example(value=10**4000)
def test_normalizers_are_idempotent_and_pure(normalize, value):
    """A normalizer refuses, or its result is stable, and it never changes its input."""
    before = json.dumps(value)
    for once in normalized(normalize, value):
        assert json.dumps(value) == before
        after = json.dumps(once)
        assert json.dumps(normalized(normalize, once)) == f"[{after}]"
    assert json.dumps(value) == before


@pytest.mark.parametrize("normalize", EACH, ids=repr)
@pytest.mark.parametrize(
    "wrap", [lambda inner: [inner], lambda inner: {"a": inner}], ids=["lists", "objects"]
)
def test_values_deeper_than_the_stack_are_normalized(normalize, wrap):
    """Values nested more deeply than Python's stack are handled."""
    value = deep(5_000, wrap)
    normalized(normalize, value)
    while isinstance(value, (list, dict)):  # freeing it at once would overflow the stack
        value = value[0] if isinstance(value, list) else value["a"]


@pytest.mark.parametrize("between", ["", "a"], ids=["bare", "in-words"])
@pytest.mark.parametrize("normalize", [lower(), upper()], ids=repr)
def test_case_normalizers_are_idempotent_for_every_character(normalize, between):
    """Lowercasing or uppercasing twice equals once, for every character."""
    once = normalize(between.join(map(chr, range(0x110000))))
    assert normalize(once) == once
