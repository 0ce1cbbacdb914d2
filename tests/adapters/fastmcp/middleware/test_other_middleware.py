"""FastMCP's own middleware, inside and outside of the lenient middleware."""

from __future__ import annotations

import json
from typing import Any

import pytest
from calls import Log, Recorder, call, code, got, lenient, plain, rules, text
from fastmcp import Client, FastMCP
from fastmcp.server.middleware import Middleware
from fastmcp.server.middleware.caching import ResponseCachingMiddleware
from fastmcp.server.middleware.error_handling import ErrorHandlingMiddleware, RetryMiddleware
from fastmcp.server.middleware.logging import StructuredLoggingMiddleware
from fastmcp.server.middleware.rate_limiting import RateLimitingMiddleware
from fastmcp.server.middleware.response_limiting import ResponseLimitingMiddleware
from fastmcp.server.middleware.timing import TimingMiddleware
from fastmcp.server.middleware.tool_injection import ToolInjectionMiddleware
from fastmcp.tools import Tool
from fastmcp_versions import META_DROPPED, from_version, since

from mcp_lenient import LenientMiddleware, Policy

OTHERS = {
    "errors": ErrorHandlingMiddleware,
    "logging": lambda: StructuredLoggingMiddleware(include_payloads=True),
    "limiting": ResponseLimitingMiddleware,
    "caching": ResponseCachingMiddleware,
    "retry": RetryMiddleware,
    "timing": TimingMiddleware,
    "rate": lambda: RateLimitingMiddleware(max_requests_per_second=1000),
}
BOTH_ORDERS = pytest.mark.parametrize("outside", [True, False], ids=["other_outside", "other_inside"])


def tool(tags: list[str], limit: int = 5) -> Any:
    """A tool."""
    return {"tags": tags[:limit]}


def _server(*others: Middleware, outside: bool) -> FastMCP:
    server = plain(tool)
    for middleware in (*others, LenientMiddleware()) if outside else (LenientMiddleware(), *others):
        server.add_middleware(middleware)
    return server


@BOTH_ORDERS
@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS.keys())
async def test_calls_are_lenient_beside_any_other_middleware(other, outside, events: Log, caplog):
    """In both orders the same calls are accepted, repaired and refused, and each is logged once."""
    server = _server(other(), outside=outside)
    assert rules(await call(server, "tool", {"tags": ["a"]})) == []
    repaired = await call(server, "tool", {"tags": '["b"]'})
    assert got(repaired) == {"tags": ["b"]}
    assert rules(repaired) == ["json_text_to_array"]
    assert code(await call(server, "tool", {"tags": 5})) == "INVALID_TAGS_TYPE"
    assert events.names == ["call_accepted", "call_repaired", "call_rejected"]
    assert "Error in tools/call" not in caplog.text


async def test_an_unknown_tool_is_refused_inside_error_handling():
    """An outer error handler gets no exception that it could turn into a protocol error."""
    server = _server(ErrorHandlingMiddleware(), outside=True)
    assert code(await call(server, "tol", {})) == "UNKNOWN_TOOL"


@BOTH_ORDERS
async def test_a_tools_own_error_is_left_to_error_handling(outside):
    """Exceptions of a body reach the error handler as without the lenient middleware."""

    def fails(tags: list[str]) -> None:
        raise KeyError(tags[0])

    counted = ErrorHandlingMiddleware(transform_errors=False)
    server = _server(counted, outside=outside)
    server.add_tool(fails)
    result = await call(server, "fails", {"tags": '["a"]'})
    assert (result.is_error, "mcp_lenient" in (result.meta or {})) == (True, False)
    assert counted.get_error_stats() == {"ToolError:tools/call": 1}


async def test_a_cache_outside_keeps_the_repairs():
    """A cached answer still lists its repairs."""
    recorder = Recorder()
    server = _server(ResponseCachingMiddleware(), outside=True)
    server.add_middleware(recorder)
    for _ in range(2):
        result = await call(server, "tool", {"tags": '["a"]'})
        assert got(result) == {"tags": ["a"]}
        assert rules(result) == ["json_text_to_array"]
    assert len(recorder.arguments) == 1


