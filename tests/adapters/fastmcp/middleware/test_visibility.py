"""Unknown, hidden and disabled tools: near names are suggested, but never those of hidden tools."""

from __future__ import annotations

from typing import Any

import pytest
from adapters.fastmcp.hiding import Hiding
from calls import Log, call, code, envelope, got, lenient, plain, rules, text
from fastmcp import Client, Context, FastMCP
from fastmcp.tools import Tool
from fastmcp_versions import in_era

from mcp_lenient import LenientMiddleware, Policy


def store_context(tags: list[str]) -> Any:
    """Store."""
    return {"stored": tags}


def search_context(tags: list[str]) -> Any:
    """Search."""
    return {"found": tags}


def send_mail(tags: list[str]) -> Any:
    """Send."""
    return {"sent": tags}


async def test_near_names_are_suggested(events: Log):
    """The envelope for an unknown tool lists the most similar name first, once, and no tool is run."""
    tools = [Tool.from_function(store_context, version=version) for version in ("1.0", "2.0")]
    many = (Tool.from_function(send_mail, name=f"tool_{n}") for n in range(50))
    server = lenient(send_mail, search_context, *tools, *many)
    for sent, meant in (("store_contexts", "store_context"), ("send_email", "send_mail")):
        result = await call(server, sent, {"tags": '["a"]'})
        reported = envelope(result)
        assert (reported["error_code"], reported["details"]["tool"]) == ("UNKNOWN_TOOL", sent)
        assert reported["details"]["did_you_mean"][0] == meant
        assert reported["details"]["did_you_mean"].count(meant) == 1
        assert meant in reported["message"]
    assert [(each["event"], each["error_code"]) for each in events] == [("call_rejected", "UNKNOWN_TOOL")] * 2


def _hidden_by_auth() -> FastMCP:
    server = lenient(search_context)
    server.add_tool(Tool.from_function(send_mail, auth=lambda _: False))
    return server


def _disabled_in_child() -> FastMCP:
    child = plain(send_mail, search_context, name="child")
    child.disable(names={"send_mail"})
    server = lenient()
    server.mount(child)
    return server


def _hidden_inside() -> FastMCP:
    server = lenient(send_mail, search_context)
    server.add_middleware(Hiding("send_mail"))
    return server


def _hidden_outside() -> FastMCP:
    server = plain(send_mail, search_context)
    server.add_middleware(Hiding("send_mail"))
    server.add_middleware(LenientMiddleware())
    return server


UNKNOWN, BY_MIDDLEWARE = [_hidden_by_auth, _disabled_in_child], [_hidden_inside, _hidden_outside]


@pytest.mark.parametrize("hidden", [*UNKNOWN, *BY_MIDDLEWARE])
async def test_hidden_tools_are_not_suggested(hidden):
    """A name similar to a hidden tool's gets no suggestion."""
    result = await call(hidden(), "sned_mail", {"tags": []})
    assert code(result) == "UNKNOWN_TOOL"
    assert "send_mail" not in str(result)


@pytest.mark.parametrize("hidden", BY_MIDDLEWARE)
async def test_another_middleware_may_hide_a_tool(hidden):
    """A call that another middleware blocks gets FastMCP's answer."""
    for tags in (["a"], '["a"]'):
        result = await call(hidden(), "send_mail", {"tags": tags})
        assert (result.is_error, text(result)) == (True, "Unknown tool: 'send_mail'")
        assert "mcp_lenient" not in (result.meta or {})


@pytest.mark.parametrize("hidden", UNKNOWN)
async def test_a_hidden_tool_is_unknown(hidden):
    """A call of a hidden tool reveals nothing about its parameters."""
    for tags in (["a"], '["a"]', 5):
        reported = envelope(await call(hidden(), "send_mail", {"tags": tags}))
        assert reported["error_code"] == "UNKNOWN_TOOL"
        assert reported["details"].pop("tool") == "send_mail"
        assert "send_mail" not in str(reported["details"])
        assert reported["details"].keys() <= {"tools"}


async def test_a_tool_may_be_hidden_from_one_client():
    """A client gets no information about a tool that only another client may call, in any spelling of its name."""
    server = lenient(send_mail)

    async def hide(ctx: Context) -> None:
        await ctx.disable_components(names={"send_mail"})

    server.add_tool(hide)
    async with Client(server, **in_era("legacy")) as blind, Client(server, **in_era("legacy")) as seeing:
        await blind.call_tool_mcp("hide", {})
        for tags in (["a"], '["a"]', 5):
            assert not (await seeing.call_tool_mcp("send_mail", {"tags": '["a"]'})).is_error
            for name in ("send_mail", "sendMail"):
                assert code(await blind.call_tool_mcp(name, {"tags": tags})) == "UNKNOWN_TOOL"


@pytest.mark.parametrize("how", ["forbidden", "disabled"])
async def test_a_tool_hidden_after_a_call_is_unknown(how, events: Log):
    """A tool that is forbidden or disabled after it was cached is unknown, and its parameters are not shown."""
    allowed = [True]
    server = lenient(Tool.from_function(send_mail, auth=lambda _: bool(allowed)))
    assert got(await call(server, "send_mail", {"tags": '["a"]'})) == {"sent": ["a"]}
    events.clear()
    if how == "forbidden":
        allowed.clear()
    else:
        server.disable(names={"send_mail"})
    for tags in (["a"], '["a"]', 5):
        reported = envelope(await call(server, "send_mail", {"tags": tags}))
        assert reported["details"]["tool"] == "send_mail"
        assert reported["details"].keys() <= {"tool", "repeated", "alike"}
    assert [each["error_code"] for each in events if each["event"] == "call_rejected"] == ["UNKNOWN_TOOL"] * 3
    allowed.append(True)
    server.enable(names={"send_mail"})
    assert rules(await call(server, "send_mail", {"tags": '["a"]'})) == ["json_text_to_array"]


@pytest.mark.parametrize(("mode", "logged"), [("off", []), ("observe", ["call_observed"])])
async def test_fastmcp_answers_an_unknown_tool_in_other_modes(mode, logged, events: Log):
    """In off and observe mode, FastMCP answers the call of an unknown tool."""
    expected = await call(plain(store_context), "store", {})
    result = await call(lenient(store_context, policy=Policy(mode=mode)), "store", {})
    assert (result.is_error, result.content, events.names) == (True, expected.content, logged)
