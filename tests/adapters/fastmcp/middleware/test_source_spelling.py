"""A number parsed from text and passed to a string parameter keeps its spelling, for every kind of tool."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.server import create_proxy
from fastmcp.tools import Tool, ToolResult
from fastmcp.tools.tool_transform import ArgTransform
from fastmcp_versions import RAW, not_on_3
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp.types import CallToolResult, Request
from pydantic import BaseModel

from mcp_lenient import LenientMiddleware, Policy, lenient, normalize
from mcp_lenient.normalizers import tags

RECEIVED: list[Any] = []


class Release(BaseModel, extra="forbid"):
    """A model with strings at several depths."""

    version: str
    tags: list[str] = []
    labels: dict[str, str] = {}


def _tools(server: FastMCP) -> FastMCP:
    @server.tool
    def function(version: str = "", tags: list[str] | None = None, release: Release | None = None) -> str:
        RECEIVED.append({"version": version, "tags": tags, "release": release and release.model_dump()})
        return "done"

    return server


def _lenient(*, strict: bool = False) -> FastMCP:
    server = FastMCP("spelling", strict_input_validation=strict)
    server.add_middleware(LenientMiddleware(policy=Policy(unrepairable="refuse")))
    return server


def _function() -> FastMCP:
    return _tools(_lenient())


def _strict() -> FastMCP:
    return _tools(_lenient(strict=True))


def _mounted() -> FastMCP:
    server = _lenient()
    server.mount(_tools(FastMCP("child")))
    return server


def _proxied() -> FastMCP:
    server = _lenient()
    server.mount(create_proxy(_tools(FastMCP("upstream"))))
    return server


def _transformed() -> FastMCP:
    server = _lenient()
    hidden = _tools(FastMCP("hidden"))
    parent = next(iter(hidden._local_provider._components.values()))
    server.add_tool(
        Tool.from_tool(
            parent, name="function", transform_args={"version": ArgTransform(description="a version")}
        )
    )
    return server


def _decorated() -> FastMCP:
    server = FastMCP("decorated")

    @server.tool
    @lenient
    def function(version: str = "", tags: list[str] | None = None, release: Release | None = None) -> str:
        RECEIVED.append({"version": version, "tags": tags, "release": release and release.model_dump()})
        return "done"

    return server


def _declared() -> FastMCP:
    server = _lenient()

    @server.tool
    @lenient(tags=tags())
    def function(version: str = "", tags: list[str] | None = None, release: Release | None = None) -> str:
        RECEIVED.append({"version": version, "tags": tags, "release": release and release.model_dump()})
        return "done"

    return server


class _Custom(Tool):
    """A tool without an accessible validator."""

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Record the arguments."""
        RECEIVED.append(arguments)
        return ToolResult(content="done")


def _custom() -> FastMCP:
    server = _lenient()
    release = Release.model_json_schema()
    schema = {
        "type": "object",
        "properties": {
            "version": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "release": release,
        },
        "additionalProperties": False,
    }
    server.add_tool(_Custom(name="function", parameters=schema))
    return server


KINDS = [_function, _strict, _mounted, _proxied, _transformed, _declared, _custom]
SPELLINGS = [
    "3.140",
    "1.250",
    "0.10",
    "-0.0",
    "1.0",
    "10.00",
    "1e2",
    "1E+2",
    "7",
    "1.50e-3",
]


async def _received(server: FastMCP, arguments: Any) -> Any:
    """Return what the tool's body got, or None for a refused call."""
    RECEIVED.clear()
    async with Client(server) as client:
        if isinstance(arguments, str):
            params = {"name": "function", "arguments": arguments}
            request = Request[dict[str, Any], str](method="tools/call", params=params)
            await client.session.send_request(request, CallToolResult)
        else:
            await client.call_tool("function", arguments, raise_on_error=False)
    return RECEIVED[0] if RECEIVED else None


@pytest.mark.parametrize("spelling", ["3.140", "1.250", "1e2", "-0.0"])
@pytest.mark.parametrize("kind", [*KINDS, _decorated])
async def test_a_list_in_text_keeps_its_spelling(kind: Any, spelling: str) -> None:
    """Numbers in a list sent as text keep their spelling in a list of strings."""
    received = await _received(kind(), {"tags": f"[{spelling}, 1]"})
    assert received["tags"] == [spelling, "1"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "arguments",
    [
        {"input": '{"version": 3.140}'},
        {"args": '{"Version": 3.140}'},
        {"Version": 3.14, "arguments": 1},
        '{"version": 3.140}',
        '{"VERSION": 3.140}',
        "{'version': 3.140,}",
        json.dumps('{"version": 3.140}'),
    ],
    ids=[
        "in a wrapper",
        "renamed",
        "not text",
        "whole",
        "whole and renamed",
        "whole and relaxed",
        "encoded twice",
    ],
)
async def test_arguments_in_text_keep_their_spelling(kind: Any, arguments: Any) -> None:
    """Arguments sent as text keep their spelling when they are unwrapped or renamed."""
    received = await _received(kind(), arguments)
    if isinstance(arguments, dict) and "arguments" in arguments:
        assert received is None
    else:
        assert received["version"] == "3.140"


@pytest.mark.parametrize("kind", [*KINDS, _decorated])
async def test_a_model_in_text_keeps_its_spelling(kind: Any) -> None:
    """Numbers at every depth of an object sent as text keep their spelling."""
    text = '{"version": 3.140, "tags": [1.250, 2], "labels": {"a": 0.10}}'
    received = await _received(kind(), {"release": text})
    assert received["release"] == {"version": "3.140", "tags": ["1.250", "2"], "labels": {"a": "0.10"}}


def test_normalize_keeps_the_spelling_of_raw_arguments() -> None:
    """``normalize`` keeps the spelling of arguments sent as one text."""
    schema = {"type": "object", "properties": {"version": {"type": "string"}}, "additionalProperties": False}
    assert normalize(schema, '{"Version": 3.140}').arguments == {"version": "3.140"}
    assert type(normalize({"type": "object"}, '{"n": 3.140}').arguments["n"]) is float


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    spellings=st.lists(st.sampled_from(SPELLINGS), min_size=1, max_size=4),
    wrap=st.sampled_from(["plain", "input", "whole", "renamed", "twice"]),
)
@not_on_3(RAW)
async def test_every_spelling_survives(kind: Any, spellings: list[str], wrap: str) -> None:
    """The received strings are spelled as sent, for any kind of tool and any wrapper of the text."""
    listed = f"[{', '.join(spellings)}]"
    arguments: Any = {
        "plain": {"tags": listed},
        "input": {"input": f'{{"tags": {listed}}}'},
        "whole": f'{{"tags": {listed}}}',
        "renamed": {"Tags": listed},
        "twice": {"tags": json.dumps(listed)},
    }[wrap]
    received = await _received(kind(), arguments)
    assert received is None or received["tags"] == spellings
    assert received is not None
