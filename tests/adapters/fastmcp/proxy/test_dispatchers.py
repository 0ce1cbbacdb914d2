"""Calls inside the calls of a dispatcher of a server behind the proxy."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from adapters.fastmcp.proxy.fronts import Recording, over_http
from calls import Log, code, envelope, got, plain
from dispatched import REFUSED, REPAIRED, RIGHT, STORED, store_context
from fastmcp import Client, FastMCP
from fastmcp.client.transports import StreamableHttpTransport
from fastmcp.exceptions import ToolError
from fastmcp.server.transforms.search import BM25SearchTransform, RegexSearchTransform
from fastmcp.tools import Tool

from mcp_lenient import Policy, create_lenient_proxy, dispatcher

NOT_DESTRUCTIVE = {"destructiveHint": False}


def _searched(transform: Any = RegexSearchTransform, **annotations: Any) -> FastMCP:
    server = plain(Tool.from_function(store_context, annotations=annotations or NOT_DESTRUCTIVE))
    server.add_transform(transform())
    return server


CALLED_OTHERWISE = pytest.param(
    {"name": "storeContext", "arguments": RIGHT}, "UNKNOWN_TOOL", id="the tool's name in another case"
)


async def _after_search(
    server: FastMCP, sent: dict[str, Any], query: str = "pattern", **settings: Any
) -> Any:
    async with Client(create_lenient_proxy(server, **settings)) as client:
        await client.call_tool("search_tools", {query: "store"})
        return await client.call_tool_mcp("call_tool", sent)


@pytest.mark.parametrize(("sent", "repairs"), REPAIRED)
async def test_a_call_inside_is_repaired_after_a_search(sent, repairs, events: Log):
    """What the search has described is repaired, and told at its place in what was sent, with one event."""
    result = await _after_search(_searched(), sent)
    assert got(result) == STORED
    told = (result.meta or {}).get("mcp_lenient", {"repairs": []})["repairs"]
    assert [(each["rule"], each["pointer"]) for each in told] == repairs
    event = events[-1]
    assert (event["tool"], event["via"]) == ("store_context", "call_tool")
    assert event["event"] == ("call_repaired" if repairs else "call_accepted")


@pytest.mark.parametrize(("sent", "error"), [*REFUSED, CALLED_OTHERWISE])
async def test_a_refusal_by_the_server_is_worded_by_what_was_learnt(sent, error, events: Log):
    """The server's own refusal is answered with the envelope of the inner tool, and is one event."""
    result = await _after_search(_searched(), sent)
    assert (result.is_error, code(result)) == (True, error)
    assert "Send it with 'call_tool' as {" in envelope(result)["message"]
    inside = [event for event in events if "via" in event]
    assert [(event["event"], event["tool"]) for event in inside] == [("call_rejected", sent["name"])]


@pytest.mark.parametrize("transform", [RegexSearchTransform, BM25SearchTransform])
async def test_nothing_is_learnt_without_a_search(transform):
    """Before a search has described the tool, its call goes on as it was sent, and the server's answer stands."""
    query = "pattern" if transform is RegexSearchTransform else "query"
    nearly = {"name": "store_context", "arguments": {"content": "x", "tags": '["a"]'}}
    async with Client(create_lenient_proxy(_searched(transform))) as client:
        before = await client.call_tool_mcp("call_tool", nearly)
        assert before.is_error
        assert code(before) == "REFUSED_UPSTREAM"
        await client.call_tool("search_tools", {query: "store"})
        assert got(await client.call_tool_mcp("call_tool", nearly)) == STORED


async def test_no_further_list_is_asked_for():
    """Nearly right calls inside ask the server for no list of tools."""
    server, recording = _searched(), Recording()
    server.add_middleware(recording)
    async with Client(create_lenient_proxy(server)) as client:
        await client.call_tool("search_tools", {"pattern": "store"})
        await client.call_tool("call_tool", {"name": "store_context", "arguments": RIGHT})
        lists = recording.count("tools/list")
        for tags in ('["a"]', '["b"]', '["c"]', '["d"]', 5):
            sent = {"name": "store_context", "arguments": {"content": "x", "tags": tags}}
            await client.call_tool_mcp("call_tool", sent)
        assert recording.count("tools/list") - lists == 5  # FastMCP's own, one in each `call_tool`
    assert lists <= 4


# --- what a search may do, and what not -------------------------------------------------------------------

