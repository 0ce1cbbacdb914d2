"""Create lenient servers, call them, and read their answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import Tool, ToolResult
from fastmcp_versions import NO_JSON, since
from mcp.types import CallToolRequestParams, CallToolResult, TextContent
from pydantic import PrivateAttr

from mcp_lenient import LenientMiddleware, Policy

on_both_servers = pytest.mark.parametrize("strict", [False, True], ids=["lax", "strict"])
"""Run a test on a lax server, which is the default, and on a strict one."""
on_servers_that_read_json = pytest.mark.parametrize(
    "strict", [pytest.param(False, id="lax"), pytest.param(True, id="strict", marks=since(4, 1, NO_JSON))]
)
"""Run a test on a lax server, and on a strict one that validates JSON: a date or an item of a set may be a text."""
lax_unless_slow = pytest.mark.parametrize(
    "strict", [pytest.param(False, id="lax"), pytest.param(True, id="strict", marks=pytest.mark.slow)]
)
"""Run a test on a lax server; a strict one is slow. It is for tables of many types or calls."""


class Log(list[dict[str, Any]]):
    """All logged events."""

    @property
    def names(self) -> list[str]:
        """Return the names of the events, in order."""
        return [event["event"] for event in self]


class Recorder(Middleware):
    """A middleware inside the lenient one that records the arguments of the calls that reach it."""

    def __init__(self) -> None:
        self.arguments: list[dict[str, Any] | None] = []

    async def on_call_tool(
        self, context: MiddlewareContext[CallToolRequestParams], call_next: CallNext[Any, ToolResult]
    ) -> ToolResult:
        self.arguments.append(context.message.arguments)
        return await call_next(context)


class Published(Tool):
    """A tool of an author's own class, which accepts and returns any arguments."""

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        return ToolResult(structured_content={"got": arguments})


class Recording(Tool):
    """A custom tool that publishes a schema, accepts any arguments and records them."""

    _received: list[Any] = PrivateAttr(default_factory=list)

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        self._received.append(arguments)
        return ToolResult(content="ran")


def published(name: str = "own", *, closed: bool = True, **properties: Any) -> Published:
    """Return a tool that is known only by its schema. All its parameters are required."""
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return Published(name=name, parameters=schema | ({"additionalProperties": False} if closed else {}))


def plain(*tools: Tool | Callable[..., Any], name: str = "server", strict: bool = False) -> FastMCP:
    """Return a server with these tools and no middleware."""
    server: FastMCP = FastMCP(name, strict_input_validation=strict)
    for tool in tools:
        server.add_tool(tool)
    return server


def lenient(
    *tools: Tool | Callable[..., Any],
    policy: Policy | None = None,
    patterns: Mapping[str, Policy] | None = None,
    name: str = "server",
    strict: bool = False,
) -> FastMCP:
    """Return a server with these tools and the middleware."""
    server = plain(*tools, name=name, strict=strict)
    server.add_middleware(LenientMiddleware(policy, tools=patterns))
    return server


async def call(
    server: FastMCP, tool: str, arguments: Mapping[str, Any], *, version: str | None = None
) -> CallToolResult:
    """Return the result of a client's call."""
    meta = None if version is None else {"fastmcp": {"version": version}}
    async with Client(server) as client:
        return await client.call_tool_mcp(tool, dict(arguments), meta=meta)


def text(result: CallToolResult | ToolResult) -> str:
    """Return the text for the model."""
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text


def got(result: CallToolResult | ToolResult) -> Any:
    """Return the value that a tool returned."""
    assert not result.is_error, text(result)
    content = result.structured_content
    if content is None:
        return json.loads(text(result))
    return content["result"] if content.keys() == {"result"} else content


def envelope(result: CallToolResult | ToolResult) -> dict[str, Any]:
    """Return the envelope of a refused call."""
    assert result.is_error
    said: dict[str, Any] = json.loads(text(result))
    assert said["status"] == "error"
    # The text omits repetitions. Without ``_meta`` it is all there is.
    reported: dict[str, Any] = (result.meta or {}).get("mcp_lenient", said)
    assert (said["error_code"], said["message"]) == (reported["error_code"], reported["message"])
    return reported


def code(result: CallToolResult | ToolResult) -> str:
    """Return the error code of a refused call."""
    error_code: str = envelope(result)["error_code"]
    return error_code


def rules(result: CallToolResult | ToolResult) -> list[str]:
    """Return the rules of the repairs of a call that ran."""
    assert not result.is_error, text(result)
    return [repair["rule"] for repair in (result.meta or {}).get("mcp_lenient", {}).get("repairs", [])]
