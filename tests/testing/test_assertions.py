"""Test assert_repairs and assert_refuses with servers, tools and functions of every kind."""

from __future__ import annotations

import asyncio
import re
from datetime import date
from typing import Annotated, Any

import pytest
from calls import lenient as lenient_server
from calls import plain
from fastmcp import Client, Context, FastMCP
from fastmcp.dependencies import Depends
from fastmcp.server import create_proxy
from fastmcp.server.middleware import Middleware
from fastmcp.tools import FunctionTool, Tool, ToolResult
from fastmcp.tools.tool_transform import ArgTransform
from fastmcp_versions import RAW, STRICT, not_on_3
from pydantic import BaseModel, Field
from testing.under_test import mode, published, store

from mcp_lenient import LenientMiddleware, Policy
from mcp_lenient.adapters.fastmcp.decorator import lenient
from mcp_lenient.normalizers import aliases, tags
from mcp_lenient.testing import assert_refuses, assert_repairs

_SENT = {"content": "a", "tags": '["b"]'}
_BARE = {"content": "a", "tags": "b"}
_WANTED = {"content": "a", "tags": ["b"]}


class _Point(BaseModel):
    x: int
    when: date


class _Cache(Middleware):
    """A middleware that answers every call itself."""

    async def on_call_tool(self, context: Any, call_next: Any) -> ToolResult:
        _ = context, call_next
        return ToolResult(content="from the cache")


async def _dependent(tags: list[str], ctx: Context, secret: str = Depends(lambda: "s")) -> None:
    raise SystemError(tags, ctx, secret)


def _nested(point: _Point, rows: list[_Point] | None = None) -> None:
    raise SystemError(point, rows)


def _aliased(page: Annotated[list[int], Field(alias="pageNumbers")]) -> None:
    raise SystemError(page)


@lenient(tags=tags(), content=aliases("text"))
def _marked(content: str, tags: list[str] | None = None) -> None:
    raise SystemError(content, tags)


class _Holder:
    def method(self, tags: list[str]) -> None:
        raise SystemError(tags)


def _child(*, middleware: bool) -> FastMCP:
    return lenient_server(store) if middleware else plain(store)


def _parent(*, middleware: bool, child: FastMCP, namespace: str | None = None) -> FastMCP:
    parent = lenient_server() if middleware else plain()
    parent.mount(child, namespace=namespace)
    return parent


def _renamed(tool: Tool) -> Tool:
    return Tool.from_tool(tool, name="keep", transform_args={"content": ArgTransform(name="text")})


_KINDS = [
    pytest.param(store, id="function"),
    pytest.param(FunctionTool.from_function(store), id="tool"),
    pytest.param(lenient_server(store), id="server"),
    pytest.param(lenient_server(store, strict=True), id="strict-server", marks=not_on_3(STRICT)),
    pytest.param(_parent(middleware=True, child=_child(middleware=False)), id="middleware-on-the-parent"),
    pytest.param(_parent(middleware=False, child=_child(middleware=True)), id="middleware-on-the-child"),
    pytest.param(_parent(middleware=True, child=_child(middleware=True), namespace="n"), id="namespace"),
]


@pytest.mark.parametrize("subject", _KINDS)
def test_a_call_is_repaired_or_refused_without_running_a_body(subject):
    """The repaired call reaches the tool like the valid one, and the repairs or the envelope are returned."""
    repairs = assert_repairs(subject, _SENT, _WANTED)
    assert [(repair.rule, repair.pointer) for repair in repairs] == [("json_text_to_array", "/tags")]
    assert assert_repairs(subject, _WANTED, _WANTED) == ()
    wrong = {"content": "a", "tags": 5}
    envelope = assert_refuses(subject, wrong, code="INVALID_TAGS_TYPE", parameter="tags")
    assert envelope["details"]["received_type"] == "integer"


