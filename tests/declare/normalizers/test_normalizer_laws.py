"""Test the laws of every ready-made normalizer with any JSON value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from declare.normalizers.marked import EACH
from hypothesis import example, given
from hypothesis import strategies as st
from tables import each_row

from mcp_lenient import normalizers
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
ROWS = json.loads(Path(__file__).with_name("test_ready_made.json").read_text(encoding="utf-8"))


def deep(levels, wrap):
    value = "a"
    for _ in range(levels):
        value = wrap(value)
    return value


def inside(value: Any) -> Iterator[Any]:
    """Yield a JSON value and all values in it; of each text also that with its first character repeated."""
    yield value
    if isinstance(value, str):
        yield value[:1] + value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from inside(each)


def normalized(normalize, value):
    """Return the normalizer's result in a list, or an empty list if it refuses."""
    try:
        return [normalize(value)]
    except NormalizationError:
        return []


def check_the_laws(normalize, value):
    """Check that the normalizer refuses, or that its result is stable; and that its input is as it was."""
    before = json.dumps(value)
    for once in normalized(normalize, value):
        assert json.dumps(value) == before
        after = json.dumps(once)
        assert json.dumps(normalized(normalize, once)) == f"[{after}]"
    assert json.dumps(value) == before


def test_each_public_normalizer_is_tried():
    """The laws below hold for every public normalizer: ``aliases`` is for names, ``from_function`` for an author's own."""
    assert {each.__name__ for each in EACH} == {*normalizers.__all__} - {"aliases", "from_function"}


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
    check_the_laws(normalize, value)


@each_row("normalize", EACH)
def test_the_laws_hold_for_the_values_of_all_rows(normalize):
    """They hold for each value in ``test_ready_made.json``, and for each text with its first character repeated."""
    for value in inside(ROWS):
        check_the_laws(normalize, value)


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
