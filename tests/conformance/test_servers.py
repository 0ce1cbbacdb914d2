"""The case table end to end: a client calls FastMCP servers whose tools have the cases' schemas."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from conformance.open_cases import OPEN, OPEN_IN_FUNCTIONS
from fastmcp import Client, FastMCP
from fastmcp.tools import Tool, ToolResult
from loop import UnsupportedError
from mcp_types import ToolAnnotations
from pydantic import PrivateAttr
from pydantic.json_schema import PydanticJsonSchemaWarning
from python_types import recording_function

from mcp_lenient import LenientMiddleware, Policy
from mcp_lenient.testing.conformance import Case, Reply, load_cases, verdict
from mcp_lenient.values.json_values import same_json

CASES = [
    case
    for case in load_cases(Path(__file__).parent.parent / "cases")
    if isinstance(case.arguments, dict) and case.id not in OPEN
]
NAME = "tool"

pytestmark = pytest.mark.slow


class Recording(Tool):
    """A custom tool: it publishes a schema and takes whatever reaches it."""

    _received: list[Any] = PrivateAttr(default_factory=list)

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        self._received.append(arguments)
        return ToolResult(content="ran")


def _policy(case: Case) -> Policy:
    return Policy(
        aliases={name: tuple(others) for name, others in case.declared.get("aliases", {}).items()},
        drop=frozenset(case.declared.get("drop", ())),
        unrepairable="refuse",
    )


def _annotations(case: Case) -> ToolAnnotations:
    return ToolAnnotations(destructive_hint=case.destructive)


async def _reply(server: FastMCP, case: Case, received: list[Any]) -> Reply:
    async with Client(server) as client:
        result = await client.call_tool_mcp(NAME, dict(case.arguments))
    if received:
        return Reply("ran", received[0])
    told = (result.meta or {}).get("mcp_lenient", {})
    found = told.get("details", {}).get("violations", ())
    return Reply("refused", codes=frozenset(each["code"] for each in found) if found else None)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
async def test_a_tool_that_is_known_by_its_schema(case):
    """A custom tool gets what the case says, or its caller the envelope with acceptable codes."""
    tool = Recording(name=NAME, parameters=dict(case.schema), annotations=_annotations(case))
    server = FastMCP("custom", middleware=[LenientMiddleware(policy=_policy(case))])
    server.add_tool(tool)
    reply = await _reply(server, case, tool._received)
    assert verdict(case, reply) == "right", (case.why, reply)


async def _called(case: Case, *, strict: bool, lenient: bool) -> Reply:
    server = FastMCP("functions", strict_input_validation=strict)
    if lenient:
        server.add_middleware(LenientMiddleware(policy=_policy(case)))
    recorder = recording_function(case.schema)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PydanticJsonSchemaWarning)
        server.tool(recorder.function, name=NAME, output_schema=None, annotations=_annotations(case))
    reply = await _reply(server, case, recorder.received)
    return Reply("ran", recorder.plain(reply.arguments)) if reply.outcome == "ran" else reply


def _param(case: Case) -> Any:
    reason = OPEN_IN_FUNCTIONS.get(case.id)
    return pytest.param(
        case, id=case.id, marks=[pytest.mark.xfail(reason=reason, strict=True)] if reason else []
    )


@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
@pytest.mark.parametrize("case", [_param(case) for case in CASES])
async def test_a_function(case, strict):
    """A function gets what FastMCP alone would give it, and where that refuses, what the case says."""
    try:
        alone = await _called(case, strict=strict, lenient=False)
    except UnsupportedError as reason:
        pytest.skip(f"no Python function has this schema: {reason}")
    reply = await _called(case, strict=strict, lenient=True)
    if alone.outcome == "ran":
        assert reply.outcome == "ran"
        assert same_json(reply.arguments, alone.arguments)
    else:
        assert verdict(case, reply) == "right", (case.why, reply)