@pytest.mark.parametrize(
    ("subject", "sent", "wanted"),
    [
        pytest.param(_dependent, {"tags": "['a']"}, {"tags": ["a"]}, id="context-and-dependency"),
        pytest.param(_Holder().method, {"tags": "['a']"}, {"tags": ["a"]}, id="method"),
        pytest.param(_aliased, {"page_numbers": "[1]"}, {"pageNumbers": [1]}, id="alias"),
        pytest.param(
            _nested,
            {"point": '{"x": "1", "when": "2026-01-31"}', "rows": [{"x": 1, "when": "2026-01-31T00:00:00"}]},
            {"point": {"x": 1, "when": "2026-01-31"}, "rows": [{"x": 1, "when": "2026-01-31"}]},
            id="models",
        ),
        pytest.param(published(tags={"type": "array"}), {"tags": "[1]"}, {"tags": [1]}, id="published-tool"),
        pytest.param(
            _renamed(FunctionTool.from_function(store)),
            {"text": "a", "tags": '["b"]'},
            {"text": "a", "tags": ["b"]},
            id="transformed-tool",
        ),
        pytest.param(_marked, {"text": "a", "tags": "b"}, {"content": "a", "tags": ["b"]}, id="lenient"),
        pytest.param(plain(_marked), _BARE, _WANTED, id="lenient-by-itself"),
        pytest.param(lenient_server(_marked), _BARE, _WANTED, id="lenient-on-both"),
        pytest.param(store, '{"content": "a"}', {"content": "a"}, id="whole-as-text", marks=not_on_3(RAW)),
        pytest.param(
            store,
            {"content": "任务", "limit": "5"},
            {"content": "任务", "limit": 5},
            id="text-that-pydantic-converts",
        ),
        pytest.param(store, {"content": "a", "limit": "7"}, {"content": "a", "limit": 7.0}, id="same-value"),
    ],
)
def test_every_kind_of_tool_is_supported(subject, sent, wanted):
    """The function's arguments are compared, whatever kind of tool wraps the function."""
    assert_repairs(subject, sent, wanted)


def test_a_transformed_tool_of_a_mounted_server_is_supported():
    """A transformed tool of a mounted server is called by the outer server's names."""
    child = _child(middleware=False)
    parent = _parent(middleware=False, child=child)
    inner = asyncio.run(parent.get_tool("store"))
    server = lenient_server(_renamed(inner))
    assert_repairs(server, {"text": "a", "tags": '["b"]'}, {"text": "a", "tags": ["b"]})
    assert_refuses(server, {"text": "a", "tags": 5}, parameter="tags")


def test_a_proxied_tool_is_supported():
    """For a tool behind a proxy, the forwarded arguments are compared."""
    server = lenient_server()
    server.mount(create_proxy(plain(store)))
    assert_repairs(server, _SENT, _WANTED)


async def test_assertions_work_inside_a_running_event_loop():
    """An async test can use the assertions like any other test."""
    assert len(assert_repairs(lenient_server(store), _SENT, _WANTED)) == 1


async def test_other_calls_of_the_server_run_meanwhile():
    """A server under test still serves its other callers, and is unchanged afterwards."""

    def echo(tags: list[str]) -> list[str]:
        return tags

    server = lenient_server(echo)
    before = {*map(id, server.middleware)}
    async with Client(server) as client:
        tests = asyncio.gather(
            *(asyncio.to_thread(assert_repairs, server, {"tags": "a"}, {"tags": ["a"]}) for _ in range(5))
        )
        answers = [(await client.call_tool("echo", {"tags": '["b"]'})).data for _ in range(50)]
        await tests
    assert answers == [["b"]] * 50
    assert {*map(id, server.middleware)} == before


def test_the_policy_of_a_middleware_before_the_server():
    """With a policy, a server is tested as if it had a middleware with that policy, and stays unchanged."""
    server = plain(store)
    assert_repairs(server, {"text": "a"}, {"content": "a"}, policy=Policy(aliases={"content": ("text",)}))
    assert_refuses(server, _SENT, policy=Policy.strict(), code="INVALID_TAGS_TYPE")
    assert not any(isinstance(each, LenientMiddleware) for each in server.middleware)
    with pytest.raises(AssertionError, match="without the envelope"):
        assert_refuses(server, _SENT)


