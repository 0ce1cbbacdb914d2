"""A number parsed from text and passed to a string parameter keeps its spelling, for every kind of tool."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from adapters.raw_calls import raw_call
from calls import Published, lenient
from fastmcp import Client, FastMCP
from fastmcp.server import create_proxy
from fastmcp.tools import Tool, ToolResult
from fastmcp.tools.tool_transform import ArgTransform
from fastmcp_versions import IS_3
from pydantic import BaseModel

from mcp_lenient import Policy
from mcp_lenient import lenient as decorated
from mcp_lenient.normalizers import tags

REFUSE = Policy(unrepairable="refuse")


class Release(BaseModel, extra="forbid"):
    """A model with strings at several depths."""

    version: str
    tags: list[str] = []
    labels: dict[str, str] = {}


def store(version: str = "", tags: list[str] | None = None, release: Release | None = None) -> dict[str, Any]:
    """Return the arguments."""
    return {"version": version, "tags": tags, "release": release}


class _Custom(Published):
    """A tool without an accessible validator."""

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        return ToolResult(structured_content=arguments)


def _below(child: FastMCP) -> FastMCP:
    server = lenient(policy=REFUSE)
    server.mount(child)
    return server


def _transformed() -> FastMCP:
    changes = {"version": ArgTransform(description="a version")}
    return lenient(Tool.from_tool(Tool.from_function(store), transform_args=changes), policy=REFUSE)


KINDS: dict[str, Callable[[], FastMCP]] = {
    "function": lambda: lenient(store, policy=REFUSE),
    "strict": lambda: lenient(store, policy=REFUSE, strict=True),
    "mounted": lambda: _below(FastMCP("child", tools=[store])),
    "proxied": lambda: _below(create_proxy(FastMCP("upstream", tools=[store]))),
    "transformed": _transformed,
    "declared": lambda: lenient(decorated(tags=tags())(store), policy=REFUSE),
    "custom": lambda: lenient(_Custom(name="store", parameters=Tool.from_function(store).parameters)),
    "decorated": lambda: FastMCP("alone", tools=[decorated(store)]),
}
RELEASE = '{"version": 3.140, "tags": [1.250, 2], "labels": {"a": 0.10}}'
SENT: list[tuple[Any, dict[str, Any]]] = [
    ({"tags": "[3.140, 1e2, -0.0, 1]"}, {"tags": ["3.140", "1e2", "-0.0", "1"]}),
    ({"tags": json.dumps("[1.250]")}, {"tags": ["1.250"]}),
    ({"input": '{"version": 3.140}'}, {"version": "3.140"}),
    ({"args": '{"Version": 3.140}'}, {"version": "3.140"}),
    (
        {"release": RELEASE},
        {"release": {"version": "3.140", "tags": ["1.250", "2"], "labels": {"a": "0.10"}}},
    ),
]
WHOLE = ['{"version": 3.140}', '{"VERSION": 3.140}', "{'version': 3.140,}", json.dumps('{"version": 3.140}')]


@pytest.mark.parametrize("kind", KINDS)
async def test_parsed_numbers_keep_their_spelling(kind: str) -> None:
    """Numbers in text, at any depth and also as whole arguments, reach the body as they are spelled."""
    has_hook = kind != "decorated" and not IS_3
    whole = [(text, {"version": "3.140"}) for text in WHOLE] if has_hook else []
    async with Client(KINDS[kind]()) as client:
        for arguments, expected in (*SENT, *whole):
            result = await raw_call(client, "store", arguments)
            assert not result.is_error, result
            received = result.structured_content or {}
            assert {name: received[name] for name in expected} == expected