FORM = dispatcher("tool", "params", found_by="find")
SCHEMA = {
    "type": "object",
    "properties": {"tags": {"type": "array", "items": {"type": "string"}}},
    "additionalProperties": False,
}


class Behind:
    """A server with a search and a dispatcher of its own, whose tools take whatever they are sent."""

    def __init__(self, *results: Any) -> None:
        self.results = list(results)
        self.received: list[Any] = []
        self.refuses: str | None = None

    def find(self, query: str) -> Any:  # noqa: ARG002 - what clients send
        """Find tools."""
        return self.results.pop(0) if self.results else []

    def go(self, tool: str, params: Any = None, server: str = "") -> str:  # noqa: ARG002 - what clients send
        """Call a tool."""
        self.received.append(params)
        if self.refuses is not None:
            raise ToolError(self.refuses)
        return "ran"

    def proxy(self, form: Any = FORM) -> FastMCP:
        """Return a proxy of it that knows its dispatcher."""
        behind = plain(Tool.from_function(self.find, output_schema=None), self.go)
        return create_lenient_proxy(behind, tools={"go": Policy(dispatches=form)})


def _entry(**changes: Any) -> dict[str, Any]:
    return {"name": "tag", "inputSchema": SCHEMA, "annotations": NOT_DESTRUCTIVE, **changes}


async def _received(behind: Behind, *sent: dict[str, Any], form: Any = FORM) -> list[Any]:
    """Return what the tool receives after each of the searches."""
    async with Client(behind.proxy(form)) as client:
        for _ in behind.results[:]:
            await client.call_tool_mcp("find", {"query": "tag"})
        for arguments in sent:
            await client.call_tool_mcp("go", {"tool": "tag", **arguments})
    return behind.received


NEARLY = {"params": {"tags": '["a"]'}}
REPAIRED = {"tags": ["a"]}
OTHER = {"type": "object", "properties": {"tags": {"type": "string"}}, "additionalProperties": False}
DEEP: dict[str, Any] = {"type": "object", "properties": {}}
for _ in range(50):
    DEEP = {"type": "object", "properties": {"a": DEEP}}
RESULTS = [
    pytest.param([[_entry()]], REPAIRED, id="as tools/list has them"),
    pytest.param(
        [{"tools": [{"name": "tag", "input_schema": SCHEMA, "annotations": NOT_DESTRUCTIVE}]}],
        REPAIRED,
        id="other words",
    ),
    pytest.param([json.dumps([_entry()])], REPAIRED, id="as text"),
    pytest.param([[_entry()], [_entry()]], REPAIRED, id="twice alike"),
    pytest.param([[_entry()], [_entry(inputSchema=OTHER)]], NEARLY["params"], id="later described otherwise"),
    pytest.param(
        [[_entry(inputSchema=OTHER)], [_entry()], [_entry()]],
        NEARLY["params"],
        id="first described otherwise",
    ),
    pytest.param([[_entry(), _entry(inputSchema=OTHER)]], NEARLY["params"], id="described in two ways"),
    pytest.param([[{"text": json.dumps(_entry())}]], NEARLY["params"], id="a text within a result"),
    pytest.param([f"Found: {json.dumps([_entry()])}"], NEARLY["params"], id="a text with more"),
    pytest.param([[{"a": [{"b": [{"c": [_entry()]}]}]}]], NEARLY["params"], id="deep within a result"),
    pytest.param(
        [[_entry(inputSchema={**SCHEMA, "description": "x" * 70_000})]], NEARLY["params"], id="too large"
    ),
    pytest.param([[_entry(inputSchema=DEEP)]], NEARLY["params"], id="another schema that is deep"),
    pytest.param(
        [[_entry(inputSchema={"type": "object", "properties": 5})]], NEARLY["params"], id="no schema"
    ),
    pytest.param(
        [[_entry(inputSchema={"$ref": "https://example.com/s", "type": "object"})]],
        NEARLY["params"],
        id="elsewhere",
    ),
    pytest.param(
        [[_entry(name=5)], [{"name": "tag"}], [None], ["tag"], [5]], NEARLY["params"], id="no tools"
    ),
    pytest.param(
        [[_entry(), *(_entry(name=f"tool{at}") for at in range(1_500))]], REPAIRED, id="first of many"
    ),
]


@pytest.mark.parametrize(("results", "received"), RESULTS)
async def test_what_is_learnt_of_a_declared_search(results, received):
    """Tools are learnt where a search lists them; not from texts in it, nor if they are described in two ways."""
    assert await _received(Behind(*results), NEARLY) == [received]


