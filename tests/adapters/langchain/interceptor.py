"""Tests of ``LenientInterceptor``; ``test_agents.py`` runs them separately."""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import fastmcp
from fastmcp import Client, FastMCP
from fastmcp.server.dependencies import get_http_headers
from fastmcp.server.middleware import Middleware
from langchain_core.messages import ToolMessage
from langchain_core.tools import ToolException
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools
from mcp import ClientSession
from mcp.shared.memory import create_connected_server_and_client_session

from benchmarks.hosts.agents.notes import started
from benchmarks.hosts.log import events_of
from mcp_lenient import Policy
from mcp_lenient.adapters.langchain import LenientInterceptor, load_tools
from tests.adapters.running import print_outcomes

REFUSING = Policy(unrepairable="refuse")
CALL = {"type": "tool_call", "id": "1"}


class Seen:
    """An interceptor that records requests and results."""

    def __init__(self) -> None:
        self.requests: list[Any] = []
        self.results: list[Any] = []

    async def __call__(self, request: Any, handler: Any) -> Any:
        """Record the request and its result."""
        self.requests.append(request)
        self.results.append(await handler(request))
        return self.results[-1]


def store(content: str, tags: list[str] | None = None, max_results: int = 10) -> str:
    """Keep a text."""
    return f"{content} {tags} {max_results}"


def notes(*, page: int | None = None) -> FastMCP:
    """Create a server without mcp-lenient."""
    mcp: FastMCP = FastMCP("notes", list_page_size=page)
    mcp.tool(store)

    @mcp.tool(annotations={"destructiveHint": True})
    def remove(number: int, keep: int = 1) -> str:
        """Remove a note."""
        return f"removed {number}, kept {keep}"

    return mcp


class Agent:
    """The tools of a session, with the lenient interceptor between two recording ones."""

    def __init__(
        self, session: ClientSession, policy: Policy | None, settings: Mapping[str, Any], **options: Any
    ) -> None:
        self.outer, self.inner = Seen(), Seen()
        self._session, self._options = session, options
        self._lenient = LenientInterceptor(session, policy, **settings)
        self._tools: dict[str, Any] = {}

    async def call(self, tool: str = "store", /, **arguments: Any) -> ToolMessage:
        """Return the message that an agent gets for a call."""
        if not self._tools:
            between = [self.outer, self._lenient, self.inner]
            loaded = await load_mcp_tools(self._session, tool_interceptors=between, **self._options)
            self._tools = {each.name: each for each in loaded}
        message: ToolMessage = await self._tools[tool].ainvoke({**CALL, "name": tool, "args": arguments})
        return message


@asynccontextmanager
async def agent(
    policy: Policy | None = REFUSING,
    server: FastMCP | None = None,
    settings: Mapping[str, Any] = MappingProxyType({}),
    **options: Any,
) -> AsyncIterator[Agent]:
    """Connect an agent to a server in the same process."""
    low = (server or notes())._mcp_server
    async with create_connected_server_and_client_session(low) as session:
        yield Agent(session, policy, settings, **options)


def text(message: ToolMessage) -> str:
    """Return the text that the model gets."""
    return "".join(block["text"] for block in message.content)


async def test_the_adapters_bring_fastmcp_3() -> None:
    """The interceptor works in an environment with FastMCP 3."""
    assert fastmcp.__version__.startswith("3.4.")


async def test_valid_calls_are_passed_as_the_same_request() -> None:
    """The request and the result of a valid call are not copied."""
    async with agent() as own:
        with events_of() as events:
            assert text(await own.call(content="x", tags=["a"])) == "x ['a'] 10"
    assert own.inner.requests[0] is own.outer.requests[0]
    assert own.outer.results[0] is own.inner.results[0]
    assert [each["event"] for each in events] == ["call_accepted"]


