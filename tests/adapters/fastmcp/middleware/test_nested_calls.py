"""Calls made by a tool's body run as they are, or are refused with FastMCP's own exception."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from calls import Log, Published, call, code, got, lenient, plain, published, rules, text
from fastmcp import Client, Context, FastMCP
from fastmcp.exceptions import NotFoundError, ToolError, ValidationError
from fastmcp.tools import ToolResult

from mcp_lenient import Policy


def inner(numbers: list[int]) -> Any:
    """Add the numbers; bodies call this tool."""
    return {"sum": sum(numbers)}


async def _outcome(server: FastMCP, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return what a body gets from a call that it makes."""
    try:
        result = await server.call_tool(tool, arguments)
    except (ValidationError, NotFoundError, ToolError) as error:
        return {"raised": type(error).__name__}
    return {
        "returned": result.structured_content,
        "failed": result.is_error,
        "rules": [] if result.is_error else rules(result),
    }


async def outer(tool: str, arguments: dict[str, Any], ctx: Context) -> Any:
    """Call another tool of the same server."""
    return await _outcome(ctx.fastmcp, tool, arguments)


async def outer_leaking(tool: str, arguments: dict[str, Any], ctx: Context) -> Any:
    """Call another tool of the same server, and do not catch its exceptions."""
    return (await ctx.fastmcp.call_tool(tool, arguments)).structured_content


class _Outer(Published):
    """A custom tool that calls another tool of the same server."""

    server: Any = None

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        outcome = await _outcome(self.server, arguments["tool"], arguments["arguments"])
        return ToolResult(structured_content=outcome)


WRONG = [
    pytest.param("inner", {"numbers": True}, "ValidationError", id="wrong"),
    pytest.param("nowhere", {}, "NotFoundError", id="unknown_tool"),
]


def _mounted(parent: FastMCP, child: FastMCP) -> FastMCP:
    parent.mount(child, namespace="ns")
    return parent


WHERE: dict[str, Any] = {
    "own": (lambda: lenient(inner, outer), "outer", ""),
    "child": (lambda: _mounted(lenient(), lenient(inner, outer, name="child")), "ns_outer", ""),
    "plain_child": (lambda: _mounted(lenient(), plain(inner, outer, name="child")), "ns_outer", ""),
    "parent": (lambda: _mounted(lenient(outer), lenient(inner, name="child")), "outer", "ns_"),
}


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize(("tool", "arguments", "error"), WRONG)
async def test_a_body_gets_the_exception(tool, arguments, error, where, events: Log):
    """A body that calls a tool wrongly gets FastMCP's exception: an envelope would look like success."""
    make, caller, prefix = WHERE[where]
    server, sent = make(), {"tool": prefix + tool, "arguments": arguments}
    assert got(await call(server, caller, sent)) == {"raised": error}
    assert got(await server.call_tool(caller, sent)) == {"raised": error}
    if where != "plain_child":
        assert events.names.count("call_rejected") == 2 * (error == "ValidationError")


async def test_a_bodys_call_runs_as_the_body_makes_it(events: Log):
    """The client's call is repaired; what the body makes of it is not, as the body may have checked it."""
    server = lenient(inner, outer)
    result = await call(server, "outer", {"tool": "inner", "arguments": '{"numbers": [1]}'})
    assert got(result) == {"returned": {"sum": 1}, "failed": False, "rules": []}
    assert rules(result) == ["json_text_to_object"]
    nearly = await call(server, "outer", {"tool": "inner", "arguments": {"numbers": "[1]"}})
    assert got(nearly) == {"raised": "ValidationError"}
    not_accepted = [event for event in events if event["event"] != "call_accepted"]
    assert [(event["event"], event["tool"]) for event in not_accepted] == [
        ("call_repaired", "outer"),
        ("call_rejected", "inner"),
    ]


async def test_a_recursive_call_is_detected():
    """A tool that calls itself wrongly gets the exception, although the running call has the same name."""

    async def again(numbers: list[int], ctx: Context) -> Any:
        if len(numbers) == 1:
            return {"sum": numbers[0]}
        return [await _outcome(ctx.fastmcp, "again", {"numbers": sent}) for sent in ([1], "[1]", True)]

    right, *wrong = got(await call(lenient(again), "again", {"numbers": "[1, 2]"}))
    assert right["returned"] == {"sum": 1}
    assert wrong == [{"raised": "ValidationError"}] * 2


