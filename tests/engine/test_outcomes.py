"""Recorded outcomes of every value for every kind of parameter.

Any change in the engine's behavior shows up as a changed line in a file. If the change is intended, run
``pytest tests/engine/test_outcomes.py --force-regen`` to rewrite the files, and review them with the code.
The laws and the tables of the rules check that the lines are correct.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Literal

import pytest
from damage import damages, whole_damages
from decisions import contract, records, refusals
from fastmcp.tools import Tool
from fastmcp_versions import NO_JSON, since
from judged import TYPES, VALUES, many, typed
from pydantic import BaseModel, ConfigDict, Field
from strategies import TEXTS

from mcp_lenient import Decision


class _Filter(BaseModel):
    field_name: str
    op: Literal["eq", "not_eq", "in"] = "eq"
    values: list[str] = []
    limit: int | None = None


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    page_size: int = 10
    sort_by: list[str] = []
    filters: list[_Filter] = []
    parent: _Closed | None = None


class _Circle(BaseModel):
    kind: Literal["circle"]
    radius: float


class _Square(BaseModel):
    kind: Literal["square"]
    side: int
    corner_radius: float = 0


class _Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str
    dry_run: bool = False


def _search(
    query: str,
    max_results: int = 10,
    tags: list[str] | None = None,
    mode: Literal["fast", "slow"] = "fast",
    exact: bool = False,  # noqa: FBT002 - callers name it
) -> None: ...


def _order(
    lines: list[_Filter], options: _Closed | None = None, weights: dict[str, float] | None = None
) -> None: ...


def _draw(
    shape: _Circle | _Square, label: str = "", opacity: Annotated[float, Field(ge=0, le=1)] = 1
) -> None: ...


def _shapes(shapes: list[Annotated[_Circle | _Square, Field(discriminator="kind")]]) -> None: ...


def _open(what: _Open, others: list[_Open] = []) -> None: ...  # noqa: B006 - read only


def _either(
    ids: list[int] | int, text_or_list: str | list[str] = "", at: dict[str, Any] | None = None
) -> None: ...


def _only(filter: _Closed) -> None: ...  # noqa: A002 - a name that callers use


def _matrix(rows: list[list[int]], names: list[Literal["a_b", "c"]] | None = None) -> None: ...


TOOLS = [
    pytest.param(
        _search,
        [
            {"query": "q", "max_results": 5, "tags": ["a", "b"], "mode": "slow", "exact": True},
            {"query": "1,2"},
        ],
        id="search",
    ),
    pytest.param(
        _order,
        [
            {
                "lines": [{"field_name": "f", "op": "not_eq", "values": ["v"], "limit": 3}],
                "options": {"page_size": 1, "sort_by": ["f"], "parent": {"page_size": 2}},
                "weights": {"a": 0.5},
            }
        ],
        id="order",
        marks=pytest.mark.slow,
    ),
    pytest.param(
        _draw,
        [
            {"shape": {"kind": "circle", "radius": 1.5}, "label": "l", "opacity": 0.5},
            {"shape": {"kind": "square", "side": 2, "corner_radius": 1}},
        ],
        id="draw",
    ),
    pytest.param(
        _shapes,
        [{"shapes": [{"kind": "circle", "radius": 1}, {"kind": "square", "side": 2}]}],
        id="shapes",
        marks=pytest.mark.slow,
    ),
    pytest.param(
        _open, [{"what": {"name": "n", "dry_run": True, "more": 1}, "others": [{"name": "m"}]}], id="open"
    ),
    pytest.param(_either, [{"ids": [1, 2], "text_or_list": ["a"], "at": {"x": 1}}, {"ids": 7}], id="either"),
    pytest.param(_only, [{"filter": {"page_size": 3, "filters": [{"field_name": "f"}]}}], id="only"),
    pytest.param(_matrix, [{"rows": [[1, 2], [3]], "names": ["a_b"]}], id="matrix"),
    pytest.param(many, [{"x": [1], "z": True, "y": "red", "W": 4}], id="many", marks=since(4, 1, NO_JSON)),
]
"""Tools, each with valid calls."""

_TWICE = 150
"""The number of twice damaged calls per tool, chosen evenly among all possible ones."""

SENT = [*VALUES[:-3], *(text for text in TEXTS if text not in VALUES)]


def _written(tool: Tool, calls: Sequence[Mapping[str, Any]]) -> str:
    """Return the outcomes of calls by each validator. Further validators list only differences."""
    by_schema = _outcomes(contract(tool.parameters), calls)
    by_tool = _outcomes(contract(tool), calls)
    by_strict = _outcomes(contract(tool, strict=True), calls)
    by_careful = _outcomes(contract(tool, destructive=True), calls)
    return (
        f"# By schema\n{_grouped(by_schema)}"
        f"\n# By a function, where that is not the same\n{_grouped(by_tool, by_schema)}"
        f"\n# On a strict server, where that is not as on a lax one\n{_grouped(by_strict, by_tool)}"
        f"\n# Marked destructive, where that is not as unmarked\n{_grouped(by_careful, by_tool)}"
    )


def _outcomes(asked: Any, calls: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    return {json.dumps(sent): _said(sent, asked.decide(sent)) for sent in calls}


def _grouped(outcomes: Mapping[str, str], known: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return each outcome above the calls that lead to it."""
    groups: dict[str, list[str]] = defaultdict(list)
    for sent, said in outcomes.items():
        if known.get(sent) != said:
            groups[said].append(sent)
    return "".join(f"\n{said}\n    {f'{chr(10)}    '.join(group)}\n" for said, group in groups.items())


def _said(sent: Mapping[str, Any], decision: Decision) -> str:
    if decision.status == "accepted":
        return "as it is"
    if decision.status == "repaired":
        return "; ".join([json.dumps(decision.arguments), *records(decision)])
    parts = ["refused", *map(ascii, refusals(decision)), *records(decision)]
    if decision.arguments != sent:
        parts.append(f"as {json.dumps(decision.arguments, default=str)}")
    return "; ".join(parts)


@since(4, 1, NO_JSON)
@pytest.mark.parametrize("annotation", TYPES.values(), ids=TYPES)
def test_every_value_for_a_type(annotation, request, file_regression):
    """The outcomes of values of every kind for a required parameter of this type."""
    written = _written(typed(annotation), [{"x": value} for value in SENT])
    file_regression.check(written, basename=request.node.callspec.id)


@pytest.mark.parametrize(("function", "right"), TOOLS)
def test_every_damage_to_a_call(function, right, request, file_regression):
    """The outcomes of a valid call of this tool after one or two kinds of damage."""
    tool = Tool.from_function(function, name="tool")
    file_regression.check(_written(tool, _damaged(tool, right)), basename=request.node.callspec.id)


def _damaged(tool: Tool, right: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    once = [
        new for call in right for new in (*_damages(tool, call), *(each for _, each in whole_damages(call)))
    ]
    twice = [new for call in once for new in _damages(tool, call)]
    return [*right, *once, *twice[:: len(twice) // _TWICE + 1]]


def _damages(tool: Tool, call: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return (new for _, new in damages(tool.parameters, tool.parameters, call) if isinstance(new, dict))