def test_one_of_several_tools_is_named():
    """With several tools, the test must name one. Without a valid name, the error lists the tools."""
    server = lenient_server(store, mode)
    assert_repairs(server, {"mode": "READ", "count": 1}, {"mode": "read", "count": 1}, tool="mode")
    with pytest.raises(ValueError, match=r"with tool=\.\.\.; the server has store, mode"):
        assert_repairs(server, _SENT, _WANTED)
    with pytest.raises(ValueError, match="no tool 'stor'; it has store"):
        assert_refuses(server, _SENT, tool="stor")


def _failure(assertion):
    with pytest.raises(AssertionError) as caught:
        assertion()
    return str(caught.value)


def test_a_failure_shows_the_calls_and_the_difference():
    """A failed assertion shows what was sent, wanted and got, the repairs, and the difference."""
    told = _failure(lambda: assert_repairs(store, _SENT, {"content": "a", "tags": ["c"]}))
    assert (
        told
        == """store received something other than the wanted arguments: it was repaired by json_text_to_array at /tags (string to array).
sent: {"content": "a", "tags": "[\\"b\\"]"}
wanted: {"content": "a", "tags": ["c"], "limit": 5}
got: {"content": "a", "tags": ["b"], "limit": 5}
difference (- wanted, + got):
  {
    "content": "a",
    "tags": [
-     "c"
?      ^
+     "b"
?      ^
    ],
    "limit": 5
  }"""
    )


@pytest.mark.parametrize(
    ("assertion", "words"),
    [
        pytest.param(
            lambda: assert_repairs(published(n={"type": "number"}), {"n": 5}, {"n": 5.0}),
            ["it went through as it was sent.", '-   "n": 5.0', '+   "n": 5'],
            id="another-type",
        ),
        pytest.param(
            lambda: assert_repairs(store, _SENT, {"content": "a", "tags": "b"}),
            [
                "The wanted call of store is itself wrong: it was repaired by scalar_to_array at /tags (string to array)."
            ],
            id="wanted-is-not-right",
        ),
        pytest.param(
            lambda: assert_refuses(store, _SENT),
            [
                "store did not refuse the call: it was repaired by",
                'got: {"content": "a", "tags": ["b"], "limit": 5}',
            ],
            id="not-refused",
        ),
        pytest.param(
            lambda: assert_repairs(store, {"content": "a", "tags": 5}, _WANTED),
            [
                "store did not receive the wanted arguments: it was refused with INVALID_TAGS_TYPE.",
                '"received_type": "integer"',
            ],
            id="refused",
        ),
        pytest.param(
            lambda: assert_refuses(store, {"content": "a", "tags": 5}, code="MISSING_TAGS"),
            ["refused the call with INVALID_TAGS_TYPE instead of MISSING_TAGS", '"received_type": "integer"'],
            id="another-code",
        ),
        pytest.param(
            lambda: assert_refuses(store, {"tags": 5}, parameter="limit"),
            ["refused the call for tags, content instead of limit", '"error_code": "INVALID_ARGUMENTS"'],
            id="another-parameter",
        ),
        pytest.param(
            lambda: assert_repairs(plain(store), _SENT, _WANTED),
            ["answered without the envelope: 1 validation error"],
            id="no-middleware",
        ),
    ],
)
def test_a_failure_says_what_happened(assertion, words):
    """The message says what the tool got; if the call was refused, with the envelope."""
    told = _failure(assertion)
    assert [word for word in words if word not in told] == []


def test_an_answer_of_another_middleware_is_reported():
    """If a call never reaches the tool, the assertion fails and shows the answer."""
    server = lenient_server(store)
    server.add_middleware(_Cache())
    with pytest.raises(AssertionError, match=re.escape("without the envelope: from the cache")):
        assert_repairs(server, _SENT, _SENT)
