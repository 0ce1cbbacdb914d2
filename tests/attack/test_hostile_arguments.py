"""Test law 7 with hostile arguments: each is refused in bounded time, by ``normalize`` and by tools of both kinds."""

from __future__ import annotations

from time import process_time
from typing import Annotated, Any

import pytest
from fastmcp import FastMCP
from pydantic import BaseModel, Field

from benchmarks.servers import RecordingTool
from mcp_lenient import LenientMiddleware, Policy, normalize
from tests.shared.hostile import ARGUMENTS, Hostile

_ANSWERED_WITHIN = 2.0
"""Seconds of processor time, a generous bound. A failure would take minutes or never end."""

_LARGE = ("100,000", "uniqueItems, 100,000", "5 MB")
each_case = pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.title[:60], marks=[pytest.mark.slow] * case.title.startswith(_LARGE))
        for case in ARGUMENTS
    ],
)


class Node(BaseModel):
    """A recursive model."""

    value: int
    children: list[Node] = []


async def tool(
    x: list[str] | None = None,
    node: Node | None = None,
    number: int = 0,
    code: Annotated[str, Field(pattern="^(a+)+$")] = "a",
) -> str:
    """A function for the same values."""
    return f"{x}{node}{number}{code}"


@each_case
def test_arguments_are_refused_soon(case: Hostile):
    """The engine refuses them, or finds the one harmless reading."""
    sent = case.arguments()
    started = process_time()
    result = normalize(case.schema, sent)
    assert process_time() - started < _ANSWERED_WITHIN
    assert result.violations or case.may_run


@pytest.mark.slow
@each_case
async def test_tools_refuse_them_soon(case: Hostile):
    """A tool of which only the schema is known refuses them, and a function the value that fits its parameter."""
    server = FastMCP[Any]("hostile", middleware=[LenientMiddleware(policy=Policy(unrepairable="refuse"))])
    server.add_tool(RecordingTool.noting("known by its schema", case.schema, []))
    server.tool(tool)
    calls = {"known by its schema": case.arguments()}
    if case.parameter:
        calls["tool"] = {case.parameter: case.arguments()["x"]}
    for name, sent in calls.items():
        started = process_time()
        result = await server.call_tool(name, sent)
        assert process_time() - started < _ANSWERED_WITHIN
        assert result.is_error or case.may_run
