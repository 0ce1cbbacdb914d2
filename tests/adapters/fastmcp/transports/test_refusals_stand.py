"""What the SDK, or middleware of its server, refuses stays refused (law 12)."""

from __future__ import annotations

import asyncio
import contextvars
import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import pytest
from answers import Message
from fastmcp import FastMCP
from fastmcp_versions import IS_3, NO_HEADERS, NOT_THERE, since
from mcp.types import INVALID_PARAMS
from pydantic import Field
from tables import each_row
from wire import Http, Pipes, call, http, pipes

if IS_3:
    pytest.skip(NOT_THERE, allow_module_level=True)

from servers import denied
from servers.denied import DENIED, RAN, build, deny, guard, hide, place

from mcp_lenient import LenientMiddleware
from mcp_lenient.adapters.fastmcp.proxy import create_lenient_proxy

_KINDS = ["stateful", "stateless", "modern"]
_MODES = ["repair", "observe", "off"]
_POSITIONS = ["first", "last", "later"]
_RIGHT, _NEARLY, _TEXT = {"path": "/a"}, {"Path": "/a"}, '{"path": "/a"}'


def _connected(opened: ExitStack, kind: str, middleware: Any, position: str, mode: str | None) -> Http:
    """Serve a guarded server; "later" puts the middleware first after the first message."""
    server = build(*() if position == "later" else (middleware,), position=position, mode=mode)
    wire = opened.enter_context(http(server, kind))
    wire.request("tools/list", {})
    if position == "later":
        place(server, middleware, "first")
    return wire


def _error(message: Message) -> tuple[int, str]:
    assert "error" in message, message
    return message["error"]["code"], message["error"]["message"]


@pytest.mark.parametrize("mode", _MODES)
@pytest.mark.parametrize("kind", _KINDS)
def test_a_forged_state_is_refused(kind, mode, capsys):
    """A call with a state that the server has not sealed gets the SDK's error, and the tool does not run."""
    with http(build(mode=mode), kind) as wire:
        for sent in (_RIGHT, _NEARLY, _TEXT):
            forged = {"name": "pay", "arguments": sent, "requestState": "forged"}
            for _ in range(2):
                assert _error(wire.request("tools/call", forged))[0] == INVALID_PARAMS
    assert RAN not in capsys.readouterr().err


@pytest.mark.parametrize("position", _POSITIONS)
@pytest.mark.parametrize("kind", _KINDS)
def test_a_denied_call_does_not_run(kind, position, capsys):
    """What middleware of the SDK denies is answered by its error, in every mode and wherever it stands."""
    for mode in _MODES:
        with ExitStack() as opened:
            wire = _connected(opened, kind, deny, position, mode)
            for sent in (_RIGHT, _NEARLY, _TEXT, []):
                assert _error(call(wire, "pay", sent)) in (
                    (DENIED, "denied"),
                    (INVALID_PARAMS, "Invalid request parameters"),
                )
            assert _error(call(wire, "pay", _RIGHT)) == (DENIED, "denied")
    assert RAN not in capsys.readouterr().err


@pytest.mark.parametrize("position", _POSITIONS)
@pytest.mark.parametrize("kind", _KINDS)
def test_a_guard_sees_the_arguments_that_run(kind, position, capsys):
    """Text for a guarded path is denied by the guard that sees it read, or refused by the SDK, and never runs."""
    with ExitStack() as opened:
        wire = _connected(opened, kind, guard, position, "repair")
        for _ in range(3):
            assert _error(call(wire, "pay", '{"path": "/etc/p"}'))[0] in (DENIED, INVALID_PARAMS)
        assert call(wire, "pay", _TEXT)["result"]["isError"] is False
    assert "/etc" not in capsys.readouterr().err


@pytest.mark.parametrize("kind", _KINDS)
def test_a_call_denied_after_it_ran_runs_once(kind, capsys):
    """Middleware that refuses a result gets its way, and the tool is not run again."""
    with ExitStack() as opened:
        wire = _connected(opened, kind, hide, "first", "repair")
        assert _error(call(wire, "pay", _TEXT)) == (DENIED, "denied")
    assert capsys.readouterr().err.count(RAN) == 1


