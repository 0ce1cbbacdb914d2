"""What the SDK, or middleware of its server, refuses stays refused (law 12)."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from answers import Message
from fastmcp_versions import IS_3, NOT_THERE
from mcp.types import INVALID_PARAMS
from tables import each_row
from wire import Http, Pipes, call, http, pipes

if IS_3:
    pytest.skip(NOT_THERE, allow_module_level=True)

from servers import denied
from servers.denied import DENIED, RAN, build, deny, guard, hide, place

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
