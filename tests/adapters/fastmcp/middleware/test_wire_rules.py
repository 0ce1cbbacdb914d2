"""What clients receive: envelopes, repairs and unchanged tools. Logs and envelopes contain no secrets."""

from __future__ import annotations

import json
import logging
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from calls import Log, call, envelope, lenient, plain, published, text
from fastmcp import Client, FastMCP
from fastmcp.tools import Tool
from fastmcp_versions import in_era, not_on_3
from pydantic import BaseModel, Field, SecretStr

from mcp_lenient import LenientMiddleware, Policy


class _Point(BaseModel):
    """A point."""

    x: int
    tags: list[str] = []


class _Kind(Enum):
    NOTE = "note"
    TASK = "task"


def typed(tags: list[str], point: _Point | None = None) -> dict[str, Any]:
    """Return the arguments, with an output schema."""
    return {"tags": tags, "point": point}


def untyped(tags: list[str], kind: _Kind = _Kind.NOTE, mode: Literal["a", "b"] = "a"):
    """Return the arguments, without an output schema."""
    return [tags, kind, mode]


def secretive(name: str, password: SecretStr, api_key: str, limit: Annotated[int, Field(le=10)] = 5) -> None:
    """Take secrets."""


@pytest.mark.parametrize("function", [typed, untyped])
async def test_the_envelope_is_in_content_meta_and_structured_content(function):
    """The structured content has the envelope only if the tool has no output schema."""
    refused = await call(lenient(function), function.__name__, {"tags": 5})
    assert refused.is_error
    assert [block.type for block in refused.content] == ["text"]
    reported = refused.meta["mcp_lenient"]
    assert json.loads(text(refused))["message"] == reported["message"]
    assert refused.structured_content == (None if function is typed else reported)


async def test_the_envelope_for_an_unknown_tool_is_structured():
    """The structured content has the envelope, since an unknown tool has no output schema."""
    refused = await call(lenient(typed), "nothing", {})
    assert refused.structured_content == refused.meta["mcp_lenient"] == envelope(refused)


async def test_the_envelope_uses_json_words():
    """The envelope contains no Python or Pydantic jargon and no URL."""
    sent = {"tags": None, "point": {"x": None}, "other": None}
    said = text(await call(lenient(typed), "typed", sent))
    for jargon in ("pydantic", "http", "validation error", "input_value", "None", "Traceback"):
        assert jargon not in said


def _servers(*, with_middleware: bool) -> list[FastMCP]:
    tools = [
        Tool.from_function(typed, version="1"),
        Tool.from_function(untyped, annotations={"destructiveHint": True}),
        Tool.from_function(secretive, meta={"mine": 1}, tags={"a"}),
        published(n={"type": "float", "x-mine": [1]}),
    ]
    own = plain(*tools)
    child, parent = plain(*tools, name="child"), plain(name="parent")
    parent.mount(child, namespace="ns")
    servers = [own, child, parent]
    for server in servers if with_middleware else ():
        server.add_middleware(LenientMiddleware())
    return [own, parent]


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_the_tool_list_stays_unchanged(mode):
    """Before and after calls, ``tools/list`` is byte for byte the same with and without the middleware."""
    for alone, server in zip(_servers(with_middleware=False), _servers(with_middleware=True), strict=True):
        async with Client(alone, **in_era(mode)) as client:
            expected = [tool.model_dump_json() for tool in await client.list_tools()]
        async with Client(server, **in_era(mode)) as client:
            assert [tool.model_dump_json() for tool in await client.list_tools()] == expected
            for tool in await client.list_tools():
                for arguments in ({"tags": '["a"]'}, {"n": "1"}, {"tags": 5}, {}):
                    await client.call_tool_mcp(tool.name, arguments)
            assert [tool.model_dump_json() for tool in await client.list_tools()] == expected


SECRET = "hunter2hunter2"  # noqa: S105 - a secret of these tests only
CALLS: list[Any] = [
    ("secretive", {"name": [[SECRET]], "password": [SECRET], "api_key": "k", "limit": SECRET}),
    ("typed", {"tags": f'["{SECRET}"]'}),
    ("typed", {"tags": f'["{SECRET}", 5', "point": f"x is {SECRET}"}),
    ("untyped", {"tags": [], "kind": SECRET, "mode": SECRET}),
    ("own", {"n": 5, f'"{SECRET}': 1}),
]


@pytest.mark.parametrize(
    "policy",
    [
        pytest.param(Policy(), id="repair"),
        pytest.param(
            Policy(mode="observe"), id="observe", marks=not_on_3("it logs the values of what it refuses")
        ),
        pytest.param(Policy.strict(), id="strict"),
    ],
)
async def test_logs_contain_no_values(policy, events: Log, caplog):
    """Neither the events nor FastMCP's own log lines at level INFO contain a sent value."""
    server = lenient(typed, untyped, secretive, published(n={"type": "integer"}), policy=policy)
    with caplog.at_level(logging.INFO):
        for tool, arguments in CALLS:
            await call(server, tool, arguments)
    assert len(events) == len(CALLS)
    assert SECRET not in json.dumps(events) + caplog.text
