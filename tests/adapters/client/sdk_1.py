"""A client of the official SDK 1 without FastMCP; ``test_sdk_1_client.py`` runs this file with that SDK."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp import ClientSession, McpError, types
from mcp.server.fastmcp import FastMCP, Image
from mcp.server.lowlevel import Server
from mcp.shared.memory import create_connected_server_and_client_session

from benchmarks.hosts.log import events_of
from mcp_lenient import Policy, dispatch, lenient_session
from mcp_lenient.results import LenientSession
from tests.adapters.running import print_outcomes, rules

PIXEL = b"\x89PNG\r\n\x1a\n"
MANY = 5


def search(query: str, tags: list[str] | None = None, limit: int = 3) -> str:
    """Search."""
    return f"{limit} of {query} {tags}"


def picture() -> Image:
    """Draw."""
    return Image(data=PIXEL, format="png")


@asynccontextmanager
async def connected(server: Any = None) -> AsyncIterator[ClientSession]:
    """Connect a session of the SDK to a server without mcp-lenient."""
    if server is None:
        server = FastMCP("web", log_level="CRITICAL")
        server.tool()(search)
        server.tool()(picture)
    async with create_connected_server_and_client_session(getattr(server, "_mcp_server", server)) as session:
        yield session


async def test_no_fastmcp_is_needed() -> None:
    """Calling through a session does not import FastMCP."""
    async with connected() as session:
        await dispatch(session, "no call")
    assert "fastmcp" not in sys.modules


async def test_a_session_repairs_what_it_sends() -> None:
    """Strings become numbers and lists before the call is sent; repairs are in the result and in the log."""
    async with connected() as session:
        with events_of() as events:
            result = await lenient_session(session).call_tool(
                "search", {"Query": "tea", "tags": "['a']", "limit": "2"}
            )
    assert result.content[0].text == "2 of tea ['a']"
    assert sorted(rules(result)) == ["json5_text_to_array", "rename_case", "text_to_integer"]
    assert [each["event"] for each in events] == ["call_repaired"]


async def test_server_refusals_become_envelopes() -> None:
    """The envelope replaces the server's error text; with ``refuse`` the call is not sent."""
    async with connected() as session:
        for policy in (None, Policy(unrepairable="refuse")):
            result = await lenient_session(session, policy).call_tool("search", {"query": "tea", "tags": 5})
            assert result.isError
            assert json.loads(result.content[0].text)["error_code"] == "INVALID_TAGS_TYPE"
            assert result.meta["mcp_lenient"]["error_code"] == "INVALID_TAGS_TYPE"


async def test_all_pages_of_tools_are_read() -> None:
    """All tools are found, however this version of the SDK passes the cursor."""
    server = Server("pages")
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}

    async def list_tools(request: types.ListToolsRequest) -> types.ServerResult:
        page = int(request.params.cursor) if request.params and request.params.cursor else 0
        tool = types.Tool(name=f"tool_{page}", inputSchema=schema)
        following = str(page + 1) if page + 1 < MANY else None
        return types.ServerResult(types.ListToolsResult(tools=[tool], nextCursor=following))

    server.request_handlers[types.ListToolsRequest] = list_tools
    async with connected(server) as session:
        assert list(await lenient_session(session).tools()) == [f"tool_{page}" for page in range(MANY)]


async def test_a_model_s_answer_becomes_results() -> None:
    """Ids are kept, arguments repaired, and an unknown tool is answered with an envelope."""
    answer = [
        {"type": "tool_use", "id": "1", "name": "search", "input": {"query": "tea", "limit": "2"}},
        {"type": "tool_use", "id": "2", "name": "picture", "input": {}},
        {"type": "tool_use", "id": "3", "name": "serch", "input": {}},
    ]
    async with connected() as session:
        done = await dispatch(session, answer)
    found, image, unknown = done.messages[0]["content"]
    assert found == {"type": "tool_result", "tool_use_id": "1", "content": "2 of tea None"}
    assert image["content"][-1]["source"]["media_type"] == "image/png"
    assert json.loads(unknown["content"])["error_code"] == "UNKNOWN_TOOL"
    assert [each["rule"] for each in done.calls[0].repairs] == ["text_to_integer"]


async def test_a_protocol_error_becomes_a_result() -> None:
    """The model reads a protocol error as an envelope."""
    server = Server("broken")

    async def call_tool(_request: Any) -> Any:
        raise McpError(types.ErrorData(code=-32000, message="no disk"))

    async def list_tools(_request: Any) -> Any:
        tool = types.Tool(name="store", inputSchema={"type": "object"})
        return types.ServerResult(types.ListToolsResult(tools=[tool]))

    server.request_handlers[types.ListToolsRequest] = list_tools
    server.request_handlers[types.CallToolRequest] = call_tool
    async with connected(server) as session:
        done = await dispatch(LenientSession(session), "<store>{}</store>")
    assert json.loads(done.calls[0].result.content[0].text)["error_code"] == "CALL_FAILED"


if __name__ == "__main__":
    print_outcomes(dict(globals()))
