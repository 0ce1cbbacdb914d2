"""The quick check of plain types accepts only values that Pydantic accepts."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field
from sampling import examples

from mcp_lenient.adapters.fastmcp import compat

pytestmark = pytest.mark.slow


class Row(BaseModel):
    """A row with fields of every plain type."""

    number: int
    text: str
    ratio: float = 1.0
    tags: list[str] = []
    kind: Literal["new", "old"] | None = None
    rest: dict[str, Any] | None = None


class Below(BaseModel):
    """A recursive model."""

    rows: list[Below] = []


class Closed(BaseModel):
    """A model that forbids extra fields."""

    model_config = ConfigDict(extra="forbid")
    number: int


def rows(a: list[Row], *, b: dict[str, int] | None = None, c: bool = True): ...


RIGHT = {
    "a": [{"number": 1, "text": "", "tags": ["x"], "kind": "old", "rest": {"k": None}}],
    "b": {},
    "c": False,
}
_JSON = [0, -1, True, None, "", "x", "new", 1.0, 5.5, 1e300, 2**63, 10**400, math.nan, math.inf, "\ud800"]
_EDGES = st.sampled_from([*_JSON, (), ("a",), b"a", {1: 2}, [], {}])
_KEYS = st.sampled_from(["a", "b", "c", "number", "text", "ratio", "tags", "kind", "rest"])


def _nearly(right):
    """Generate the valid value with any part left out or replaced."""
    if isinstance(right, dict):
        parts = {name: _nearly(part) for name, part in right.items()}
        whole = st.fixed_dictionaries(parts) | st.fixed_dictionaries({}, optional=parts)
        whole |= st.tuples(whole, _KEYS, _EDGES).map(lambda made: {**made[0], made[1]: made[2]})
    elif isinstance(right, list):
        whole = st.tuples(*map(_nearly, right)).map(list) | st.tuples(*map(_nearly, right))
    else:
        whole = st.just(right)
    return st.one_of(st.just(right), whole, whole, _EDGES)


def _probe(function):
    return compat.probe(function, run_in_thread=True)


@settings(max_examples=examples(300), deadline=None)
@given(arguments=_nearly(RIGHT))
def test_quick_check_accepts_only_what_pydantic_accepts(arguments):
    """The quick check accepts nothing that Pydantic refuses."""
    probe = _probe(rows)
    if probe.is_surely_right(arguments):
        probe.lax(arguments)


def test_ordinary_calls_are_accepted_quickly():
    """The quick check accepts valid arguments of plain types, also without the optional ones."""
    for arguments in (RIGHT, {"a": [{"number": 7.0, "text": "", "more": 1}]}):
        assert _probe(rows).is_surely_right(arguments)


def _scalars(a: list[int]): ...
def _recursive(a: list[Below]): ...
def _forbidding(a: list[Closed]): ...
def _limited(a: list[Row], b: Annotated[str, Field(max_length=3)] = ""): ...
def _validated(a: list[Row], b: Annotated[int, BeforeValidator(int)] = 1): ...
def _numbered(a: list[Row], b: Literal[1] = 1): ...
def _filled(a: list[Row], b: Annotated[list[str], Field(default_factory=list)]): ...
def _renamed(a: Annotated[list[Row], Field(validation_alias=AliasChoices("a", "b"))]): ...
def _aliased(a: Annotated[list[Row], Field(alias="b")]): ...
def _keyed(a: dict[int, Row]): ...


@pytest.mark.parametrize(
    "function",
    [_scalars, _recursive, _forbidding, _limited, _validated, _numbered, _filled, _renamed, _aliased, _keyed],
    ids=lambda function: function.__name__,
)
def test_other_types_have_no_quick_check(function):
    """Only Pydantic validates types that it takes as quickly, or that are more than plain."""
    assert _probe(function).is_surely_right is None
