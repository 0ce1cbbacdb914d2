"""Ordinary wrappers around a decorated function: they never mistake a refused call for a success."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import pytest
from calls import Log, call, code, envelope, got, on_both_servers, plain
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ValidationError
from fastmcp.tools import Tool
from fastmcp.tools.tool_transform import forward

from mcp_lenient import LenientMiddleware, lenient
from mcp_lenient.normalizers import tags

Seen = list[Any]


def keep(content: str, tags: list[str] | None = None) -> dict[str, Any]:
    """Keep a text."""
    return {"content": content, "tags": tags}


async def keep_later(content: str, tags: list[str] | None = None) -> dict[str, Any]:
    """Keep a text later."""
    return keep(content, tags)


async def keep_with_context(content: str, ctx: Context, tags: list[str] | None = None) -> dict[str, Any]:
    """Keep a text on a server."""
    assert ctx.fastmcp.name == "server"
    return keep(content, tags)


def _sync(function: Callable[..., Any], seen: Seen) -> Callable[..., Any]:
    @functools.wraps(function)
    def audited(*args: Any, **kwargs: Any) -> Any:
        seen.append(kwargs)
        result = function(*args, **kwargs)
        seen.append(result)
        return {"ok": True, "result": result}

    return audited


def _async(function: Callable[..., Any], seen: Seen) -> Callable[..., Any]:
    @functools.wraps(function)
    async def audited(*args: Any, **kwargs: Any) -> Any:
        seen.append(kwargs)
        result = function(*args, **kwargs)
        result = await result if inspect.isawaitable(result) else result
        seen.append(result)
        return {"ok": True, "result": result}

    return audited


def _catching(function: Callable[..., Any], seen: Seen) -> Callable[..., Any]:
    @functools.wraps(function)
    async def audited(*args: Any, **kwargs: Any) -> Any:
        seen.append(kwargs)
        try:
            result = function(*args, **kwargs)
            result = await result if inspect.isawaitable(result) else result
        except Exception:  # noqa: BLE001 - as such wrappers do
            return {"ok": True, "result": None}
        seen.append(result)
        return {"ok": True, "result": result}

    return audited


def _by_hand(function: Callable[..., Any], seen: Seen) -> Callable[..., Any]:
    def keep(content: str, tags: list[str] | None = None) -> Any:
        seen.append({"content": content, "tags": tags})
        seen.append(function(content, tags))
        return {"ok": True}

    return keep


WRAPS = [_sync, _async, _catching, _by_hand]
every_wrapper = pytest.mark.parametrize("wrap", WRAPS, ids=lambda wrap: wrap.__name__.strip("_"))


def _tool(function: Any, name: str = "keep") -> Tool:
    return Tool.from_function(function, name=name)


def _server(tool: Tool, **settings: Any) -> FastMCP:
    """Return a server with the middleware and one tool."""
    return FastMCP("server", tools=[tool], middleware=[LenientMiddleware()], **settings)


@every_wrapper
@pytest.mark.parametrize(
    "server",
    [plain, lambda tool: FastMCP("server", tools=[tool], mask_error_details=True), _server],
    ids=["alone", "masked", "middleware"],
)
async def test_no_wrapper_runs_on_a_refused_call(wrap, server):
    """A bad argument is refused before any code above ``@lenient`` runs, however the server answers errors."""
    seen: Seen = []
    result = await call(
        server(_tool(wrap(lenient(tags=tags())(keep), seen))), "keep", {"content": "a", "tags": 5}
    )
    assert (result.is_error, seen) == (True, [])


@pytest.mark.parametrize(
    ("body", "wrap"),
    [(keep, _sync), (keep, _catching), *((body, _async) for body in (keep, keep_later, keep_with_context))],
)
@on_both_servers
async def test_a_wrapped_tool_repairs_and_refuses_as_without_a_wrapper(body, wrap, strict, events: Log):
    """The wrapper receives the repaired values; a refused call gets the same envelope, and does not reach it."""
    seen: Seen = []
    bare = plain(_tool(lenient(body)), strict=strict)
    server = plain(_tool(wrap(lenient(body), seen)), strict=strict)
    wrong = {"content": "a", "tags": 5}
    assert envelope(await call(server, "keep", wrong)) == envelope(await call(bare, "keep", wrong))
    assert seen == []
    result = got(await call(server, "keep", {"content": "a", "tags": '["c", "b"]'}))
    assert result == {"ok": True, "result": {"content": "a", "tags": ["c", "b"]}}
    assert type(seen[0]["tags"]) is list
    assert events.names == ["call_rejected", "call_rejected", "call_repaired"]


@pytest.mark.parametrize("wrap", [_sync, _async, _catching], ids=lambda wrap: wrap.__name__)
async def test_a_wrapper_below_lenient_does_not_run_on_a_refused_call(wrap):
    """``@lenient`` above a wrapper refuses the call without the middleware."""
    seen: Seen = []
    server = plain(_tool(lenient(wrap(keep, seen))))
    assert code(await call(server, "keep", {"content": "a", "tags": 5})) == "INVALID_TAGS_TYPE"
    assert seen == []
    assert got(await call(server, "keep", {"content": "a", "tags": '["b"]'}))["ok"] is True


def test_two_decorators_around_a_wrapper_are_refused_at_definition():
    """A second ``@lenient`` is an error, even with a wrapper in between."""
    with pytest.raises(TypeError, match="decorated already"):
        lenient(_sync(lenient(keep), []))


async def test_a_partial_needs_the_middleware():
    """FastMCP reads a partial's types only from its signature: only with the middleware is a bad call repaired."""
    partial = functools.partial(functools.partial(lenient(tags=tags())(keep)), content="a")
    alone, server = plain(_tool(partial)), _server(_tool(partial))
    assert got(await call(alone, "keep", {"tags": ["b"]})) == {"content": "a", "tags": ["b"]}
    assert (await call(alone, "keep", {"tags": 5})).is_error
    assert got(await call(server, "keep", {"tags": "b"})) == {"content": "a", "tags": ["b"]}
    assert code(await call(server, "keep", {"tags": 5})) == "INVALID_TAGS_TYPE"


