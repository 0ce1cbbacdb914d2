"""Send the calls to servers on the official SDK 2 with its client, in one process, and print the answers."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

from mcp import Client, MCPError
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult, ListToolsResult, Request, TextContent, Tool

from benchmarks.hosts.calls import SCHEMA, SmokeCall, store
from benchmarks.hosts.log import reported
from mcp_lenient import Policy
from mcp_lenient.adapters.mcp_sdk import LenientServerMiddleware


def functions() -> MCPServer:
    """Return a server whose tools are functions."""
    server = MCPServer("notes", middleware=[LenientServerMiddleware()])
    server.tool(structured_output=False)(store)
    return server


def low_level() -> Server[Any]:
    """Return a server that publishes schemas, and runs every call."""

    async def list_tools(_ctx: object, _params: object) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name="store", input_schema=dict(SCHEMA))])

    async def call_tool(_ctx: object, params: Any) -> CallToolResult:
        text = json.dumps(store(**params.arguments))
        return CallToolResult(content=[TextContent(type="text", text=text)])

    server: Server[Any] = Server("notes", on_list_tools=list_tools, on_call_tool=call_tool)
    server.middleware.append(LenientServerMiddleware(Policy(unrepairable="refuse")))
    return server


SERVERS = {"functions": functions, "low_level": low_level}


async def answer(client: Any, call: SmokeCall, prefix: str = "") -> dict[str, Any]:
    """Send one call unchanged, and return the protocol result."""
    request = Request[dict[str, Any], str](
        method="tools/call", params={"name": prefix + call.tool, "arguments": call.arguments}
    )
    try:
        result = await client.session.send_request(request, CallToolResult)
    except MCPError as error:
        return {"error": str(error)}
    return result.model_dump(by_alias=True, exclude_none=True, mode="json")


async def answers(kind: str) -> Mapping[str, Any]:
    """Return the answer and the events of each call."""
    async with Client(SERVERS[kind]()) as client:
        return await reported(partial(answer, client))


if __name__ == "__main__":
    print(json.dumps(asyncio.run(answers(sys.argv[1]))))
