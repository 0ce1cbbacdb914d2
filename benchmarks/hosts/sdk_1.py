"""Send the calls to servers on the official SDK 1 with its client, in one process, and print the answers.

Runs in an environment with ``mcp<2``.
"""

# mypy: ignore-errors

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

from mcp import McpError, types
from mcp.server.fastmcp import FastMCP
from mcp.server.lowlevel import Server
from mcp.shared.memory import create_connected_server_and_client_session

from benchmarks.hosts.calls import SCHEMA, SmokeCall, store
from benchmarks.hosts.log import reported
from mcp_lenient import Policy
from mcp_lenient.adapters.mcp_sdk import make_lenient


def functions() -> FastMCP:
    """Return a server whose tools are functions."""
    server = make_lenient(FastMCP("notes", log_level="ERROR"))
    server.tool(structured_output=False)(store)
    return server


def low_level() -> Server:
    """Return a server that publishes schemas, against which the SDK validates."""
    server = Server("notes")

    @server.list_tools()
    async def list_tools() -> list[types.Tool]:
        return [types.Tool(name="store", inputSchema=dict(SCHEMA))]

    @server.call_tool()
    async def call_tool(_name: str, arguments: dict[str, Any]) -> list[types.TextContent]:
        return [types.TextContent(type="text", text=json.dumps(store(**arguments)))]

    return make_lenient(server, Policy(unrepairable="refuse"))


SERVERS = {"functions": functions, "low_level": low_level}


async def answer(session: Any, call: SmokeCall) -> dict[str, Any]:
    """Send one call unchanged, and return the protocol result."""
    params = types.CallToolRequestParams.model_construct(name=call.tool, arguments=call.arguments)
    request = types.ClientRequest.model_construct(
        root=types.CallToolRequest.model_construct(method="tools/call", params=params)
    )
    try:
        result = await session.send_request(request, types.CallToolResult)
    except McpError as error:
        return {"error": str(error)}
    return result.model_dump(by_alias=True, exclude_none=True, mode="json")


async def answers(kind: str) -> Mapping[str, Any]:
    """Return the answer and the events of each call."""
    server = SERVERS[kind]()
    async with create_connected_server_and_client_session(getattr(server, "_mcp_server", server)) as session:
        return await reported(partial(answer, session))


if __name__ == "__main__":
    print(json.dumps(asyncio.run(answers(sys.argv[1]))))
