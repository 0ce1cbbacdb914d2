"""Plain types: what their quick check accepts, Pydantic accepts."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from sampling import examples

from mcp_lenient import fastmcp_private


class Row(BaseModel):
    """Fields of every plain kind, and itself."""

    number: int
    text: str
    ratio: float = 1.0
    tags: list[str] = []
    below: Row | None = None


class Closed(BaseModel):
    """A model that takes nothing else."""

    model_config = ConfigDict(extra="forbid")

    number: Annotated[int, Field(ge=0, alias="No")]


def scalars(a: int, b: str, c: float = 1.0, d: bool = False, e: int | None = None): ...  # noqa: FBT002
def containers(a: list[Row], b: dict[str, int] | None = None, c: Closed | None = None, d: Any = None): ...
def bounded(
    a: Annotated[int, Field(ge=1, lt=5)], b: Annotated[str, Field(max_length=3)] = "", c: int | str = 1
): ...
def chosen(a: Literal["x", "y"], b: Annotated[list[float], Field(min_length=1)] | None = None): ...


def _probe(function):
    return fastmcp_private.probe(function, run_in_thread=True)


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


@pytest.mark.parametrize(
    "function", [scalars, containers, bounded, chosen], ids=lambda function: function.__name__
)
@settings(max_examples=examples(300), deadline=None)
@given(data=st.data())
def test_what_the_quick_check_accepts_pydantic_accepts(function, data):
    """Whatever plain types a function has, the quick check accepts nothing that Pydantic refuses."""
    probe = _probe(function)
    arguments = data.draw(st.dictionaries(_KEYS, _JSON, max_size=5))
    assert probe.plain is not None
    if probe.plain(arguments):
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
def test_an_ordinary_call_is_accepted_quickly(function, arguments):
    """Right arguments of plain types need no object built to be accepted."""
    assert _probe(function).plain(arguments)


def _pattern(a: Annotated[str, Field(pattern="a+")]): ...
def _validated(a: Annotated[int, BeforeValidator(int)]): ...
def _multiple(a: Annotated[float, Field(multiple_of=0.1)]): ...
def _set(a: set[int]): ...
def _literal(a: Literal[1]): ...


@pytest.mark.parametrize(
    "function", [_pattern, _validated, _multiple, _set, _literal], ids=lambda function: function.__name__
)
def test_types_that_say_more_have_no_quick_check(function):
    """Where JSON Schema could not say all that Pydantic asks, only Pydantic judges."""
    assert _probe(function).plain is None


def test_a_strict_server_asks_pydantic_alone():
    """The quick check speaks of lax mode; strict mode refuses 7.0 for an integer, which it would take."""
    probe = _probe(scalars)
    assert probe.plain({"a": 7.0, "b": ""})
    with pytest.raises(ValidationError):
        probe.strict({"a": 7.0, "b": ""})
