"""Test type names, equality, size and pointers of JSON values."""

from __future__ import annotations

from enum import IntEnum
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from strategies import LOOSE_JSON
from tables import each_row

from mcp_lenient.values.json_values import (
    ParsedInteger,
    has_many,
    holds_many,
    is_shallow,
    json_type,
    measured,
    nests_less,
    pointer,
    rounds,
    same_json,
    takes_long,
    tokens_of,
)
from mcp_lenient.values.limits import Limits


class _Level(IntEnum):
    LOW = 1


class _Text(str):
    __slots__ = ()


@each_row(
    ("value", "name"),
    [
        ("a", "string"),
        (1, "integer"),
        (1.0, "number"),
        (True, "boolean"),
        (None, "null"),
        ([], "array"),
        ({}, "object"),
        (_Level.LOW, "integer"),
    ],
)
def test_json_type_names_every_type(value: Any, name: str) -> None:
    """Each value has its JSON Schema type name. A subclass has the name of its base."""
    assert json_type(value) == name


@each_row(
    ("left", "right", "same"),
    [
        pytest.param(1, 1.0, True, id="1 and 1.0"),
        pytest.param(1, True, False, id="1 and true"),
        pytest.param(0, False, False, id="0 and false"),
        pytest.param("1", 1, False, id="text and number"),
        pytest.param(None, False, False, id="null and false"),
        pytest.param([1], [True], False, id="in a list"),
        pytest.param({"a": [1]}, {"a": [1.0]}, True, id="in an object"),
        pytest.param({"a": 1}, {"a": 1, "b": 2}, False, id="one more key"),
        pytest.param([1, 2], [1], False, id="one more item"),
        pytest.param([], {}, False, id="empty containers"),
        pytest.param(2**53 + 1, float(2**53), False, id="beyond doubles"),
    ],
)
def test_same_json_compares_as_json(left: Any, right: Any, same: bool) -> None:
    """Values are equal if they are equal in JSON, even if Python disagrees."""
    assert same_json(left, right) is same
    assert same_json(right, left) is same


@given(LOOSE_JSON)
def test_same_json_is_reflexive(value: Any) -> None:
    """Every value is equal to itself."""
    assert same_json(value, value)


@each_row(
    ("value", "limits", "beyond"),
    [
        pytest.param({"a": "bcd"}, {}, None, id="small"),
        pytest.param([[[]]], {"depth": 2}, "depth", id="depth"),
        pytest.param([1, 2, 3], {"items": 3}, "items", id="items"),
        pytest.param([1, 2, 3], {"items": 3, "depth": 2}, "items", id="items, with the depth at its limit"),
        pytest.param(["a" * 9], {"bytes": 8}, "bytes", id="text"),
        pytest.param([_Text("a" * 9)], {"bytes": 8}, "bytes", id="text of a subclass"),
        pytest.param({"a" * 9: ""}, {"bytes": 8}, "bytes", id="key"),
        pytest.param(10**50, {"bytes": 8}, "bytes", id="digits"),
        pytest.param([None] * 9, {"bytes": 8}, "bytes", id="nulls"),
        pytest.param([[]], {"depth": 2}, None, id="depth at the limit"),
        pytest.param([1, 2, 3], {"items": 4}, None, id="items at the limit"),
        pytest.param(["a" * 8], {"bytes": 8}, None, id="text at the limit"),
    ],
)
def test_measured_names_the_first_exceeded_limit(
    value: Any, limits: dict[str, int], beyond: str | None
) -> None:
    """The first limit that a value exceeds is named."""
    assert measured(value, Limits(**limits)).beyond == beyond


@each_row(
    ("value", "characters", "items"),
    [
        ("ab", 2, 1),
        (_Text("ab"), 2, 1),
        ({"ab": "c"}, 3, 2),
        (MappingProxyType({"ab": "c"}), 3, 2),
        ({1: "c"}, 9, 2),
        (MappingProxyType({1: "c"}), 9, 2),
        (["ab", []], 2, 3),
        (("ab", ()), 2, 3),
        (2**30, 10, 1),
        (1.5, 8, 1),
        (True, 8, 1),
        (None, 8, 1),
        (_Level.LOW, 8, 1),
        (object(), 8, 1),
    ],
)
def test_measured_counts_characters_and_values(value: Any, characters: int, items: int) -> None:
    """A subclass of a JSON type counts like that type. Short numbers and other scalars count as eight."""
    assert measured(value, Limits())[:2] == (characters, items)