async def test_a_wrapped_method_refuses_before_its_wrapper():
    """A wrapped bound method behaves like a wrapped function."""

    class Notes:
        @lenient
        def keep(self, content: str, tags: list[str] | None = None) -> dict[str, Any]:
            """Keep a text."""
            return keep(content, tags)

    seen: Seen = []
    server = plain(_tool(_sync(Notes().keep, seen)))
    assert code(await call(server, "keep", {"content": "a", "tags": 5})) == "INVALID_TAGS_TYPE"
    assert seen == []


async def test_a_wrapper_may_remove_a_parameter(events: Log):
    """With the middleware, calls are validated against the signature of the wrapper."""

    def as_guest(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def audited(**kwargs: Any) -> Any:
            return function(content="guest", **kwargs)

        signature = inspect.signature(function)
        kept = [each for each in signature.parameters.values() if each.name != "content"]
        audited.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        return audited

    server = _server(_tool(as_guest(lenient(keep))))
    assert got(await call(server, "keep", {"tags": ["a"]})) == {"content": "guest", "tags": ["a"]}
    assert got(await call(server, "keep", {"tags": '["a"]'})) == {"content": "guest", "tags": ["a"]}
    assert code(await call(server, "keep", {"tags": 5})) == "INVALID_TAGS_TYPE"
    assert code(await call(server, "keep", {"content": "a"})) == "UNKNOWN_PARAMETER"
    assert events.names == ["call_accepted", "call_repaired", "call_rejected", "call_rejected"]


@every_wrapper
async def test_a_wrapper_with_the_middleware(wrap):
    """With the middleware, a wrapper of any kind receives repaired values."""
    seen: Seen = []
    await call(_server(_tool(wrap(lenient(keep), seen))), "keep", {"content": "a", "tags": '["b"]'})
    assert seen[0] == {"content": "a", "tags": ["b"]}


async def test_a_wrapper_may_copy_only_annotations(events: Log):
    """With ``functools.wraps(updated=())``, each call still has one answer and one event."""

    def audit(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function, updated=())
        def audited(**kwargs: Any) -> Any:
            return function(**kwargs)

        return audited

    server = _server(_tool(audit(lenient(keep))))
    assert got(await call(server, "keep", {"content": "a", "tags": '["b"]'})) == {
        "content": "a",
        "tags": ["b"],
    }
    refused = await call(server, "keep", {"content": "a", "tags": 5})
    assert code(refused) == "INVALID_TAGS_TYPE"
    assert "mcp_lenient" in (refused.meta or {})
    assert events.names == ["call_repaired", "call_rejected"]


async def test_a_transform_function_gets_an_exception():
    """``forward`` raises for a bad argument, so that a custom ``transform_fn`` does not continue."""
    seen: Seen = []

    async def audited(**kwargs: Any) -> str:
        seen.append(await forward(**kwargs))
        return "ok"

    server = plain(Tool.from_tool(_tool(lenient(keep)), name="audited", transform_fn=audited))
    assert code(await call(server, "audited", {"content": "a", "tags": 5})) == "INVALID_TAGS_TYPE"
    assert seen == []


async def test_a_bad_call_from_python_raises():
    """``server.call_tool`` and ``Tool.run`` raise for a bad argument, as FastMCP alone does."""
    server = plain(_tool(lenient(keep)))
    with pytest.raises(ValidationError, match="INVALID_TAGS_TYPE"):
        await server.call_tool("keep", {"content": "a", "tags": 5})
    with pytest.raises(ValidationError, match="INVALID_TAGS_TYPE"):
        await _tool(lenient(keep)).run({"content": "a", "tags": 5})
