"""Tools called with another spelling of their name."""

from __future__ import annotations

from typing import Any

import pytest
from adapters.raw_calls import raw_call
from calls import Log, call, code, envelope, got, lenient, plain, rules, text
from fastmcp import Client, Context, FastMCP
from fastmcp.exceptions import NotFoundError, ToolError
from fastmcp.server.middleware import Middleware
from fastmcp.tools import Tool
from fastmcp_versions import RAW, not_on_3

from mcp_lenient import LenientMiddleware, Policy


def store_context(tags: list[str]) -> Any:
    """Store."""
    return {"stored": tags}


def v1_2(tags: list[str]) -> Any:
    """Store as version 1.2 did."""
    return {"old": tags}


SPELLINGS = [
    "storeContext",
    "store.context",
    "mcp__Notes__storeContext",
    "functions.store_context",
    "store_context<|channel|>json",
]


async def test_a_respelled_tool_name_is_resolved(events: Log):
    """A name that differs only in case, separators or prefix runs that tool, and is recorded."""
    server = lenient(store_context, v1_2, name="notes")
    for sent in SPELLINGS:
        for tags, repairs in ((["a"], []), ('["a"]', ["json_text_to_array"])):
            result = await call(server, sent, {"tags": tags})
            assert (got(result), rules(result)) == ({"stored": ["a"]}, ["rename_tool", *repairs]), sent
    assert {(event["event"], event["tool"]) for event in events} == {("call_repaired", "store_context")}
    assert len(events) == 2 * len(SPELLINGS)


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param("store context", id="space"),
        pytest.param("_store_context", id="underscore in front"),
        pytest.param("v12", id="another number"),
        pytest.param("mcp__mail__store_context", id="another server"),
        pytest.param("mcp____store_context", id="no server"),
        pytest.param("store_context<|channel|>commentary to=functions.v1_2", id="another recipient"),
        pytest.param("store_context<|channel|>v1_2", id="two tools"),
        pytest.param("x" * 10_000, id="long"),
    ],
)
async def test_other_differences_are_not_resolved(sent: str):
    """A name with any other difference is an unknown tool."""
    assert code(await call(lenient(store_context, v1_2, name="notes"), sent, {"tags": []})) == "UNKNOWN_TOOL"


async def test_an_ambiguous_tool_name_lists_the_candidates():
    """If several tools match a name, none is run, and the envelope lists them."""
    tools = [Tool.from_function(store_context, name=name) for name in ("storeContext", "store-context")]
    result = await call(lenient(*tools), "store_context", {"tags": []})
    assert sorted(envelope(result)["details"]["did_you_mean"]) == ["store-context", "storeContext"]


async def test_a_refusal_uses_the_real_name_of_the_tool():
    """Wrong arguments are reported under the tool's real name."""
    result = await call(lenient(store_context), "storeContext", {"tags": 5})
    assert (code(result), envelope(result)["details"]["tool"]) == ("INVALID_TAGS_TYPE", "store_context")


@pytest.mark.parametrize(
    ("hint", "policy"),
    [
        pytest.param(True, Policy(), id="destructive by its hint"),
        pytest.param(False, Policy(destructive=True), id="destructive by the policy"),
        pytest.param(False, Policy(disable={"rename_tool"}), id="off"),
        pytest.param(False, Policy.strict(), id="strict"),
    ],
)
async def test_a_tool_may_need_its_exact_name(hint: bool, policy: Policy):
    """The name of a destructive tool is not resolved, nor any if the rule is disabled."""
    tool = Tool.from_function(store_context, annotations={"destructiveHint": hint})
    assert code(await call(lenient(tool, policy=policy), "storeContext", {"tags": []})) == "UNKNOWN_TOOL"


async def test_observe_mode_does_not_rename_tools(events: Log):
    """FastMCP answers the caller, and the repair that would have been made is logged."""
    expected = await call(plain(store_context), "storeContext", {"tags": []})
    server = lenient(store_context, policy=Policy(mode="observe"))
    result = await call(server, "storeContext", {"tags": []})
    assert (result.is_error, result.content) == (True, expected.content)
    assert [(each["event"], each["repairs"][0]["rule"]) for each in events] == [
        ("call_observed", "rename_tool")
    ]