@pytest.mark.parametrize("annotations", [None, {}, {"title": "x"}, {"destructiveHint": True}])
async def test_a_tool_that_does_not_say_what_it_does_counts_as_destructive(annotations):
    """Nothing is left out for it, and the form of its calls is not changed."""
    entry = _entry(annotations=annotations, inputSchema={**SCHEMA, "properties": {"at": {"type": "integer"}}})
    sent = {"params": {"at": ""}}
    assert await _received(Behind([entry]), sent) == [sent["params"]]
    assert await _received(Behind([entry]), {"arguments": {"at": 5}}) == []
    harmless = {**entry, "annotations": NOT_DESTRUCTIVE}
    assert await _received(Behind([harmless]), sent, {"arguments": {"at": 5}}) == [{}, {"at": 5}]


async def test_what_is_learnt_refuses_nothing(events: Log):
    """A call that cannot be repaired goes on; if the server takes it, what was learnt is wrong, and forgotten."""
    sent = {"params": {"tags": 5}}
    assert await _received(Behind([_entry()]), sent, NEARLY) == [sent["params"], NEARLY["params"]]
    assert [event["event"] for event in events if event.get("via") == "go"] == ["call_forwarded"]


@pytest.mark.parametrize("text", ["Input validation error: tags must be a string", "Unknown tool: 'tag'"])
async def test_what_a_server_contradicts_is_forgotten(text):
    """A server that refuses what it seemed to accept is asked again with the call as it was sent."""
    behind = Behind([_entry()])
    behind.refuses = text
    assert await _received(behind, NEARLY, NEARLY) == [REPAIRED, NEARLY["params"]]


async def test_what_has_misled_a_repair_is_not_learnt_again():
    """After a server has refused what was repaired by its description, the same search teaches nothing."""
    behind = Behind([_entry()], [_entry()])
    behind.refuses = "Input validation error: tags must be a string"
    async with Client(behind.proxy()) as client:
        for _ in range(2):
            await client.call_tool_mcp("find", {"query": "tag"})
            await client.call_tool_mcp("go", {"tool": "tag", **NEARLY})
    assert behind.received == [REPAIRED, NEARLY["params"]]


async def test_the_form_of_a_call_is_not_changed_for_a_tool_that_is_not_known():
    """It may be destructive."""
    assert await _received(Behind(), {"arguments": {"at": 5}}) == []
    assert await _received(Behind(), {"params": {"at": 5}}) == [{"at": 5}]


async def test_what_is_learnt_is_forgotten_after_ten_minutes(monkeypatch):
    """A search is good for ten minutes."""
    now = [1000.0]
    monkeypatch.setattr("mcp_lenient.adapters.fastmcp.proxy.learnt.monotonic", lambda: now[0])
    behind = Behind([_entry()])
    async with Client(behind.proxy()) as client:
        await client.call_tool("find", {"query": "tag"})
        for seconds in (0, 599, 2):
            now[0] += seconds
            await client.call_tool("go", {"tool": "tag", **NEARLY})
    assert behind.received == [REPAIRED, REPAIRED, NEARLY["params"]]


async def test_a_tool_is_that_of_its_server():
    """Where the dispatcher names a server, tools of one name on two servers are two tools."""
    form = dispatcher("tool", "params", server="server", found_by="find")
    behind = Behind([_entry(server="a"), _entry(server="b", inputSchema=OTHER)])
    sent = [{**NEARLY, "server": server} for server in ("a", "b", "c")]
    assert await _received(behind, *sent, form=form) == [REPAIRED, NEARLY["params"], NEARLY["params"]]


def test_another_callers_search_teaches_nothing():
    """What the server tells one caller is not used for calls with other credentials."""
    with over_http(_searched()) as url:
        nearly = {"name": "store_context", "arguments": {"content": "x", "tags": '["a"]'}}

        async def ask(token: str, *, searches: bool) -> Any:
            headers = {"Authorization": f"Bearer {token}"}
            async with Client(StreamableHttpTransport(url, headers=headers)) as client:
                if searches:
                    await client.call_tool("search_tools", {"pattern": "store"})
                return await client.call_tool_mcp("call_tool", nearly)

        assert got(asyncio.run(ask("one", searches=True))) == STORED
        assert code(asyncio.run(ask("two", searches=False))) == "REFUSED_UPSTREAM"
        assert got(asyncio.run(ask("one", searches=False))) == STORED