async def test_a_nearly_right_call_is_repaired() -> None:
    """The original request is not modified, and earlier interceptors find the repairs in the result."""
    async with agent(server_name="files") as own:
        with events_of() as events:
            message = await own.call(Content="x", tags="['a']", max_results=None)
    assert text(message) == "x ['a'] 10"
    assert own.outer.requests[0].args == {"Content": "x", "tags": "['a']", "max_results": None}
    assert own.inner.requests[0].args == {"content": "x", "tags": ["a"]}
    rules = [each["rule"] for each in own.outer.results[0].meta["mcp_lenient"]["repairs"]]
    assert sorted(rules) == ["json5_text_to_array", "null_to_absent", "rename_case"]
    assert [(each["event"], each["server"]) for each in events] == [("call_repaired", "files")]


async def test_repairs_can_be_reported_to_the_model() -> None:
    """With ``tell_model``, the result has one more text block about the repairs."""
    async with agent(Policy(tell_model=True)) as own:
        message = await own.call(content="x", tags='["a"]')
    assert [block["text"] for block in message.content] == [
        "x ['a'] 10",
        "Note: 'tags' was sent as a string and read as an array. Send an array.",
    ]


async def test_a_refused_call_is_an_error_message_with_the_envelope() -> None:
    """A refused call does not raise, and is not sent to the server."""
    async with agent() as own:
        with events_of() as events:
            message = await own.call(content="x", tags=5)
    assert message.status == "error"
    assert json.loads(text(message))["error_code"] == "INVALID_TAGS_TYPE"
    assert own.inner.requests == []
    assert [each["event"] for each in events] == ["call_rejected"]


async def test_a_refused_call_raises_if_errors_are_not_handled() -> None:
    """With ``handle_tool_errors=False`` the exception has the envelope as its text."""
    async with agent(handle_tool_errors=False) as own:
        raised = "null"
        try:
            await own.call(content="x", tags=5)
        except ToolException as error:
            raised = str(error)
    assert json.loads(raised)["error_code"] == "INVALID_TAGS_TYPE"


async def test_invalid_arguments_are_forwarded_by_default() -> None:
    """By default, the server itself answers an unrepairable call."""
    async with agent(None) as own:
        with events_of() as events:
            message = await own.call(content="x", tags=5)
    assert message.status == "error"
    assert "validation error" in text(message)
    assert [each["event"] for each in events] == ["call_forwarded"]


async def test_modes_apply() -> None:
    """In observe and off mode, the request is passed on unchanged."""
    for mode, logged in (("observe", ["call_observed"]), ("off", [])):
        async with agent(Policy(mode=mode)) as own:
            with events_of() as events:
                await own.call(content="x", tags="['a']")
        assert own.inner.requests[0] is own.outer.requests[0]
        assert [each["event"] for each in events] == logged


async def test_a_destructive_tool_gets_fewer_repairs() -> None:
    """A null is not dropped for a destructive tool."""
    async with agent() as own:
        assert text(await own.call("remove", number="1", keep="2")) == "removed 1, kept 2"
        refused = await own.call("remove", number=1, keep=None)
    assert json.loads(text(refused))["error_code"] == "INVALID_KEEP_TYPE"


async def test_tools_of_all_pages_are_known() -> None:
    """Tools on later pages of the list are found."""
    async with agent(server=notes(page=1)) as own:
        assert text(await own.call("remove", number="1")) == "removed 1, kept 1"


async def test_a_changed_schema_applies_to_the_next_call() -> None:
    """A call that the replaced tool accepts is not repaired for the old schema."""
    server = notes()
    async with agent(server=server) as own:
        assert text(await own.call(content="x", tags="a")) == "x ['a'] 10"
        server.local_provider.remove_tool("store")

        @server.tool(name="store")
        def other(content: str, tags: str) -> str:
            """Keep a text."""
            return f"{content} {tags}"

        assert text(await own.call(content="x", tags="a")) == "x a"
        assert own.inner.requests[-1] is own.outer.requests[-1]


