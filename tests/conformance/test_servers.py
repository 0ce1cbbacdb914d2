"""Call FastMCP servers whose tools have the schemas of the case table."""

from __future__ import annotations

import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from calls import Recording
from fastmcp import Client, FastMCP
from mcp.types import ToolAnnotations
from pydantic.json_schema import PydanticJsonSchemaWarning
from strategies import same_json

from benchmarks.conformance import Case, Reply, load_cases, verdict
from benchmarks.signatures import UnsupportedError, plain, recording_function
from mcp_lenient import LenientMiddleware, Policy

CASES = [
    case for case in load_cases(Path(__file__).parent.parent / "cases") if isinstance(case.arguments, dict)
]
FILES = sorted({case.id.partition("/")[0] for case in CASES})

each_file = pytest.mark.parametrize("file", FILES)


def _named(file: str) -> dict[str, Case]:
    """Return the cases of a file by the names of their tools."""
    return {f"tool_{at}": case for at, case in enumerate(CASES) if case.id.partition("/")[0] == file}


def _middleware(cases: dict[str, Case]) -> LenientMiddleware:
    return LenientMiddleware(tools={name: _policy(case) for name, case in cases.items()})


def _policy(case: Case) -> Policy:
    return Policy(
        aliases={name: tuple(others) for name, others in case.declared.get("aliases", {}).items()},
        drop=frozenset(case.declared.get("drop", ())),
        unrepairable="refuse",
    )


def _annotations(case: Case) -> ToolAnnotations:
    return ToolAnnotations(destructiveHint=case.destructive)


async def _reply(client: Client[Any], name: str, case: Case, received: list[Any]) -> Reply:
    received.clear()
    result = await client.call_tool_mcp(name, dict(case.arguments))
    if received:
        return Reply("ran", received[0])
    reported = (result.meta or {}).get("mcp_lenient", {})
    found = reported.get("details", {}).get("violations", ())
    return Reply("refused", codes=frozenset(each["code"] for each in found) if found else None)


@each_file
async def test_tools_known_by_their_schema(file):
    """A custom tool gets the arguments that its case expects, or the caller gets acceptable codes."""
    cases = _named(file)
    server = FastMCP("custom", middleware=[_middleware(cases)])
    tools = {
        name: Recording(name=name, parameters=dict(case.schema), annotations=_annotations(case))
        for name, case in cases.items()
    }
    for tool in tools.values():
        server.add_tool(tool)
    wrong = {}
    async with Client(server) as client:
        for name, case in cases.items():
            reply = await _reply(client, name, case, tools[name]._received)
            if verdict(case, reply) != "right":
                wrong[case.id] = (case.why, reply)
    assert wrong == {}


async def _replies(file: str, *, strict: bool, lenient: bool) -> dict[str, Reply]:
    """Call the function of each case whose schema a Python function can express, on one server."""
    cases = _named(file)
    server = FastMCP("functions", strict_input_validation=strict)
    if lenient:
        server.add_middleware(_middleware(cases))
    received: list[Any] = []
    written = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PydanticJsonSchemaWarning)
        for name, case in cases.items():
            with suppress(UnsupportedError):
                function = recording_function(case.schema, received.append)
                server.tool(function, name=name, output_schema=None, annotations=_annotations(case))
                written.append(name)
    replies = {}
    async with Client(server) as client:
        for name in written:
            reply = await _reply(client, name, cases[name], received)
            replies[name] = Reply("ran", plain(reply.arguments)) if reply.outcome == "ran" else reply
    return replies


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
@each_file
async def test_functions(file, strict):
    """A function gets what FastMCP alone would pass. If FastMCP would refuse, the case decides."""
    cases = _named(file)
    alone = await _replies(file, strict=strict, lenient=False)
    wrong = {}
    for name, reply in (await _replies(file, strict=strict, lenient=True)).items():
        case = cases[name]
        if alone[name].outcome == "ran":
            right = reply.outcome == "ran" and same_json(reply.arguments, alone[name].arguments)
        else:
            right = verdict(case, reply) == "right"
        if not right:
            wrong[case.id] = (case.why, reply)
    assert wrong == {}
