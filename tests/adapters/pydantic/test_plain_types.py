"""The quick check of plain types accepts only values that Pydantic accepts."""

from __future__ import annotations

import math
from collections import UserDict
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from sampling import examples

from mcp_lenient.adapters.fastmcp import compat

pytestmark = pytest.mark.slow


class Row(BaseModel):
    """A recursive model with fields of every plain type."""

    number: int
    text: str
    ratio: float = 1.0
    tags: list[str] = []
    below: Row | None = None


class Flat(BaseModel):
    """A row that is not recursive."""

    number: int
    text: str
    ratio: float = 1.0
    tags: list[str] = []


class Letter(str, Enum):
    """Strings of another type."""

    X = "x"


class Closed(BaseModel):
    """A model that forbids extra fields."""

    model_config = ConfigDict(extra="forbid")

    number: Annotated[int, Field(ge=0, alias="No")]


def scalars(a: int, b: str, c: float = 1.0, d: bool = False, e: int | None = None): ...  # noqa: FBT002
def containers(a: list[Row], b: dict[str, int] | None = None, c: Closed | None = None, d: Any = None): ...
def rows(a: list[Flat], b: dict[str, int] | None = None, c: Closed | None = None): ...
def limited(
    a: Annotated[int, Field(ge=1, le=5)], b: Annotated[str, Field(max_length=3)] = "", c: int | str = 1
): ...
def bounded(
    a: Annotated[int, Field(ge=1, lt=5)], b: Annotated[str, Field(max_length=3)] = "", c: int | str = 1
): ...
def chosen(a: Literal["x", "y"], b: Annotated[list[float], Field(min_length=1)] | None = None): ...


_RIGHT = {
    scalars: {"a": 1, "b": "x", "c": 2.5, "d": True, "e": None},
    rows: {
        "a": [{"number": 1, "text": "a", "tags": ["b"]}, {"number": 2, "text": "", "more": "c"}],
        "b": {"k": 3},
        "c": {"No": 4},
    },
    limited: {"a": 3, "b": "abc", "c": "x"},
    chosen: {"a": "x", "b": [1.5, 2]},
}
_DEEP: list[Any] = []
for _ in range(300):
    _DEEP = [_DEEP]


def _below(levels):
    """Return a row nested in this number of rows."""
    row = {"number": 1, "text": ""}
    for _ in range(levels):
        row = {"number": 1, "text": "", "below": row}
    return row


def _probe(function):
    return compat.probe(function, run_in_thread=True)


_EDGES = st.sampled_from(
    [
        0,
        1,
        4,
        5,
        -1,
        True,
        None,
        "",
        "x",
        "abcd",
        1.0,
        5.5,
        1e300,
        -0.0,
        2**53,
        2**63,
        10**400,
        math.nan,
        math.inf,
        "\ud800",
    ]
)
_KEYS = st.sampled_from(["a", "b", "c", "d", "e", "number", "text", "ratio", "tags", "below", "No", "k"])
_JSON = st.recursive(
    _EDGES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4)
)


def _nearly(right):
    """Generate the valid value with any part left out or replaced."""
    odd = _EDGES | st.sampled_from([Letter.X, (), ("a",), b"a", {1: 2}, _DEEP])
    if isinstance(right, dict):
        parts = {name: _nearly(part) for name, part in right.items()}
        whole = st.fixed_dictionaries(parts) | st.fixed_dictionaries({}, optional=parts)
        whole |= st.tuples(whole, _KEYS, odd).map(lambda made: {**made[0], made[1]: made[2]})
    elif isinstance(right, list):
        whole = st.tuples(*map(_nearly, right)).map(list) | st.tuples(*map(_nearly, right))
    else:
        whole = st.just(right)
    return st.one_of(st.just(right), whole, whole, odd)


