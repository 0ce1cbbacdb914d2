"""Run one conversation of langchain-mcp-adapters, in the format that conversation.mjs describes."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from langchain_core.tools import BaseTool
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools


def connected(connection: dict[str, Any]) -> dict[str, Any]:
    """Return the connection as the adapters expect it."""
    if "url" in connection:
        return {"transport": "streamable_http", "url": connection["url"]}
    command, *arguments = connection["command"]
    return {"transport": "stdio", "command": command, "args": arguments, "env": dict(os.environ)}


def published(tool: BaseTool) -> dict[str, Any]:
    """Return what an agent sees of a tool."""
    metadata = dict(tool.metadata or {})
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.args_schema,
        "metadata": metadata,
    }


async def outcome(tools: dict[str, BaseTool], call: dict[str, Any]) -> dict[str, Any]:
    """Return the outcome of an agent's tool call."""
    sent = {"type": "tool_call", "id": "1", "name": call["name"], "args": call["arguments"]}
    try:
        message = await tools[call["name"]].ainvoke(sent)
    except Exception as error:  # noqa: BLE001 - the test checks any exception
        return {"thrown": repr(error)}
    result = {"content": message.content, "isError": message.status == "error"}
    if message.artifact is not None:
        result["structuredContent"] = message.artifact["structured_content"]
    return {"result": result}


async def converse(job: dict[str, Any]) -> dict[str, Any]:
    """Make all calls in one session."""
    client = MultiServerMCPClient({"notebook": connected(job["connection"])})
    async with client.session("notebook") as session:
        tools = {tool.name: tool for tool in await load_mcp_tools(session)}
        outcomes = {label: await outcome(tools, call) for label, call in job["calls"].items()}
    return {"tools": [published(tool) for tool in tools.values()], "outcomes": outcomes}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(converse(json.loads(sys.argv[1])))))  # noqa: T201 - the answer
