"""Test how JSON values are named, compared, measured and pointed at."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Any

import jsonpatch
import pytest
from hypothesis import given
from strategies import LOOSE_JSON, Json
from tables import INTEGER, STRING, closed, each_row, read_as

from mcp_lenient import Limits, Policy, normalize

NOTHING: Json = {"not": {}}


class _Level(IntEnum):
    LOW = 1


class _Text(str):
    __slots__ = ()


@each_row(
    ("value", "name"),
    [
        ("a", "string"),
        (1, "integer"),
        (1.5, "number"),
        (True, "boolean"),
        (None, "null"),
        ([], "array"),
        ({}, "object"),
        (_Level.LOW, "integer"),
    ],
)
def test_a_violation_names_the_type(value: Any, name: str) -> None:
    """Each value has its JSON Schema type name. A subclass has the name of its base."""
    (violation,) = normalize(closed("p", p=NOTHING), {"p": value}).violations
    assert violation.received_type == name


@each_row(("left", "right", "same"))
def test_values_are_compared_as_json(left: Any, right: Any, same: bool) -> None:
    """A value is the only allowed one if both are equal in JSON, even if Python disagrees."""
    for one, other in ((left, right), (right, left)):
        assert (
            not normalize(closed("p", p={"const": one}), {"p": other}, Policy.strict()).violations
        ) is same


@given(LOOSE_JSON)
def test_each_value_equals_itself(value: Any) -> None:
    """Every value is accepted as the only allowed one."""
    assert read_as({"const": value}, value) is value


def beyond(arguments: Mapping[str, Any], **limits: int) -> bool:
    """Return whether arguments that no schema takes are refused for their size."""
    (violation, *_) = normalize(closed("p", p=NOTHING), arguments, Policy(limits=Limits(**limits))).violations
    return violation.code == "size"


@each_row(
    ("value", "limit", "most"),
    [
        pytest.param([[[]]], "depth", 4, id="depth"),
        pytest.param({"a": {"b": {}}}, "depth", 4, id="depth of objects"),
        pytest.param([1, 2, 3], "items", 5, id="items"),
        pytest.param({"a": 1, "b": 2}, "items", 4, id="entries"),
        pytest.param("a" * 9, "bytes", 10, id="text"),
        pytest.param(_Text("a" * 9), "bytes", 10, id="text of a subclass"),
        pytest.param({"a" * 9: ""}, "bytes", 10, id="key"),
        pytest.param(MappingProxyType({"ab": "c"}), "bytes", 4, id="key of a mapping"),
        pytest.param(10**50, "bytes", 56, id="digits"),
        pytest.param([None, True, 1.5, _Level.LOW], "bytes", 33, id="other scalars"),
        pytest.param(("ab", ()), "bytes", 3, id="tuple"),
    ],
)
def test_arguments_beyond_a_limit_are_refused_for_their_size(value: Any, limit: str, most: int) -> None:
    """The arguments count too: one level and one value more, and the characters of the name."""
    assert not beyond({"p": value}, **{limit: most})
    assert beyond({"p": value}, **{limit: most - 1})


@each_row(
    ("key", "pointer"),
    [
        ("a", "/p/a"),
        ("a~b", "/p/a~0b"),
        ("a/b", "/p/a~1b"),
        ("~1", "/p/~01"),
        ("a/~b", "/p/a~1~0b"),
        ("", "/p/"),
    ],
)
def test_a_pointer_escapes_tildes_and_slashes(key: str, pointer: str) -> None:
    """Keys in a pointer are escaped as in RFC 6901, in violations, repairs and fixes."""
    schema = closed("p", p=closed(**{key: INTEGER, "other": STRING}))
    (violation,) = normalize(schema, {"p": {key: "x"}}).violations
    assert violation.pointer == pointer
    assert [each.pointer for each in normalize(schema, {"p": {key: "5"}}).repairs] == [pointer]
    sent = {"p": {key: "n/a"}}
    (violation,) = normalize(schema, sent).violations
    assert jsonpatch.apply_patch(sent, [dict(each) for each in violation.fixes[0]]) == {"p": {}}
