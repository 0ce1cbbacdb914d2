"""Tests of ``make_lenient`` on the official SDK 1; ``test_sdk_1.py`` runs them separately."""

import json
import sys
from contextlib import asynccontextmanager
from typing import Any

from mcp import McpError, types
from mcp.server.fastmcp import Context, FastMCP
from mcp.server.lowlevel import Server
from mcp.shared.memory import create_connected_server_and_client_session
from pydantic import BaseModel

from benchmarks.hosts.log import events_of
from mcp_lenient import Policy
from mcp_lenient.adapters.mcp_sdk import make_lenient
from tests.adapters.running import print_outcomes, rules

SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["text"],
    "additionalProperties": False,
}


def note(text: str, ctx: Context, labels: list[str] | None = None, limit: int = 10) -> Any:
    """Keep a note."""
    return json.dumps({"text": text, "labels": labels, "limit": limit, "ctx": ctx is not None})


def functions(policy: Policy | None = None, *tools: Any, **settings: Any) -> FastMCP:
    """Create a lenient server with functions as tools."""
    server = make_lenient(FastMCP("notes", log_level="CRITICAL"), policy)
    for tool in tools or (note,):
        server.tool(**settings)(tool)
    return server


class Low:
    """A lenient low-level server that records the arguments of calls."""

    def __init__(self, policy: Policy | None = None, *, validate_input: bool = True, **tool: Any) -> None:
        self.got: list[Any] = []
        self.tool = types.Tool(**{"name": "note", "inputSchema": SCHEMA, **tool})
        self.server = Server("low")

        @self.server.list_tools()
        async def list_tools() -> list[types.Tool]:
            return [self.tool]

        @self.server.call_tool(validate_input=validate_input)
        async def call_tool(_name: str, arguments: dict[str, Any]) -> list[types.TextContent]:
            self.got.append(arguments)
            return [types.TextContent(type="text", text="ran")]

        make_lenient(self.server, policy)


@asynccontextmanager
async def connected(server: Any) -> Any:
    """Connect a client to a server."""
    async with create_connected_server_and_client_session(getattr(server, "_mcp_server", server)) as session:
        yield session


def request(tool: str, arguments: Any) -> Any:
    """Create a call request whose arguments are not validated."""
    params = types.CallToolRequestParams.model_construct(name=tool, arguments=arguments)
    return types.ClientRequest.model_construct(
        root=types.CallToolRequest.model_construct(method="tools/call", params=params)
    )


async def call(server: Any, tool: str, arguments: Any) -> Any:
    """Return the result of a call by the SDK's own client."""
    async with connected(server) as session:
        return await session.call_tool(tool, arguments)


def refusal(result: Any) -> dict[str, Any]:
    """Return the envelope, which must be in the first text block and in ``_meta``."""
    assert result.isError
    reported = json.loads(result.content[0].text)
    whole: dict[str, Any] = result.meta["mcp_lenient"]
    assert (reported["error_code"], reported["message"]) == (whole["error_code"], whole["message"])
    return whole


async def test_the_same_call_is_answered_differently() -> None:
    """Where the SDK says nothing of the transport, a client is known by its name."""
    for server in (functions(), Low(Policy(unrepairable="refuse"), validate_input=False).server):
        async with connected(server) as session:
            told = [refusal(await session.call_tool("note", {"text": []})) for _ in range(5)]
            told += [refusal(await session.call_tool("note", {"text": [at]})) for at in range(3)]
        assert [each["details"].get("repeated") for each in told] == [None, 2, 3, 4, 5, None, None, None]
        assert [each["details"].get("alike") for each in told] == [None] * 6 + [3, 4]


async def test_no_fastmcp_is_needed() -> None:
    """The adapter does not import FastMCP."""
    assert "fastmcp" not in sys.modules


async def test_right_nearly_right_and_wrong_calls() -> None:
    """JSON text that the function parses passes unchanged, a repair is in result and log, and a refusal is the envelope."""
    async with connected(functions()) as session:
        with events_of() as events:
            right = await session.call_tool("note", {"text": "x", "labels": '["a"]'})
            near = await session.call_tool("note", {"Text": "x", "labels": "['a']", "limit": None})
            wrong = await session.call_tool("note", {"text": "x", "limit": "many"})
            unknown = refusal(await session.call_tool("notes", {}))
    ran = {"text": "x", "labels": ["a"], "limit": 10, "ctx": True}
    assert [json.loads(each.content[0].text) for each in (right, near)] == [ran, ran]
    assert rules(right) == []
    assert sorted(rules(near)) == ["json5_text_to_array", "null_to_absent", "rename_case"]
    assert refusal(wrong)["error_code"] == "INVALID_LIMIT_TYPE"
    assert (unknown["error_code"], unknown["details"]["did_you_mean"]) == ("UNKNOWN_TOOL", ["note"])
    names = ["call_accepted", "call_repaired", "call_rejected", "call_rejected"]
    assert [each["event"] for each in events] == names
    assert (events[1]["server"], events[1]["client_name"]) == ("notes", "mcp")


async def test_structured_content_is_the_tools_own() -> None:
    """A repaired call keeps it, and a refusal has none, which clients would validate against the output schema."""

    class Kept(BaseModel):
        labels: list[str]

    def keep(labels: list[str]) -> Kept:
        return Kept(labels=labels)

    server = functions(None, keep)
    result, refused = await call(server, "keep", {"labels": "a"}), await call(server, "keep", {})
    assert (result.structuredContent, rules(result)) == ({"labels": ["a"]}, ["scalar_to_array"])
    assert (refused.structuredContent, refusal(refused)["error_code"]) == (None, "MISSING_LABELS")