class _Guard(Middleware):
    """A middleware that forbids a tool by name, and records the names of calls."""

    def __init__(self, forbidden: str = "") -> None:
        self.forbidden = forbidden
        self.seen: list[str] = []

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        self.seen.append(context.message.name)
        if context.message.name == self.forbidden:
            raise ToolError(self.forbidden)
        return await call_next(context)


async def test_other_middleware_sees_the_real_name():
    """The call is renamed before any other middleware, and reaches each once."""
    outer, inner = _Guard(), _Guard()
    server = FastMCP("notes", middleware=[outer, LenientMiddleware(), inner], tools=[store_context])
    assert rules(await call(server, "storeContext", {"tags": ["a"]})) == ["rename_tool"]
    assert (outer.seen, inner.seen) == (["store_context"], ["store_context"])
    guarded = FastMCP(
        "notes", middleware=[_Guard("store_context"), LenientMiddleware()], tools=[store_context]
    )
    result = await call(guarded, "storeContext", {"tags": []})
    assert (result.is_error, text(result)) == (True, "store_context")


async def test_calls_made_by_another_middleware_are_not_renamed():
    """The rename is recorded for the renamed call, not for calls that another middleware makes meanwhile."""

    class Auditing(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            if context.message.name == "store_context":
                audited = await context.fastmcp_context.fastmcp.call_tool("v1_2", {"tags": ["b"]})
                assert rules(audited) == []
            return await call_next(context)

    server = FastMCP("notes", middleware=[Auditing(), LenientMiddleware()], tools=[store_context, v1_2])
    assert rules(await call(server, "storeContext", {"tags": ["a"]})) == ["rename_tool"]


@not_on_3(RAW)
async def test_raw_arguments_keep_their_spelling():
    """Numbers in arguments sent as text keep their spelling if the tool is renamed too."""
    server = lenient(store_context)
    async with Client(server) as client:
        result = await raw_call(client, "storeContext", '{"tags": [3.10]}')
    assert got(result) == {"stored": ["3.10"]}


async def test_a_version_is_requested_under_the_real_name():
    """The renamed call keeps the requested version."""
    server = lenient()
    for version, function in (("1.0", v1_2), ("2.0", store_context)):
        server.add_tool(Tool.from_function(function, name="store_context", version=version))
    assert got(await call(server, "storeContext", {"tags": []}, version="1.0")) == {"old": []}


@pytest.mark.parametrize("sent", ["mcp__files__store_context", "filesStoreContext", "files.store-context"])
async def test_a_mounted_servers_tool_is_found(sent: str):
    """With several mounted servers, the prefix selects the server."""
    server = lenient(name="all")
    for name in ("files", "docs"):
        server.mount(plain(store_context, name=name), namespace=name)
    result = await call(server, sent, {"tags": ["a"]})
    assert rules(result) == ["rename_tool"]


async def test_a_server_prefix_does_not_match_a_tool_name():
    """A tool named ``files_store`` does not match the tool ``store`` of a server ``files``."""
    server = lenient(Tool.from_function(store_context, name="files_store"), name="all")
    assert code(await call(server, "mcp__files__store", {"tags": []})) == "UNKNOWN_TOOL"


async def test_names_in_a_bodys_calls_are_not_resolved():
    """A body that calls a tool by another spelling of its name gets FastMCP's exception."""
    server = lenient(store_context)

    async def outer(ctx: Context) -> Any:
        with pytest.raises(NotFoundError):
            await ctx.fastmcp.call_tool("storeContext", {"tags": ["a"]})
        return (await ctx.fastmcp.call_tool("store_context", {"tags": ["a"]})).structured_content

    server.add_tool(outer)
    assert got(await call(server, "outer", {})) == {"stored": ["a"]}