async def test_a_cache_inside_serves_both_spellings():
    """An inner cache has one entry for all spellings of a call, and each answer lists its own repairs."""
    recorder = Recorder()
    server = _server(ResponseCachingMiddleware(), recorder, outside=False)
    spellings = (["a"], '["a"]', "a", ["a"])
    results = [await call(server, "tool", {"tags": tags}) for tags in spellings]
    assert [got(result) for result in results] == [{"tags": ["a"]}] * 4
    assert [rules(result) for result in results] == [[], ["json_text_to_array"], ["scalar_to_array"], []]
    assert len(recorder.arguments) == 1


@BOTH_ORDERS
async def test_a_cached_refusal_does_not_answer_a_valid_call(outside):
    """After a wrong call the valid one runs, and the wrong one is refused again."""
    server = _server(ResponseCachingMiddleware(), outside=outside)
    for _ in range(2):
        assert code(await call(server, "tool", {"tags": 5})) == "INVALID_TAGS_TYPE"
        assert got(await call(server, "tool", {"tags": ["5"]})) == {"tags": ["5"]}


@since(4, 1, META_DROPPED)
async def test_a_repaired_call_whose_result_is_cut_lists_its_repairs():
    """A response limit cuts a result, which still lists the repairs."""
    server = plain(tool)
    server.add_middleware(LenientMiddleware())
    server.add_middleware(ResponseLimitingMiddleware(max_size=300))
    cut = await call(server, "tool", {"tags": json.dumps(["a" * 500])})
    assert "truncated" in text(cut)
    assert rules(cut) == ["json_text_to_array"]


@since(4, 1, META_DROPPED)
@BOTH_ORDERS
async def test_a_response_limit_keeps_the_envelope_in_meta(outside):
    """A response limit cuts the envelope's text, but ``_meta`` still has the whole envelope."""
    server = _server(ResponseLimitingMiddleware(max_size=300), outside=outside)
    refused = await call(server, "tool", {"tags": 5})
    assert refused.is_error
    assert refused.meta["mcp_lenient"]["error_code"] == "INVALID_TAGS_TYPE"


@from_version("3.4.10", "an injected tool is run without a look-up")
@BOTH_ORDERS
async def test_calls_of_an_injected_tool_are_repaired(outside):
    """A tool that another middleware injects is handled like any other."""
    brought = Tool.from_function(tool, name="brought")
    server = _server(ToolInjectionMiddleware([brought]), outside=outside)
    assert rules(await call(server, "brought", {"tags": '["a"]'})) == ["json_text_to_array"]
    assert code(await call(server, "brought", {"tags": 5})) == "INVALID_TAGS_TYPE"


async def test_middleware_added_after_connecting_is_used():
    """The middleware may be added to a server that is already running."""
    server = plain(tool)
    async with Client(server) as client:
        before = await client.call_tool_mcp("tool", {"tags": '["a"]'})
        server.add_middleware(LenientMiddleware())
        after = await client.call_tool_mcp("tool", {"tags": '["a"]'})
    assert before.is_error
    assert rules(after) == ["json_text_to_array"]


async def test_added_twice_it_works_once(events: Log):
    """Two lenient middleware on one server repair and refuse each call once."""
    server = lenient(tool)
    server.add_middleware(LenientMiddleware())
    assert rules(await call(server, "tool", {"tags": '["a"]'})) == ["json_text_to_array"]
    assert code(await call(server, "tool", {"tags": 5})) == "INVALID_TAGS_TYPE"
    assert [name for name in events.names if name != "call_accepted"] == ["call_repaired", "call_rejected"]


@pytest.mark.parametrize("mode", ["off", "observe"])
async def test_a_second_middleware_acts_where_the_first_does_not(mode):
    """Of two lenient middleware, the inner one works if the outer one is off or observes."""
    server = lenient(tool, policy=Policy(mode=mode))
    server.add_middleware(LenientMiddleware())
    assert code(await call(server, "tool", {"tags": 5})) == "INVALID_TAGS_TYPE"
