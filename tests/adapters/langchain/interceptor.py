"""Tests of ``LenientInterceptor``; ``test_agents.py`` runs them separately."""

import json
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
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

    def __init__(self, outer: Seen, inner: Seen, loaded: Sequence[Any]) -> None:
        self.outer, self.inner = outer, inner
        self._tools = {each.name: each for each in loaded}

    async def call(self, tool: str = "store", /, **arguments: Any) -> ToolMessage:
        """Return the message that an agent gets for a call."""
        message: ToolMessage = await self._tools[tool].ainvoke({**CALL, "name": tool, "args": arguments})
        return message


@asynccontextmanager
async def agent(
    policy: Policy | None = REFUSING,
    server: FastMCP | None = None,
    load: Mapping[str, Any] = MappingProxyType({}),
    before: Sequence[Any] = (),
    **settings: Any,
) -> AsyncIterator[Agent]:
    """Connect an agent to a server in the same process."""
    outer, inner = Seen(), Seen()
    async with create_connected_server_and_client_session((server or notes())._mcp_server) as session:
        between = [*before, outer, LenientInterceptor(session, policy, **settings), inner]
        yield Agent(outer, inner, await load_mcp_tools(session, tool_interceptors=between, **load))


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
    async with agent(load={"server_name": "files"}) as own:
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
    """It is not sent to the server; with ``handle_tool_errors=False`` an exception has the envelope as its text."""
    async with agent() as own:
        with events_of() as events:
            message = await own.call(content="x", tags=5)
    assert message.status == "error"
    assert own.inner.requests == []
    assert [each["event"] for each in events] == ["call_rejected"]
    async with agent(load={"handle_tool_errors": False}) as own:
        raised = "null"
        try:
            await own.call(content="x", tags=5)
        except ToolException as error:
            raised = str(error)
    for envelope in (text(message), raised):
        assert json.loads(envelope)["error_code"] == "INVALID_TAGS_TYPE"


async def test_policies_apply() -> None:
    """By default an unrepairable call is forwarded; in observe and off mode, each request is passed on unchanged."""
    for policy, tags, logged in (
        (None, 5, ["call_forwarded"]),
        (Policy(mode="observe"), "['a']", ["call_observed"]),
        (Policy(mode="off"), "['a']", []),
    ):
        async with agent(policy) as own:
            with events_of() as events:
                message = await own.call(content="x", tags=tags)
        assert own.inner.requests[0] is own.outer.requests[0]
        assert "validation error" in text(message)
        assert [each["event"] for each in events] == logged


async def test_a_destructive_tool_gets_fewer_repairs() -> None:
    """A null is not dropped for a destructive tool."""
    async with agent(server=notes(page=1)) as own:  # it is on the second page
        assert text(await own.call("remove", number="1", keep="2")) == "removed 1, kept 2"
        refused = await own.call("remove", number=1, keep=None)
    assert json.loads(text(refused))["error_code"] == "INVALID_KEEP_TYPE"


async def test_a_changed_schema_applies_to_the_next_call() -> None:
    """A call that the replaced tool accepts is not repaired for the old schema; a removed tool is unknown."""
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
        server.local_provider.remove_tool("store")
        assert json.loads(text(await own.call(content="x", tags=5)))["error_code"] == "UNKNOWN_TOOL"


async def misname(request: Any, handler: Any) -> Any:
    """Call a tool by a name in another style, as a model does."""
    return await handler(request.override(name=request.name.title()))


async def test_a_tools_name_is_repaired() -> None:
    """A call under a tool's name in another style is sent under its own, which the result says; not a destructive one's."""
    async with agent(before=[misname]) as own:
        with events_of() as events:
            message = await own.call(content="x")
        refused = await own.call("remove", number=1)
    assert (text(message), [each.name for each in own.inner.requests]) == ("x None 10", ["store"])
    assert [each["rule"] for each in own.outer.results[0].meta["mcp_lenient"]["repairs"]] == ["rename_tool"]
    assert [(each["event"], each["tool"]) for each in events] == [("call_repaired", "store")]
    assert json.loads(text(refused))["error_code"] == "UNKNOWN_TOOL"


async def test_a_later_interceptor_may_answer() -> None:
    """A later interceptor sees the repaired arguments, and its answer, as of a cache or approval, is passed on."""

    async def answer(request: Any, _handler: Any) -> Any:
        return ToolMessage(str(request.args), tool_call_id="1")

    async with create_connected_server_and_client_session(notes()._mcp_server) as session:
        store_tool, _ = await load_mcp_tools(session, tool_interceptors=[LenientInterceptor(session), answer])
        sent = {**CALL, "name": "store", "args": {"content": "x", "max_results": "3"}}
        assert (await store_tool.ainvoke(sent)).content == "{'content': 'x', 'max_results': 3}"


async def as_tenant(request: Any, handler: Any) -> Any:
    """Add a header, as for authorization."""
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
    between = [as_tenant, LenientInterceptor(servers, REFUSING)]
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


async def test_settings_apply() -> None:
    """``on_decision`` and ``definitions`` work as on every host."""
    decisions: list[Any] = []
    with tempfile.TemporaryDirectory() as folder, events_of() as events:
        file = Path(folder) / "tools.yaml"
        file.write_text(
            "tools: {stor: {}, store: {parameters: {content: {aliases: [body]}}}}", encoding="utf-8"
        )
        async with agent(definitions=file, on_decision=decisions.append) as own:
            assert text(await own.call(body="x")) == "x None 10"
    assert [(each.tool, each.status) for each in decisions] == [("store", "repaired")]
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
    assert [each["rule"] for each in message.artifact["repairs"]] == ["rename_case", "json5_text_to_array"]
    refused = await store_tool.ainvoke({**CALL, "name": "store", "args": {"content": "x", "tags": 5}})
    assert refused.status == "error"
    assert json.loads(refused.content)["error_code"] == "INVALID_TAGS_TYPE"


if __name__ == "__main__":
    print_outcomes(dict(globals()))
