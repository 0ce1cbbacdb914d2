"""A proxy of a server in this process: validation, upstream requests, answers and events."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from adapters.fastmcp.proxy.fronts import UPSTREAM, Recording
from calls import call, rules
from fastmcp import Client, FastMCP
from fastmcp.server import create_proxy
from fastmcp.server.middleware import Middleware
from fastmcp.tools import Tool, ToolResult
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, ErrorData, TextContent
from pydantic import Field
from tables import STRING, array, closed, opened
from waiting import PATIENCE

from mcp_lenient import Policy, create_lenient_proxy

_TAGS, _TEXT = closed("tags", tags=array(STRING), name=STRING), opened("tags", tags=STRING)
_ZOD = "MCP error -32602: Input validation error: Invalid arguments for tool note: expected another tag"


class _Custom(Tool):
    """A tool with a schema that accepts any arguments and gives a fixed answer."""

    answer: Any = None
    seen: list[Any] = Field(default_factory=list)

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        self.seen.append(arguments)
        if isinstance(self.answer, Exception):
            raise self.answer
        if self.answer is not None:
            return ToolResult(content=[TextContent(type="text", text=self.answer)], is_error=True)
        return ToolResult(content="ran")


def _upstream(answer: Any = None, schema: dict[str, Any] | None = None) -> tuple[FastMCP, _Custom, Recording]:
    server, recording = FastMCP("upstream"), Recording()
    tool = _Custom(name="note", parameters=schema or _TAGS, answer=answer)
    server.add_tool(tool)
    server.add_middleware(recording)
    return server, tool, recording


@pytest.mark.parametrize(
    ("policy", "seen", "logged"),
    [
        pytest.param(None, [], "call_rejected", id="by default"),
        pytest.param(Policy(disable={"rename_alias"}), [], "call_rejected", id="by another policy"),
        pytest.param(Policy(unrepairable="forward"), [{"tags": 5}], "call_forwarded", id="forward"),
    ],
)
async def test_an_unrepairable_call_is_forwarded_only_by_policy(policy, seen, logged, events):
    """The upstream server gets a call that its schema forbids only with ``unrepairable="forward"``, unchanged."""
    server, tool, _ = _upstream()
    result = await call(create_lenient_proxy(server, policy), "note", {"tags": 5})
    assert (tool.seen, events.names, result.is_error) == (seen, [logged], not seen)


async def test_observe_mode_changes_nothing(events):
    """In observe mode the upstream server gets the call unchanged, and the caller gets its answer."""
    server, tool, _ = _upstream(_ZOD)
    result = await call(create_lenient_proxy(server, Policy(mode="observe")), "note", {"tags": '["a"]'})
    assert result.content[0].text == _ZOD
    assert tool.seen == [{"tags": '["a"]'}]
    assert events.names == ["call_observed", "call_refused_upstream"]


async def test_calls_cost_few_upstream_requests(monkeypatch):
    """An accepted call is one request; while a list is fresh, the tools are listed once for all refused calls."""
    monkeypatch.setattr("mcp_lenient.adapters.fastmcp.proxy.upstream._FRESH", PATIENCE)
    server, _, recording = _upstream()
    async with Client(create_lenient_proxy(server)) as client:
        await client.call_tool_mcp("note", {"tags": ["a"]})
        recording.messages.clear()
        for _ in range(5):
            await client.call_tool_mcp("note", {"tags": ["a"]})
        assert (recording.count("tools/list"), recording.count("tools/call")) == (0, 5)
        for _ in range(20):
            await client.call_tool_mcp("note", {"tags": 5})
    assert recording.count("tools/list") == 1
    assert recording.count("tools/call") == 5


@pytest.mark.parametrize(
    ("before", "first", "after", "is_listed", "second"),
    [(_TAGS, ["a"], _TEXT, False, "a"), (_TEXT, "a", _TAGS, True, ["a"])],
    ids=["now accepted", "now repaired"],
)
async def test_a_changed_schema_applies_to_the_next_call(before, first, after, is_listed, second):
    """A call is not repaired for an old schema; one that the old schema accepts is repaired for a listed new one."""
    server, tool, _ = _upstream(schema=before)
    async with Client(create_lenient_proxy(server)) as client:
        await client.call_tool_mcp("note", {"tags": first})
        server.local_provider.remove_tool("note")
        new = server.add_tool(_Custom(name="note", parameters=after))
        if is_listed:
            await client.list_tools()
        await client.call_tool_mcp("note", {"tags": "a"})
    assert (tool.seen, new.seen) == ([{"tags": first}], [{"tags": second}])


async def test_a_new_tool_can_be_called():
    """A tool added after the tools were listed is found."""
    server, tool, _ = _upstream()
    async with Client(create_lenient_proxy(server)) as client:
        await client.call_tool_mcp("note", {"tags": ["a"]})
        new = server.add_tool(_Custom(name="later", parameters=_TAGS))
        result = await client.call_tool_mcp("later", {"tags": "a"})
    assert not result.is_error
    assert (tool.seen, new.seen) == ([{"tags": ["a"]}], [{"tags": ["a"]}])


async def test_a_respelled_tool_name_is_resolved():
    """A name with the upstream server's prefix runs the tool."""
    server, tool, _ = _upstream()
    result = await call(create_lenient_proxy(server), "mcp__upstream__note", {"tags": "a"})
    assert rules(result) == ["rename_tool", "scalar_to_array"]
    assert tool.seen == [{"tags": ["a"]}]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "answered"),
    [("mcp__one__environment", "1"), ("mcp__two__Environment", "2"), ("twoEnvironment", "2")],
)
async def test_the_prefix_names_one_of_several_servers(sent, answered):
    """With several servers, the prefix selects the server."""
    command = {"command": sys.executable, "args": [UPSTREAM]}
    servers = {name: {**command, "env": {"AT": at}} for name, at in (("one", "1"), ("two", "2"))}
    result = await call(create_lenient_proxy({"mcpServers": servers}), sent, {"name": "AT"})
    assert result.structured_content == {"result": answered}