async def test_a_removed_tool_is_unknown() -> None:
    """With ``unrepairable="refuse"``, a call of a removed tool is refused as unknown."""
    server = notes()
    async with agent(server=server) as own:
        assert text(await own.call(content="x")) == "x None 10"
        server.local_provider.remove_tool("store")
        assert json.loads(text(await own.call(content="x", tags="a")))["error_code"] == "UNKNOWN_TOOL"


class Misnaming(Seen):
    """An interceptor that calls the tool by a name in another style, as a model does."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    async def __call__(self, request: Any, handler: Any) -> Any:
        """Change the name."""
        return await super().__call__(request.override(name=self._name), handler)


async def test_a_tools_name_is_repaired() -> None:
    """A call under a tool's name in another style is sent under its own, and the result says so."""
    async with create_connected_server_and_client_session(notes()._mcp_server) as session:
        outer, inner = Misnaming("Store"), Seen()
        between = [outer, LenientInterceptor(session, REFUSING), inner]
        store_tool, _ = await load_mcp_tools(session, tool_interceptors=between)
        with events_of() as events:
            message = await store_tool.ainvoke({**CALL, "name": "store", "args": {"content": "x"}})
    assert (text(message), inner.requests[0].name) == ("x None 10", "store")
    assert [each["rule"] for each in outer.results[0].meta["mcp_lenient"]["repairs"]] == ["rename_tool"]
    assert [(each["event"], each["tool"]) for each in events] == [("call_repaired", "store")]


async def test_a_destructive_tools_name_is_not_repaired() -> None:
    """A destructive tool runs under its own name alone."""
    async with create_connected_server_and_client_session(notes()._mcp_server) as session:
        inner = Seen()
        between = [Misnaming("Remove"), LenientInterceptor(session, REFUSING), inner]
        _, remove = await load_mcp_tools(session, tool_interceptors=between)
        message = await remove.ainvoke({**CALL, "name": "remove", "args": {"number": 1}})
    assert (json.loads(text(message))["error_code"], inner.requests) == ("UNKNOWN_TOOL", [])


class Answering(Seen):
    """An interceptor that answers itself, as caches and approvals do."""

    async def __call__(self, request: Any, handler: Any) -> Any:
        """Answer with a tool message."""
        del handler
        return ToolMessage(str(request.args), tool_call_id="1")


async def test_a_later_interceptor_may_answer() -> None:
    """A later interceptor sees the repaired arguments, and its answer is passed on."""
    async with create_connected_server_and_client_session(notes()._mcp_server) as session:
        between = [LenientInterceptor(session), Answering()]
        store_tool, _ = await load_mcp_tools(session, tool_interceptors=between)
        sent = {**CALL, "name": "store", "args": {"content": "x", "max_results": "3"}}
        assert (await store_tool.ainvoke(sent)).content == "{'content': 'x', 'max_results': 3}"


class Tenant(Seen):
    """An interceptor that adds a header, as for authorization."""

    async def __call__(self, request: Any, handler: Any) -> Any:
        """Add the tenant's header."""
        return await handler(request.override(headers={"x-tenant": "ann"}))


class Listed(Middleware):
    """A middleware that records the tenant's header of each ``tools/list`` request."""

    def __init__(self) -> None:
        self.tenants: list[str | None] = []

    async def on_list_tools(self, context: Any, call_next: Any) -> Any:
        """Record the header."""
        self.tenants.append(get_http_headers().get("x-tenant"))
        return await call_next(context)