@pytest.mark.parametrize(
    "function", [scalars, containers, bounded, chosen], ids=lambda function: function.__name__
)
@settings(max_examples=examples(300), deadline=None)
@given(data=st.data())
def test_quick_check_accepts_only_what_pydantic_accepts(function, data):
    """The quick check accepts nothing that Pydantic refuses."""
    probe = _probe(function)
    arguments = data.draw(st.dictionaries(_KEYS, _JSON, max_size=5))
    assert probe.plain.lax is not None
    if probe.plain.lax(arguments):
        probe.lax(arguments)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        pytest.param(scalars, {"a": 1, "b": "x", "c": 2.5, "d": True, "e": None}, id="scalars"),
        pytest.param(
            containers,
            {"a": [{"number": 1, "text": "", "below": {"number": 2, "text": ""}}]},
            id="recursive model",
        ),
        pytest.param(containers, {"a": [], "c": {"No": 3}}, id="alias"),
        pytest.param(bounded, {"a": 4, "b": "abc", "c": "x"}, id="bounds"),
        pytest.param(chosen, {"a": "x", "b": [1.5]}, id="literal"),
    ],
)
def test_ordinary_calls_are_accepted_quickly(function, arguments):
    """The quick check accepts valid arguments of plain types."""
    assert _probe(function).plain.lax(arguments)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        pytest.param(bounded, {"a": 4, "b": "\ud800"}, id="a lone surrogate where characters are counted"),
        pytest.param(containers, {"a": [_below(300)]}, id="deeper than Pydantic's limit"),
    ],
)
def test_quick_check_refuses_what_lax_pydantic_refuses(function, arguments):
    """Values that JSON Schema accepts and Pydantic refuses are left to Pydantic."""
    probe = _probe(function)
    assert not probe.plain.lax(arguments)
    with pytest.raises(ValidationError):
        probe.lax(arguments)


def _pattern(a: Annotated[str, Field(pattern="a+")]): ...
def _validated(a: Annotated[int, BeforeValidator(int)]): ...
def _multiple(a: Annotated[float, Field(multiple_of=0.1)]): ...
def _set(a: set[int]): ...
def _literal(a: Literal[1]): ...
def _rounded(a: Annotated[float, Field(lt=2**53 + 1)]): ...


@pytest.mark.parametrize(
    "function",
    [_pattern, _validated, _multiple, _set, _literal, _rounded],
    ids=lambda function: function.__name__,
)
def test_constrained_types_have_no_quick_check(function):
    """Only Pydantic validates types that JSON Schema cannot express fully."""
    plain = _probe(function).plain
    assert (plain.lax, plain.strict) == (None, None)


@pytest.mark.parametrize("function", [scalars, rows, limited, chosen], ids=lambda function: function.__name__)
@settings(max_examples=examples(300), deadline=None)
@given(data=st.data())
def test_strict_check_accepts_only_what_strict_pydantic_accepts(function, data):
    """The strict check accepts no JSON or Python objects that FastMCP refuses."""
    probe = _probe(function)
    arguments = data.draw(_nearly(_RIGHT[function]))
    assert probe.plain.strict is not None
    if probe.plain.strict(arguments):
        probe.strict(arguments)


@pytest.mark.parametrize("function", [scalars, rows, limited, chosen], ids=lambda function: function.__name__)
def test_valid_arguments_are_accepted_quickly_on_a_strict_server(function):
    """The strict check accepts valid arguments of plain types."""
    assert _probe(function).plain.strict(_RIGHT[function])


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        pytest.param(scalars, {"a": 7.0, "b": ""}, id="a float for an integer"),
        pytest.param(scalars, {"a": True, "b": ""}, id="a boolean for an integer"),
        pytest.param(scalars, {"a": 1, "b": "\ud800"}, id="a lone surrogate"),
        pytest.param(scalars, UserDict({"a": 1, "b": ""}), id="not a dict"),
        pytest.param(rows, {"a": ({"number": 1, "text": ""},)}, id="a tuple"),
        pytest.param(rows, {"a": [{"number": 1, "text": "", "tags": ("a",)}]}, id="a nested tuple"),
        pytest.param(rows, {"a": [{"number": 1, "text": "", "more": _DEEP}]}, id="too deep for JSON"),
        pytest.param(chosen, {"a": Letter.X}, id="an enum's member"),
    ],
)
def test_non_json_values_are_left_to_pydantic(function, arguments):
    """The strict check does not accept values that FastMCP may refuse as strict JSON."""
    assert not _probe(function).plain.strict(arguments)


def _exclusive(a: Annotated[int, Field(gt=1)]): ...
def _open(a: dict[str, Any]): ...
def _itself(a: Row): ...


@pytest.mark.parametrize("function", [_exclusive, _open, _itself], ids=lambda function: function.__name__)
def test_recursive_types_have_no_strict_check(function):
    """Recursive and open types, and limits that JSON Schema draft 4 cannot express, have no strict check."""
    plain = _probe(function).plain
    assert plain.lax is not None
    assert plain.strict is None
