"""``LenientMiddleware(warm=True)`` loads modules and tools at the first message, not the first wrong call."""

import json
import subprocess
import sys
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import Middleware

from mcp_lenient import LenientMiddleware, lenient

FIRST_WRONG_CALLS = """
import asyncio, json, sys
from fastmcp import Client, FastMCP
from mcp_lenient import LenientMiddleware

server = FastMCP("notes", middleware=[LenientMiddleware(warm=json.loads(sys.argv[1]))])

@server.tool
def store(text: str, tags: list[str] | None = None, limit: int = 5) -> str:
    return text

async def main():
    async with Client(server) as client:
        await client.call_tool("store", {"text": "a"})
        before = set(sys.modules)
        for tags in ('["a"]', 5):
            await client.call_tool("store", {"text": "a", "tags": tags}, raise_on_error=False)
        print(json.dumps([name for name in set(sys.modules) - before if name.startswith("mcp_lenient")]))

asyncio.run(main())
"""


def store(text: str) -> str:
    """Store a text."""
    return text


@pytest.mark.slow
@pytest.mark.parametrize("warm", [True, False])
def test_the_first_wrong_calls_import_nothing(warm):
    """With ``warm``, the first repair and refusal import no modules; without it they do."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", FIRST_WRONG_CALLS, json.dumps(warm)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (json.loads(done.stdout) == []) is warm


@pytest.mark.parametrize("warm", [True, False])
async def test_every_tool_is_compiled_at_the_first_message(warm, events):
    """With ``warm``, an unreadable schema is logged when a client connects, before any call."""
    server = FastMCP("notes", middleware=[LenientMiddleware(warm=warm)], tools=[store])
    tool: Any = await server.get_tool("store")
    tool.parameters["properties"]["text"] = {"$ref": "https://example.com/text.json"}
    async with Client(server) as client:
        await client.list_resources()
    assert [event["event"] for event in events] == (["tool_not_compiled"] if warm else [])


async def test_warming_runs_no_code_of_the_author(events):
    """Declared normalizers do not run before the first call."""
    ran: list[object] = []
    tool = lenient(text=ran.append)(store)
    server = FastMCP("notes", middleware=[LenientMiddleware(warm=True)], tools=[tool])
    async with Client(server) as client:
        await client.list_resources()
    assert ran == []
    assert events == []


class _NoList(Middleware):
    """A middleware that refuses to list tools."""

    def __init__(self) -> None:
        self.asked = 0

    async def on_list_tools(self, context, call_next):  # noqa: ARG002 - FastMCP names them
        self.asked += 1
        msg = "no list"
        raise ToolError(msg)


async def test_warming_does_not_use_the_tool_list_of_other_middleware(events):
    """The client connects even if another middleware refuses to list tools, since its hook is not called."""
    refusing = _NoList()
    server = FastMCP("notes", middleware=[LenientMiddleware(warm=True), refusing], tools=[store])
    async with Client(server) as client:
        assert await client.list_resources() == []
    assert refusing.asked == 0
    assert events == []