async def test_tools_are_listed_over_the_connection_of_the_call() -> None:
    """The tools are listed with the headers that an earlier interceptor added to the call."""
    listed = Listed()
    servers = {"notes": {"transport": "streamable_http", "url": started([listed])}}
    between = [Tenant(), LenientInterceptor(servers, REFUSING)]
    client = MultiServerMCPClient(servers, tool_interceptors=between, tool_name_prefix=True)
    tools = {each.name: each for each in await client.get_tools()}
    sent = {**CALL, "name": "notes_store", "args": {"content": "x", "max_results": "7"}}
    with events_of() as events:
        message = await tools["notes_store"].ainvoke(sent)
    assert json.loads(text(message))["max_results"] == 7
    assert listed.tenants[0] is None  # the client's own request, to load the tools
    assert set(listed.tenants[1:]) == {"ann"}
    assert [(each["event"], each["server"], each["tool"]) for each in events] == [
        ("call_repaired", "notes", "store")
    ]


async def test_an_unreachable_tool_list_forwards_the_call_unchanged() -> None:
    """If the tools cannot be listed, the call is sent unchanged, and a warning is logged."""
    async with create_connected_server_and_client_session(notes()._mcp_server) as session:
        lenient, inner = LenientInterceptor({}), Seen()
        store_tool, _ = await load_mcp_tools(session, tool_interceptors=[lenient, inner])
        with events_of() as events:
            await store_tool.ainvoke({**CALL, "name": "store", "args": {"content": "x", "tags": 5}})
    assert inner.requests[0].args == {"content": "x", "tags": 5}
    assert [each["event"] for each in events] == ["hook_unavailable"]


async def test_decisions_are_reported_and_a_changed_file_applies() -> None:
    """``on_decision``, ``definitions`` and ``reload`` work as on every host."""
    decisions: list[Any] = []
    with tempfile.TemporaryDirectory() as folder, events_of() as events:
        file = Path(folder) / "tools.yaml"
        file.write_text("tools: {store: {parameters: {content: {aliases: [body]}}}}", encoding="utf-8")
        settings = {"definitions": file, "reload": True, "on_decision": decisions.append}
        async with agent(settings=settings) as own:
            assert text(await own.call(body="x")) == "x None 10"
            file.write_text("tools: {stor: {}}", encoding="utf-8")
            await asyncio.sleep(1.05)
            assert (await own.call(body="x")).status == "error"
    assert [(each.tool, each.status) for each in decisions] == [("store", "repaired"), ("store", "refused")]
    assert [each["reason"] for each in events if each["event"] == "definition_unused"] == [
        "There is no tool 'stor'; did you mean 'store'?"
    ]


async def test_tools_are_loaded_over_sdk_1() -> None:
    """``load_tools`` works without an interceptor, with the SDK's session and with FastMCP's client."""
    async with create_connected_server_and_client_session(notes(page=1)._mcp_server) as session:
        await _loaded_tools_are_lenient(session)
    async with Client(notes()) as client:
        await _loaded_tools_are_lenient(client)


async def test_a_server_that_cannot_be_reached_is_named() -> None:
    """The error has the server's name and its URL, without the query, which may hold a key."""
    servers = {"math": {"transport": "streamable_http", "url": "http://127.0.0.1:9/mcp?key=secret"}}
    said = ""
    try:
        await load_tools(servers)
    except ConnectionError as error:
        said = str(error)
    assert said.startswith("Server 'math' at http://127.0.0.1:9/mcp cannot be used: ")


async def _loaded_tools_are_lenient(session: Any) -> None:
    store_tool, remove = await load_tools(session)
    assert remove.metadata["destructiveHint"] is True
    arguments = {"Content": "x", "tags": "['a']"}
    message = await store_tool.ainvoke({**CALL, "name": "store", "args": arguments})
    assert message.content == "x ['a'] 10"
    assert message.artifact["structured_content"] == {"result": "x ['a'] 10"}
    assert [each["rule"] for each in message.artifact["repairs"]] == ["rename_case", "json5_text_to_array"]
    refused = await store_tool.ainvoke({**CALL, "name": "store", "args": {"content": "x", "tags": 5}})
    assert refused.status == "error"
    assert json.loads(refused.content)["error_code"] == "INVALID_TAGS_TYPE"


if __name__ == "__main__":
    print_outcomes(dict(globals()))
