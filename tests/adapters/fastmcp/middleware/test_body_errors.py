"""Test exceptions of a tool's own code."""

from __future__ import annotations

from typing import Any

import pytest
from calls import Log, call, envelope, lenient, plain, text
from fastmcp import Context
from fastmcp.exceptions import McpError, ToolError, ValidationError
from fastmcp_versions import not_on_3

from mcp_lenient import Policy, tool_error
from mcp_lenient.adapters.fastmcp.compat import host

ENVELOPE = Policy(body_errors="envelope")


def _raised(kind: str) -> Exception:
    return {
        "key": KeyError("/srv/private"),
        "validation": ValidationError("private"),
        "tool": ToolError("mine"),
        "chained": ToolError("mine"),
        "refusal": tool_error("NOT_FOUND", "There is none."),
        "protocol": host.invalid_params("wrong", None),
    }[kind]


def boom(kind: str, tags: list[str] | None = None) -> str:
    """Raise an exception."""
    if kind == "chained":
        msg = f"{kind} {tags}"
        raise ToolError(msg) from KeyError("x")
    raise _raised(kind)


@pytest.mark.parametrize("kind", ["key", "validation"])
@pytest.mark.parametrize("tags", [["a"], '["a"]'], ids=["accepted", "repaired"])
async def test_an_unexpected_exception_is_an_envelope_with_the_id_of_the_event(tags, kind, events: Log):
    """The answer has neither the exception's text nor its type; the log has the type, under the same id."""
    result = await call(lenient(boom, policy=ENVELOPE), "boom", {"kind": kind, "tags": tags})
    told = envelope(result)
    assert told["error_code"] == "TOOL_FAILED"
    assert "private" not in str(result)
    event = events[-1]
    assert (event["event"], event["error_code"]) == ("call_failed", "TOOL_FAILED")
    assert event["exception"] == type(_raised(kind)).__name__
    assert event["error_id"] == told["details"]["error_id"]
    assert "private" not in str(events)


@pytest.mark.parametrize(
    "kind",
    [
        "tool",
        "chained",
        pytest.param(
            "refusal", marks=not_on_3("without a middleware, the name of the called tool is unknown")
        ),
        "protocol",
    ],
)
async def test_what_an_author_means_passes_unchanged(kind, events: Log):
    """``ToolError``, ``tool_error`` and ``McpError`` are answered as by FastMCP alone, and logged."""
    expected = await call(plain(boom), "boom", {"kind": kind})
    result = await call(lenient(boom, policy=ENVELOPE), "boom", {"kind": kind})
    assert (result.is_error, text(result)) == (True, text(expected))
    event = events[-1]
    assert event["event"] == "call_failed"
    assert "error_id" not in event
    if kind == "refusal":
        assert event["error_code"] == "NOT_FOUND"
        assert "exception" not in event
    else:
        assert event["exception"] == (McpError if kind == "protocol" else ToolError).__name__


@pytest.mark.parametrize(
    ("policy", "logged"),
    [
        pytest.param(Policy(), ["KeyError"], id="default"),
        pytest.param(ENVELOPE.changed(mode="observe"), ["KeyError"], id="observe"),
        pytest.param(ENVELOPE.changed(mode="off"), [], id="off"),
    ],
)
async def test_by_default_fastmcp_answers(policy, logged, events: Log):
    """Without the setting, and in other modes, the answer is FastMCP's; nothing is logged if the mode is off."""
    expected = await call(plain(boom), "boom", {"kind": "key"})
    result = await call(lenient(boom, policy=policy), "boom", {"kind": "key"})
    assert (result.is_error, text(result)) == (True, text(expected))
    assert [event["exception"] for event in events if event["event"] == "call_failed"] == logged
    assert (events.names == []) is (logged == [])


async def test_a_nested_call_raises_as_before(events: Log):
    """A body that calls another tool gets its exception, and may handle it; nothing is logged of that call."""

    async def outer(ctx: Context) -> str:
        with pytest.raises(ToolError, match="Error calling tool 'boom'"):
            await ctx.fastmcp.call_tool("boom", {"kind": "key"})
        return "handled"

    result = await call(lenient(boom, outer, policy=ENVELOPE), "outer", {})
    assert text(result) == "handled"
    assert "call_failed" not in events.names


async def test_a_mounted_tool_fails_once(events: Log):
    """A tool of a mounted server is logged and answered once, by the name that the client called."""
    parent = lenient(name="parent", policy=ENVELOPE)
    parent.mount(lenient(boom, name="child", policy=ENVELOPE), namespace="ns")
    told: Any = envelope(await call(parent, "ns_boom", {"kind": "key"}))
    assert told["details"]["tool"] == "ns_boom"
    assert [event["tool"] for event in events if event["event"] == "call_failed"] == ["ns_boom"]


async def test_what_a_nested_call_was_refused_for_does_not_leak(events: Log):
    """A body that passes on the refusal of a call that it made itself is an unexpected exception of its own."""

    async def outer(name: str, ctx: Context) -> str:
        return str(await ctx.fastmcp.call_tool("hidden", {"token": f"private {name}"}))

    def hidden(path: int) -> None: ...

    server = lenient(outer, policy=ENVELOPE)
    server.tool(hidden)
    result = await call(server, "outer", {"name": "x"})
    assert envelope(result)["error_code"] == "TOOL_FAILED"
    assert "private" not in str(result)
    assert [event["exception"] for event in events if event["event"] == "call_failed"] == ["ValidationError"]
