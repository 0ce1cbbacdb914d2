"""Hosts with one tool and the settings of a test, each called as its callers do."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from adapters.raw_calls import raw_call
from fastmcp import Client, FastMCP
from fastmcp_versions import IS_3
from mcp.types import CallToolResult as Result
from mcp.types import ListToolsResult, TextContent, Tool
from tables import STRING, array, closed

from mcp_lenient import LenientCalls, LenientMiddleware, Policy, lenient_session


@dataclass(frozen=True)
class Answer:
    """What a caller gets."""

    status: str
    """``ran`` or ``refused``."""
    text: str = ""
    """The last text for the model, or the arguments that a hook lets through."""
    noted: dict[str, Any] = field(default_factory=dict)
    """What ``_meta`` has of the repairs or the refusal."""

    @property
    def rules(self) -> list[str]:
        """Return the rules that repaired the call, in order of their names."""
        return sorted(repair["rule"] for repair in self.noted.get("repairs", []))


Call = Callable[..., Awaitable[Answer]]
"""Takes arguments, an object or text, and the name of the tool, by default ``store``."""

SCHEMA = closed("text", text=STRING, tags=array(STRING))
REFUSING = Policy(unrepairable="refuse")


def store(text: str, tags: list[str] | None = None) -> str:
    """Store a text."""
    return f"{text}{tags or ''}"


@asynccontextmanager
async def fastmcp(**settings: Any) -> AsyncIterator[Call]:
    """Call a tool through FastMCP's middleware."""
    server: FastMCP = FastMCP("host", middleware=[LenientMiddleware(**settings)])
    server.tool(store)
    async with Client(server) as client:
        yield _through(client.call_tool_mcp, client)


@asynccontextmanager
async def session(**settings: Any) -> AsyncIterator[Call]:
    """Call a tool through a lenient client session, on a plain server."""
    server: FastMCP = FastMCP("open")
    server.tool(store)
    async with lenient_session(Client(server), REFUSING, **settings) as lenient:
        yield _through(lenient.call_tool_mcp)


@asynccontextmanager
async def proxy(**settings: Any) -> AsyncIterator[Call]:
    """Call a tool through a proxy."""
    from mcp_lenient import create_lenient_proxy

    server: FastMCP = FastMCP("host")
    server.tool(store)
    async with Client(create_lenient_proxy(server, **settings)) as client:
        yield _through(client.call_tool_mcp, client)


@asynccontextmanager
async def calls(**settings: Any) -> AsyncIterator[Call]:
    """Check calls as the hook of an agent framework."""
    lenient = LenientCalls(REFUSING, **settings)

    async def call(arguments: Any) -> Answer:
        made = lenient.check({"name": "store", "inputSchema": SCHEMA}, arguments)
        if made.refusal is None:
            return Answer(
                "ran", str(made.arguments), {"repairs": [{"rule": each.rule} for each in made.repairs]}
            )
        return Answer("refused", made.refusal, json.loads(made.refusal))

    yield call


@asynccontextmanager
async def sdk_functions(**settings: Any) -> AsyncIterator[Call]:
    """Call a function on a server of the official SDK 2."""
    from mcp.server.mcpserver import MCPServer

    from mcp_lenient.adapters.mcp_sdk import make_lenient

    server = make_lenient(MCPServer("host"), REFUSING, **settings)
    server.tool()(store)
    async with _sdk_client(server) as call:
        yield call


@asynccontextmanager
async def sdk_low_level(**settings: Any) -> AsyncIterator[Call]:
    """Call a low-level server of the official SDK 2."""
    from mcp.server import Server

    from mcp_lenient.adapters.mcp_sdk import LenientServerMiddleware

    async def list_tools(_ctx: Any, _params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name="store", input_schema=SCHEMA)])

    async def call_tool(_ctx: Any, params: Any) -> Result:
        return Result(content=[TextContent(type="text", text=store(**params.arguments))])

    server: Any = Server("host", on_list_tools=list_tools, on_call_tool=call_tool)
    server.middleware.append(LenientServerMiddleware(REFUSING, **settings))
    async with _sdk_client(server) as call:
        yield call


@asynccontextmanager
async def _sdk_client(server: Any) -> AsyncIterator[Call]:
    from mcp import Client as SdkClient

    async with SdkClient(server) as client:
        yield _through(client.call_tool, client)


def _through(call_tool: Callable[..., Awaitable[Any]], client: Any = None) -> Call:
    """Call tools by the method of a client; arguments that are no object are sent by its session."""

    async def send(tool: str, arguments: Any) -> Any:
        if client is None or isinstance(arguments, dict):
            return await call_tool(tool, arguments)
        return await raw_call(client, tool, arguments)

    async def call(arguments: Any, tool: str = "store") -> Answer:
        result = await send(tool, arguments)
        is_error = result.is_error if hasattr(result, "is_error") else result.isError
        noted = (result.meta or {}).get("mcp_lenient", {})
        return Answer("refused" if is_error else "ran", result.content[-1].text, noted)

    return call


ON_4 = [] if IS_3 else [sdk_functions, sdk_low_level, proxy]
HOSTS = [fastmcp, session, calls, *ON_4]
EACH = pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.__name__)
LISTING = pytest.mark.parametrize(
    "host", [each for each in HOSTS if each is not calls], ids=lambda host: host.__name__
)
"""All hosts except the one that knows only the called tool."""