async def test_upstream_refusals_become_envelopes(events):
    """The envelope has the server's text and the repairs made; the log has only the code."""
    server, _, _ = _upstream(_ZOD)
    result = await call(create_lenient_proxy(server), "note", {"tags": '["a"]'})
    reported = json.loads(result.content[0].text)
    assert result.meta["mcp_lenient"] == result.structured_content
    assert reported.items() <= result.structured_content.items()
    assert reported["error_code"] == "REFUSED_UPSTREAM"
    assert reported["details"]["upstream_message"] == "Invalid arguments for tool note: expected another tag"
    assert reported["details"]["upstream_message"] in reported["message"]
    assert [repair["rule"] for repair in reported["details"]["repairs"]] == ["json_text_to_array"]
    assert events.names == ["call_repaired", "call_refused_upstream"]
    assert events[1]["error_code"] == "REFUSED_UPSTREAM"
    assert "another tag" not in json.dumps(events)


async def test_a_forwarded_call_that_is_refused_names_its_violations():
    """The envelope for a forwarded and refused call has the violations and the server's text."""
    server, _, _ = _upstream(_ZOD)
    result = await call(create_lenient_proxy(server, Policy(unrepairable="forward")), "note", {"tags": 5})
    reported = result.meta["mcp_lenient"]
    assert reported["error_code"] == "REFUSED_UPSTREAM"
    assert [entry["pointer"] for entry in reported["details"]["violations"]] == ["/tags"]
    assert "'tags' must be an array" in reported["message"]


async def test_upstream_text_is_hidden_if_values_are():
    """With ``echo_values=False`` the envelope does not contain the server's text."""
    server, _, _ = _upstream(_ZOD)
    policy = Policy(unrepairable="refuse", echo_values=False)
    result = await call(create_lenient_proxy(server, policy), "note", {"tags": ["a"]})
    assert "another tag" not in result.model_dump_json()
    assert result.meta["mcp_lenient"]["error_code"] == "REFUSED_UPSTREAM"


async def test_a_json_rpc_error_for_invalid_parameters_becomes_an_envelope(events):
    """Error -32602, which most clients do not show to the model, becomes a result that it can read."""
    server, _, _ = _upstream()

    class Refusing(Middleware):
        async def on_call_tool(self, context, call_next):  # noqa: ARG002 - as FastMCP calls it
            raise MCPError.from_error_data(ErrorData(code=INVALID_PARAMS, message="tags: too few"))

    server.add_middleware(Refusing())
    result = await call(create_lenient_proxy(server), "note", {"tags": ["a"]})
    assert result.is_error
    assert result.meta["mcp_lenient"]["details"]["upstream_message"] == "tags: too few"
    assert events.names == ["call_accepted", "call_refused_upstream"]


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("Access denied", id="text"),
        pytest.param(MCPError.from_error_data(ErrorData(code=-32603, message="out of order")), id="JSON-RPC"),
        pytest.param(ValueError("the body failed"), id="exception"),
    ],
)
async def test_other_errors_pass_unchanged(answer, events):
    """Other errors reach the caller as with FastMCP's own proxy."""
    server, _, _ = _upstream(answer)
    own = await call(create_proxy(server, name="upstream"), "note", {"tags": ["a"]})
    result = await call(create_lenient_proxy(server), "note", {"tags": ["a"]})
    assert result.model_dump_json() == own.model_dump_json()
    assert result.is_error
    assert events.names == ["call_accepted"]
