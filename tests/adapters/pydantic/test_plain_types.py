"""The quick check of plain types accepts only values that Pydantic accepts."""

from __future__ import annotations

import math
from time import process_time_ns
from typing import Annotated, Any, Literal

import pytest
from fastmcp import FastMCP
from fastmcp_versions import NO_JSON, since
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field
from strategies import examples
from tables import each_row

from mcp_lenient import LenientMiddleware
from mcp_lenient.adapters.fastmcp import compat

strict_reads_json = since(4, 1, NO_JSON)


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


class Plain(BaseModel):
    """A row without a place for any value."""

    number: int
    text: str
    ratio: float = 1.0
    tags: list[str] = []
    kind: Literal["new", "old"] | None = None
    rest: dict[str, float] | None = None


def rows(a: list[Row], *, b: dict[str, int] | None = None, c: bool = True): ...
def plain_rows(a: list[Plain], *, b: dict[str, int] | None = None, c: bool = True): ...


RIGHT = {
    "a": [{"number": 1, "text": "", "tags": ["x"], "kind": "old", "rest": {"k": None}}],
    "b": {},
    "c": False,
}
PLAIN = {"a": [{**RIGHT["a"][0], "rest": {"k": 1.5}}], "b": {"k": 1}, "c": False}
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


def _deep(levels):
    return [] if levels == 0 else [_deep(levels - 1)]


def _probe(function, *, strict=False):
    return compat.probe(function, run_in_thread=True, strict=strict)


@settings(max_examples=examples(300), deadline=None)
@given(arguments=_nearly(RIGHT))
def test_quick_check_accepts_only_what_pydantic_accepts(arguments):
    """The quick check accepts nothing that Pydantic refuses."""
    probe = _probe(rows)
    if probe.is_surely_right(arguments):
        probe.validate(arguments)


@strict_reads_json
@settings(max_examples=examples(300), deadline=None)
@given(arguments=_nearly(PLAIN))
def test_strict_quick_check_accepts_only_what_fastmcp_accepts(arguments):
    """The quick check of a strict server accepts nothing that FastMCP refuses, which is any text of half a character."""
    probe = _probe(plain_rows, strict=True)
    if probe.is_surely_right(arguments):
        probe.validate(arguments)


@strict_reads_json
@each_row(
    "edge",
    [("a",), "\ud800", {"\ud800": 1}, {1: 2}, math.nan, math.inf, 10**400, 7.0, "7", b"a", _deep(300)],
)
def test_strict_edges_are_left_to_fastmcp(edge):
    """Wherever a value stands that strict servers may refuse or read otherwise, the quick check does not accept it."""
    probe = _probe(plain_rows, strict=True)
    for place in ("number", "text", "tags", "kind", "rest", "more"):
        arguments = {"a": [{"number": 1, "text": "", place: edge}]}
        if probe.is_surely_right(arguments):
            probe.validate(arguments)
    assert not probe.is_surely_right({"a": [{"number": 1, "text": ""}], "b": edge})
    assert not probe.is_surely_right({"a": [{"number": edge, "text": ""}]})


@strict_reads_json
async def test_a_long_list_costs_a_strict_server_little():
    """A call with thousands of rows takes at most 1.6 times as long with the middleware, on a strict server."""
    alone = FastMCP("alone", strict_input_validation=True)
    lenient = FastMCP("lenient", strict_input_validation=True, middleware=[LenientMiddleware()])
    times: dict[str, int] = {}
    for server in (alone, lenient):
        server.tool(plain_rows, name="rows")
    sent = {"a": [{"number": at, "text": f"row {at}"} for at in range(5_000)]}
    for server in (alone, lenient) * 15:
        started = process_time_ns()
        await server.call_tool("rows", sent)
        times[server.name] = min(process_time_ns() - started, times.get(server.name, 10**12))
    assert times["lenient"] < 1.6 * times["alone"]


def test_ordinary_calls_are_accepted_quickly():
    """The quick check accepts valid arguments of plain types, also without the optional ones."""
    for arguments in (RIGHT, {"a": [{"number": 7.0, "text": "", "more": 1}]}):
        assert _probe(rows).is_surely_right(arguments)


@strict_reads_json
def test_ordinary_strict_calls_are_accepted_quickly():
    """The quick check of a strict server accepts valid arguments of plain types, also without the optional ones."""
    for arguments in (PLAIN, {"a": [{"number": 7, "text": ""}]}):
        assert _probe(plain_rows, strict=True).is_surely_right(arguments)


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


@strict_reads_json
def test_a_place_for_any_value_has_no_strict_quick_check():
    """On strict servers FastMCP writes any value as JSON, and refuses what is too deep or no character."""
    assert _probe(rows, strict=True).is_surely_right is None
