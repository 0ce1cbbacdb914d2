"""``@lenient`` without the middleware: each call ends as it does with the middleware."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from calls import Log, call, got, plain
from fastmcp import Client, Context, FastMCP
from fastmcp.exceptions import ToolError, ValidationError
from fastmcp.tools import Tool
from fastmcp_versions import DIRECT, in_era, not_on_3

from mcp_lenient import LenientMiddleware, Policy, lenient
from mcp_lenient.normalizers import aliases, tags


def keep(content: str, tags: list[str] | None = None) -> list[str]:
    """Keep a text."""
    return [content, *(tags or [])]


async def keep_later(content: str, tags: list[str] | None = None) -> list[str]:
    """Keep a text later."""
    return keep(content, tags)


DECLARED = lenient(tags=tags(lower=True), content=aliases("text"))
CALLS: dict[str, dict[str, Any]] = {
    "right": {"content": "a", "tags": ["b"]},
    "nothing": {},
    "missing": {"tags": ["b"]},
    "unknown": {"content": "a", "tagz": ["b"]},
    "wrapped": {"args": {"content": "a"}},
    "another case": {"Content": "a", "Tags": ["b"]},
    "alias": {"text": "a"},
    "injected": {"content": "a", "toolCallId": "call_1"},
    "text": {"content": "a", "tags": '["b"]'},
    "normalized": {"content": "a", "tags": ["B"]},
    "wrong": {"content": ["a", "b"], "tags": 5},
}


async def _outcomes(server: FastMCP, tool: str, events: Log) -> list[Any]:
    """Return what the caller of each call gets, and what is logged of a call that was not right."""
    outcomes = []
    async with Client(server) as client:
        for arguments in CALLS.values():
            events.clear()
            result = await client.call_tool_mcp(tool, arguments)
            said = {name: each for name, each in (result.meta or {}).items() if not name.startswith("io.")}
            logged = [(each["event"], each.get("repairs"), each.get("violations")) for each in events]
            outcomes.append(
                (result.content, result.structured_content, said, [each for each in logged if any(each[1:])])
            )
    return outcomes


@pytest.mark.parametrize("function", [keep, keep_later])
@pytest.mark.parametrize(
    ("decorate", "strict"), [(lenient, False), (DECLARED, True)], ids=["bare-lax", "declared-strict"]
)
async def test_each_call_ends_as_with_the_middleware(function, decorate, strict, events: Log):
    """Result, metadata and event are the same, whether the call is right, repaired or refused."""
    decorated = decorate(function)
    alone, helped = plain(decorated, strict=strict), plain(decorated, strict=strict)
    helped.add_middleware(LenientMiddleware())
    expected = await _outcomes(helped, function.__name__, events)
    assert await _outcomes(alone, function.__name__, events) == expected


@not_on_3(DIRECT)
@pytest.mark.parametrize("by_tool", [False, True], ids=["call_tool", "run"])
@pytest.mark.parametrize(
    "arguments", [{"tags": ["b"]}, {"content": "a", "tagz": 1}], ids=["missing", "unknown"]
)
async def test_a_nested_call_raises(arguments, by_tool):
    """A tool's body that calls a decorated tool wrongly gets an exception, and a result if it calls it rightly."""
    seen: list[Any] = []

    async def outer(ctx: Context) -> str:
        tool: Any = await ctx.fastmcp.get_tool("keep")
        run = tool.run if by_tool else partial(ctx.fastmcp.call_tool, "keep")
        seen.append(await run({"content": "a"}))
        with pytest.raises((ToolError, ValidationError), match=r"MISSING_CONTENT|UNKNOWN_PARAMETER"):
            await run(arguments)
        return "ok"

    assert got(await call(plain(lenient(keep), outer), "outer", {})) == "ok"
    assert got(seen[0]) == ["a"]


@pytest.mark.parametrize("mode", ["observe", "off"])
async def test_other_modes_change_no_call(mode, events: Log):
    """With another mode, the caller gets FastMCP's own answer; ``observe`` logs what would have happened."""
    decorated = lenient(policy=Policy(mode=mode), tags=tags(lower=True))(keep)
    asked = [CALLS[name] for name in ("right", "unknown", "alias", "normalized", "wrong")]
    for arguments in asked:
        own, answer = [await call(plain(each), "keep", arguments) for each in (keep, decorated)]
        assert answer.content == own.content
        assert "mcp_lenient" not in (answer.meta or {})
    assert events.names == (["call_observed"] * 4 if mode == "observe" else [])


async def test_one_function_as_two_tools():
    """Each tool of an asynchronous function answers under its own name."""
    server = FastMCP("server")
    for name in ("first", "second"):
        server.add_tool(Tool.from_function(_SHARED, name=name))
        refused = await call(server, name, {})
        assert (refused.meta or {})["mcp_lenient"]["details"]["tool"] == name


_SHARED = lenient(keep_later)


async def test_a_repeated_wrong_call_is_told():
    """A call that was refused before is answered with how often it was sent, until a right one follows."""
    server = plain(lenient(keep))
    sent: list[dict[str, Any]] = [{}, {}, {"content": "a"}, {}]
    async with Client(server, **in_era("legacy")) as client:
        results = [await client.call_tool_mcp("keep", arguments) for arguments in sent]
    told = [
        (result.meta or {}).get("mcp_lenient", {}).get("details", {}).get("repeated") for result in results
    ]
    assert told == [None, 2, None, None]


async def test_an_error_of_the_body_stays_an_error_of_the_body():
    """What the body raises on a repaired call is not taken for a wrong argument."""

    @lenient
    def fail(content: str) -> str:
        """Fail."""
        raise ValueError(content)

    server = plain(fail)
    for arguments in ({"content": "a"}, {"Content": "a"}):
        result = await call(server, "fail", arguments)
        assert result.content[0].text == "Error calling tool 'fail': a"  # type: ignore[union-attr]