@pytest.mark.slow
@pytest.mark.parametrize("modern", [False, True], ids=["handshake", "modern"])
@pytest.mark.parametrize("position", ["first", "last"])
def test_a_denied_call_does_not_run_over_stdio(modern, position):
    """The same over stdio, in both eras of the protocol."""
    command = (sys.executable, str(Path(denied.__file__)), "deny", position, "repair")
    with pipes(*command, modern=modern) as wire:
        wire.request("tools/list", {})
        assert [_error(_sent(wire, sent)) for sent in (_RIGHT, _NEARLY, _TEXT)] == [(DENIED, "denied")] * 3
        forged = wire.request("tools/call", {"name": "pay", "arguments": _RIGHT, "requestState": "x"})
        assert _error(forged)[0] in (DENIED, INVALID_PARAMS)
    assert not any(line.startswith(RAN) for line in wire.stderr)


def _sent(wire: Pipes, arguments: Any) -> Message:
    return call(wire, "pay", arguments)


@each_row("sent", [_TEXT, json.dumps(_NEARLY), "[]"])
def test_text_is_read_again_once_the_hook_is_first(sent):
    """Middleware put before ours costs one request with text; the next one is read before that middleware."""
    server = build()
    with http(server, "modern") as wire:
        wire.request("tools/list", {})
        place(server, guard, "first")
        assert _error(call(wire, "pay", sent))[0] == INVALID_PARAMS
        assert "error" not in call(wire, "pay", sent)


@pytest.mark.parametrize("position", ["first", "last"])
def test_a_call_denied_in_a_proxy_is_not_sent_on(position, capsys):
    """Middleware of the SDK in a proxy denies what it would deny in a server, and forged states are refused."""
    proxy = create_lenient_proxy(build(mode=None))
    place(proxy, guard, position)
    with http(proxy, "modern") as wire:
        wire.request("tools/list", {})
        for sent in ({"path": "/etc/p"}, '{"path": "/etc/p"}'):
            assert _error(call(wire, "pay", sent)) == (DENIED, "denied")
        forged = {"name": "pay", "arguments": _RIGHT, "requestState": "forged"}
        assert _error(wire.request("tools/call", forged))[0] == INVALID_PARAMS
    assert RAN not in capsys.readouterr().err


def test_text_is_not_read_behind_middleware_that_has_seen_it(capsys):
    """Where middleware was first when a request came, its text stays unread, whatever is first by then."""
    server, waiting, goes_on = build(), threading.Event(), threading.Event()

    async def slow_guard(ctx: Any, call_next: Any) -> Any:
        if "/etc" in str((ctx.params or {}).get("arguments")):
            waiting.set()
            await asyncio.to_thread(goes_on.wait)
        return await guard(ctx, call_next)

    with http(server, "modern") as wire, ThreadPoolExecutor(1) as threads:
        wire.request("tools/list", {})
        place(server, slow_guard, "first")
        first = threads.submit(call, wire, "pay", '{"path": "/etc/p"}')
        assert waiting.wait(60)
        call(wire, "pay", "text that moves the hook")
        goes_on.set()
        assert _error(first.result(60))[0] == INVALID_PARAMS
    assert RAN not in capsys.readouterr().err


class _Elsewhere:
    """Middleware of the SDK that handles each request in a task which does not know the context of the request."""

    def __init__(self) -> None:
        self._context = contextvars.Context()

    async def __call__(self, ctx: Any, call_next: Any) -> Any:
        return await asyncio.create_task(call_next(ctx), context=self._context)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="create_task takes a context since Python 3.11")
@each_row("sent", ["garbage", ["rm", "-rf"], 5, '{"arguments": "x"'])
def test_unreadable_arguments_run_in_no_context(sent):
    """Arguments that are not an object are refused by every tool, even if the context variable is lost."""
    server, ran = build(), []

    @server.tool
    def run(arguments: Any) -> None:
        ran.append(arguments)

    with http(server, "modern") as wire:
        wire.request("tools/list", {})
        place(server, _Elsewhere(), "last")
        assert call(wire, "run", sent)["result"]["isError"] is True
    assert ran == []


def test_text_is_read_only_for_middleware_that_is_still_there():
    """A middleware that was taken off the server reads no text for it."""
    server = build()
    with http(server, "modern") as wire:
        wire.request("tools/list", {})
        server.middleware.clear()
        assert _error(call(wire, "pay", _TEXT))[0] == INVALID_PARAMS


@since(4, 2, NO_HEADERS)
def test_text_is_not_read_where_headers_repeat_arguments():
    """The SDK compares headers with arguments only if these are an object, so text for such a tool stays text."""
    server: FastMCP = FastMCP("headers", middleware=[LenientMiddleware()])

    @server.tool
    def pay(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
        return region

    with http(server, "modern") as wire:
        wire.request("tools/list", {})
        assert _error(call(wire, "pay", '{"region": "eu"}'))[0] == INVALID_PARAMS
