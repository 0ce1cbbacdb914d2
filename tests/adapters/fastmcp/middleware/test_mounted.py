"""Mounted servers: each call is repaired and logged once, whichever servers have the middleware."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from calls import Log, call, code, got, lenient, plain, rules
from fastmcp import FastMCP
from fastmcp.exceptions import ValidationError
from fastmcp.tools import Tool

from mcp_lenient import LenientMiddleware, Policy


def add(numbers: list[int]) -> Any:
    """Add the numbers."""
    return {"sum": sum(numbers)}


def _chain(with_middleware: tuple[bool, ...], namespace: str | None) -> tuple[FastMCP, str]:
    """Mount servers in each other, and return the outermost with the tool's name in it."""
    name, below = "add", None
    for depth in reversed(range(len(with_middleware))):
        server = (lenient if with_middleware[depth] else plain)(name=f"level{depth}")
        if below is None:
            server.add_tool(add)
        else:
            server.mount(below, namespace=namespace)
            name = f"{namespace}_{name}" if namespace else name
        below = server
    assert below is not None
    return below, name


CHAINS = [chain for length in (2, 3) for chain in product([True, False], repeat=length) if any(chain)]
NAMESPACES = pytest.mark.parametrize("namespace", [None, "ns"], ids=["same_name", "namespaced"])


def _id(chain: tuple[bool, ...]) -> str:
    return "-".join("lenient" if each else "plain" for each in chain)


@NAMESPACES
@pytest.mark.parametrize("chain", CHAINS, ids=_id)
async def test_a_call_of_a_mounted_tool_is_decided_once(chain, namespace, events: Log):
    """Only one of the servers accepts, repairs or refuses each call, and logs it; the outermost an unknown name."""
    server, name = _chain(chain, namespace)
    assert rules(await call(server, name, {"numbers": [1]})) == []
    result = await call(server, name, {"numbers": "[1, 2]"})
    assert (got(result), rules(result)) == ({"sum": 3}, ["json_text_to_array"])
    assert code(await call(server, name, {"numbers": True})) == "INVALID_NUMBERS_TYPE"
    unknown = await call(server, "sub", {})
    assert not chain[0] or code(unknown) == "UNKNOWN_TOOL"
    assert events.names == ["call_accepted", "call_repaired", *["call_rejected"] * (1 + chain[0])]


@pytest.mark.parametrize("sent", [{"numbers": "[1]"}, {"numbers": True}], ids=["near", "wrong"])
async def test_observing_servers_observe_once(sent, events: Log):
    """If parent and child observe, the call is unchanged and logged once."""
    child, parent = (lenient(policy=Policy(mode="observe"), name=name) for name in ("child", "parent"))
    child.add_tool(add)
    parent.mount(child, namespace="ns")
    result = await call(parent, "ns_add", sent)
    assert result.is_error
    assert events.names == ["call_observed"]


async def test_a_child_need_not_observe_what_its_parent_repairs(events: Log):
    """A repaired call of a child that observes is one event, that of the parent."""
    parent = lenient(name="parent")
    parent.mount(lenient(add, name="child", policy=Policy(mode="observe")))
    assert rules(await call(parent, "add", {"numbers": "[1]"})) == ["json_text_to_array"]
    assert events.names == ["call_repaired"]


async def test_the_event_names_both_servers(events: Log):
    """The event names the called server and the path of the mounted server with the tool."""
    server, name = _chain((True, False, True), "ns")
    await call(server, name, {"numbers": "[1]"})
    (event,) = events
    assert (event["server"], event["mounted"], event["tool"]) == ("level0", "level1/level2", "ns_ns_add")


async def test_a_mounted_tools_call_of_itself_is_not_repaired():
    """A tool's call of itself is a new call of its body's, not the parent's call arriving again."""
    child = lenient(name="child")

    async def again(numbers: list[int], *, more: bool = True) -> Any:
        if not more:
            return {"numbers": numbers}
        with pytest.raises(ValidationError):
            await child.call_tool("again", {"numbers": "[2]", "more": False})
        return got(await child.call_tool("again", {"numbers": [2], "more": False}))

    child.add_tool(again)
    parent = lenient(name="parent")
    parent.mount(child)
    assert got(await call(parent, "again", {"numbers": "[1]"})) == {"numbers": [2]}


@pytest.mark.parametrize("strict", ["parent", "child"])
async def test_strictness_is_that_of_the_tools_own_server(strict):
    """The server that owns the tool decides whether ``"1"`` is accepted or repaired."""
    child = plain(add, name="child", strict=strict == "child")
    parent = lenient(name="parent", strict=strict == "parent")
    parent.mount(child)
    result = await call(parent, "add", {"numbers": ["1", 2]})
    assert got(result) == {"sum": 3}
    assert rules(result) == (["text_to_integer"] if strict == "child" else [])


async def test_one_middleware_may_serve_two_servers():
    """One middleware on two servers does not confuse their tools with the same name."""

    def first(value: list[int]) -> Any:
        return {"value": value}

    def second(value: str) -> Any:
        return {"value": value}

    middleware = LenientMiddleware()
    servers = [plain(Tool.from_function(function, name="tool")) for function in (first, second)]
    for server in servers:
        server.add_middleware(middleware)
    for _ in range(2):
        assert got(await servers[0].call_tool("tool", {"value": "[1]"})) == {"value": [1]}
        assert got(await servers[1].call_tool("tool", {"value": "[1]"})) == {"value": "[1]"}