@pytest.mark.parametrize(
    ("tool", "rejected"), [("inner", ["inner"]), ("nowhere", [])], ids=["refused", "unknown"]
)
async def test_a_leaked_error_is_not_the_callers_fault(tool, rejected, events: Log):
    """An uncaught error of a nested call reaches the client in FastMCP's words, not as an envelope."""
    server = lenient(inner, outer_leaking)
    result = await call(server, "outer_leaking", {"tool": tool, "arguments": {"numbers": True}})
    assert (result.is_error, "mcp_lenient" in (result.meta or {})) == (True, False)
    assert [each["tool"] for each in events if each["event"] == "call_rejected"] == rejected


@pytest.mark.parametrize("own", [True, False], ids=["own", "other"])
async def test_a_call_over_the_wire_is_a_clients_call(own):
    """A body that calls its own or another server as a client gets the envelope, like every client, but no repair."""
    other = lenient(inner, name="other")

    async def relay(numbers: Any, ctx: Context) -> Any:
        async with Client(ctx.fastmcp if own else other) as client:
            result = await client.call_tool_mcp("inner", {"numbers": numbers})
        return {"code": code(result)} if result.is_error else {"rules": rules(result)}

    server = lenient(inner, relay)
    refused = {"code": "INVALID_NUMBERS_TYPE"}
    for sent, answer in ((True, refused), ("[1]", refused), ([1], {"rules": []})):
        assert got(await call(server, "relay", {"numbers": sent})) == answer
        assert got(await server.call_tool("relay", {"numbers": sent})) == answer


async def test_concurrent_nested_calls_all_raise():
    """Calls that a body makes in separate tasks raise as well; none of them is repaired, since a guard may have made it."""

    async def many(ctx: Context) -> Any:
        sent = [{"numbers": True}, {"numbers": "[1]"}, {}, {"numbers": [2]}]
        return await asyncio.gather(*(_outcome(ctx.fastmcp, "inner", each) for each in sent))

    raised = [outcome.get("raised") for outcome in got(await call(lenient(inner, many), "many", {}))]
    assert raised == [*["ValidationError"] * 3, None]


@pytest.mark.parametrize("mode", ["observe", "off"])
async def test_nested_calls_raise_in_every_mode(mode):
    """The mode for a tool's own calls does not change what its body gets from nested calls."""
    server = lenient(inner, outer, patterns={"outer": Policy(mode=mode)})
    result = await call(server, "outer", {"tool": "inner", "arguments": {"numbers": True}})
    assert got(result) == {"raised": "ValidationError"}


@pytest.mark.parametrize("mode", ["repair", "observe"])
@pytest.mark.parametrize(
    "kind", ["string", "integer", "float"], ids=["accepted", "forwarded", "not_compiled"]
)
async def test_nested_calls_of_a_custom_tool_raise(kind, mode):
    """A custom tool gets the exception too, whether its own call was accepted, forwarded or not validated."""
    server = lenient(inner, patterns={"own": Policy(mode=mode)})
    schema = published(tool={"type": kind}, arguments={"type": "object"})
    server.add_tool(_Outer(**schema.model_dump(), server=server))
    result = await call(server, "own", {"tool": "inner", "arguments": {"numbers": True}})
    assert got(result) == {"raised": "ValidationError"}


class _Leaking(_Outer):
    """A custom tool that does not catch the exceptions of its calls."""

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        result: ToolResult = await self.server.call_tool(arguments["tool"], arguments["arguments"])
        return result


async def test_a_leaked_error_of_a_forwarded_tool_is_not_its_own_refusal():
    """If a nested call's refusal is not caught, the answer does not say that the outer tool was not run."""
    schema = {"tool": {"type": "integer"}, "arguments": {"type": "object"}}
    server = lenient(inner)
    server.add_tool(_Leaking(**published(**schema).model_dump(), server=server))
    result = await call(server, "own", {"tool": "inner", "arguments": {"numbers": True}})
    assert result.is_error
    assert "was not run" not in text(result)