@each_row(
    ("arguments", "many"),
    [
        ({"a": [0] * 98}, False),
        ({"a": [0] * 99}, True),
        ({"a": [[0] * 49, [0] * 48]}, True),
        ({"a": [[0] * 48, [0] * 48]}, False),
        ({"a": {str(n): 0 for n in range(98)}}, False),
        ({"a": MappingProxyType({str(n): 0 for n in range(99)})}, True),
        ({"a": "x" * 9_999}, False),
        ({"x" * 9_999: 1}, False),
        ({"x" * 10_001: 1}, True),
        ({"a": "x" * 5_000, "b": ["x" * 5_001]}, True),
    ],
)
def test_holds_many_counts_values_and_characters_at_any_depth(arguments: Any, many: bool) -> None:
    """More than 100 values, including the arguments object, or more than 10,000 characters are many."""
    assert holds_many(arguments) is many


@each_row(
    ("arguments", "long"),
    [
        ({"a": [0] * 100, "b": "x" * 10_000}, False),
        ({"a": [0] * 101}, True),
        ({str(n): 0 for n in range(100)}, False),
        ({str(n): 0 for n in range(101)}, True),
        ({"a": 0, "b": "x" * 10_001}, True),
    ],
)
def test_takes_long_looks_at_the_top_level(arguments: Any, long: bool) -> None:
    """Many arguments, an argument with many values, or long text take long."""
    assert takes_long(arguments) is long


def test_measured_stops_in_a_list_that_contains_itself() -> None:
    """A value that contains itself ends at the depth limit."""
    value: list[Any] = []
    value.append(value)
    assert measured(value, Limits()).beyond == "depth"


@each_row(
    ("value", "levels"),
    [
        pytest.param(1, 0, id="scalar"),
        pytest.param([], 1, id="empty"),
        pytest.param([[1]], 2, id="list"),
        pytest.param({"a": {"b": [1]}}, 3, id="object"),
        pytest.param((1, [2, [3]]), 3, id="uneven"),
    ],
)
def test_nests_less_counts_levels(value: Any, levels: int) -> None:
    """A value nests in as many levels as it has, and not in one fewer."""
    assert nests_less(value, levels)
    assert not nests_less(value, levels - 1)


@pytest.mark.parametrize("place", [lambda each: each, lambda each: [0, each], lambda each: {"a": [each]}])
def test_rounds_finds_an_integer_anywhere(place: Any) -> None:
    """An integer parsed from text that a double would round is found in lists and objects."""
    assert rounds(place(ParsedInteger(9007199254740993)))
    assert not rounds(place(ParsedInteger(9007199254740992)))


@pytest.mark.parametrize("of", [lambda count: [None] * count, lambda count: dict.fromkeys(range(count))])
def test_has_many_counts_the_values_of_an_argument(of: Any) -> None:
    """An argument has many values if it is a list or object of more than a hundred."""
    assert not has_many({"a": of(100), "b": "text"})
    assert has_many({"a": "text", "b": of(101)})


def _nested(levels: int, inner: Any) -> Any:
    for _ in range(levels):
        inner = [inner]
    return inner


@each_row(
    ("value", "shallow"),
    [
        (_nested(1_000, 1), True),
        (_nested(5_000, 1), False),
        (object(), True),
        (_nested(1_000, object()), True),
        (_nested(1_001, object()), False),
        ({"a": object(), "b": (_nested(1_000, 1),)}, False),
    ],
)
def test_a_shallow_value_has_at_most_a_thousand_levels_or_is_plain(value: Any, shallow: bool) -> None:
    """A value of plain JSON types is shallow if Python can write it. Otherwise its levels are counted."""
    assert is_shallow(value) is shallow


@each_row("key", ["a", "a~b", "a/b", "~1", "a/~b", ""])
def test_a_key_survives_a_pointer_round_trip(key):
    """A key escaped in a JSON Pointer is read back unchanged."""
    assert tokens_of(pointer(("rows", key, 0))) == ["rows", key, "0"]


@each_row(("key", "escaped"), [("a~b", "/a~0b"), ("a/b", "/a~1b")])
def test_a_pointer_escapes_tildes_and_slashes(key, escaped):
    """Keys in a pointer are escaped as in RFC 6901."""
    assert pointer((key,)) == escaped