async def test_a_tool_name_in_another_spelling_is_repaired() -> None:
    """The tool of the listed name runs, on both kinds of servers."""
    assert rules(await call(functions(), "mcp__notes__Note", {"text": "x"})) == ["rename_tool"]
    low = Low()
    assert rules(await call(low.server, "Note", {"text": "x"})) == ["rename_tool"]
    assert low.got == [{"text": "x"}]


async def test_non_object_arguments_never_reach_the_handler() -> None:
    """The SDK refuses the request before it calls a handler."""
    async with connected(functions()) as session:
        try:
            await session.send_request(request("note", '{"text": "x"}'), types.CallToolResult)
        except McpError as error:
            assert "Invalid request parameters" in str(error)  # noqa: PT017 - no pytest here
            return
    raise AssertionError


async def test_python_code_may_call_the_handler() -> None:
    """The event then has no client."""
    with events_of() as events:
        handler = functions()._mcp_server.request_handlers[types.CallToolRequest]
        await handler(request("note", {"text": []}).root)
    assert events[0]["event"] == "call_rejected"
    assert "client_name" not in events[0]


async def test_the_tool_list_is_unchanged() -> None:
    """The list is the same as without ``make_lenient``."""
    alone = FastMCP("notes", log_level="CRITICAL")
    alone.tool()(note)
    async with connected(functions()) as ours, connected(alone) as theirs:
        assert (await ours.list_tools()).model_dump() == (await theirs.list_tools()).model_dump()


async def test_a_destructive_tool_gets_fewer_repairs() -> None:
    """A null is not dropped for a destructive tool."""
    server = functions(annotations=types.ToolAnnotations(destructiveHint=True))
    assert (
        refusal(await call(server, "note", {"text": "x", "limit": None}))["error_code"]
        == "INVALID_LIMIT_TYPE"
    )


async def test_a_low_level_server_is_validated_like_the_sdk() -> None:
    """The SDK validates against the published schema itself, so that other calls are refused."""
    low = Low()
    assert rules(await call(low.server, "note", {"Text": "x", "n": "5"})) == [
        "rename_case",
        "text_to_integer",
    ]
    assert refusal(await call(low.server, "note", {"text": []}))["error_code"] == "INVALID_TEXT_TYPE"
    assert low.got == [{"text": "x", "n": 5}]


async def test_a_name_that_a_low_level_server_would_drop_is_renamed() -> None:
    """Where the schema allows other names, a declared one in another style is renamed, and any other one passes."""
    properties = {"max_results": {"type": "integer"}}
    low = Low(inputSchema={"type": "object", "properties": properties})
    assert rules(await call(low.server, "note", {"maxResults": 5, "more": 1})) == ["rename_case"]
    assert low.got == [{"max_results": 5, "more": 1}]


async def test_a_non_validating_server_gets_unrepairable_calls() -> None:
    """An unrepairable call is forwarded if the handler does not validate it."""
    low = Low(validate_input=False)
    assert not (await call(low.server, "note", {"text": []})).isError
    assert low.got == [{"text": []}]


async def test_an_unlisted_tool_of_a_low_level_server_is_called() -> None:
    """A server may have more tools than it lists, unless the policy says otherwise."""
    low = Low()
    await call(low.server, "hidden", {"text": 5})
    assert low.got == [{"text": 5}]
    strict = Low(Policy(unrepairable="refuse"))
    assert refusal(await call(strict.server, "hidden", {}))["error_code"] == "UNKNOWN_TOOL"


async def test_a_low_level_server_without_a_tool_list_is_unaffected() -> None:
    """Without a tool list no call is repaired or refused."""
    low = Low(Policy(unrepairable="refuse"))
    del low.server.request_handlers[types.ListToolsRequest]
    async with connected(low.server) as session:
        await session.send_request(request("note", {"text": 5}), types.CallToolResult)
    assert low.got == [{"text": 5}]


async def test_the_schema_is_refreshed_before_a_repair() -> None:
    """No call is repaired for an outdated schema."""
    low = Low(validate_input=False)
    async with connected(low.server) as session:
        await session.call_tool("note", {"text": "x"})
        low.tool = types.Tool(name="note", inputSchema={"type": "object"})
        await session.call_tool("note", {"text": "x", "n": "5"})
    assert low.got[-1] == {"text": "x", "n": "5"}


async def test_a_server_without_a_call_handler_is_an_error() -> None:
    """``make_lenient`` raises if no call handler is registered yet."""
    try:
        make_lenient(Server("empty"))
    except ValueError as error:
        assert "after @server.call_tool()" in str(error)  # noqa: PT017 - no pytest here
    else:
        raise AssertionError


async def test_decisions_are_reported() -> None:
    """``on_decision`` gets each decision, with values on request."""
    decisions: list[Any] = []
    server = make_lenient(FastMCP("notes"), on_decision=decisions.append, decision_values=True)
    server.tool()(note)
    for limit in (1, "one", None):
        await call(server, "note", {"text": "x", "limit": limit})
    assert [(each.status, each.arguments.get("limit")) for each in decisions] == [
        ("accepted", 1),
        ("refused", "one"),
        ("repaired", None),
    ]


if __name__ == "__main__":
    print_outcomes(dict(globals()))
