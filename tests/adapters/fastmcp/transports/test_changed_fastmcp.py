"""A FastMCP that has changed: what reads whole arguments is gone, and everything else keeps working."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from answers import envelope, rules, value
from fastmcp import FastMCP
from fastmcp.server.mixins import MCPOperationsMixin
from fastmcp_versions import RAW, not_on_3
from mcp.types import INVALID_PARAMS
from servers.notes import build
from wire import call, http

from mcp_lenient import LenientMiddleware

pytestmark = not_on_3(RAW)
_KINDS = ["stateful", "stateless", "modern"]
_RIGHT = {"text": "kept", "tags": ["a"]}
_NEARLY = {"text": "kept", "tags": '["a"]'}
_KEPT = {"text": "kept", "tags": ["a"], "priority": 0}


def _hooks_of_another_kind(server: FastMCP, monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK's hooks are no list anymore."""
    monkeypatch.setattr(server._mcp_server, "middleware", tuple(server._mcp_server.middleware))


def _handler_of_another_name(_server: FastMCP, monkeypatch: pytest.MonkeyPatch) -> None:
    """FastMCP's handler of tool calls, which each server has registered, has no name that we know."""
    monkeypatch.delattr(MCPOperationsMixin, "_on_call_tool")


_CHANGES = [
    pytest.param(_hooks_of_another_kind, id="hooks"),
    pytest.param(_handler_of_another_name, id="handler"),
]

Change = Callable[[FastMCP, pytest.MonkeyPatch], None]


@pytest.fixture(params=_CHANGES)
def changed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> FastMCP:
    """A lenient server on a FastMCP that has changed after the server was built."""
    server = build()
    request.param(server, monkeypatch)
    return server


@pytest.mark.slow
@pytest.mark.parametrize("kind", _KINDS)
def test_other_calls_keep_working(changed, kind):
    """Right, nearly right, wrong and unknown calls are answered as ever."""
    with http(changed, kind) as wire:
        assert value(call(wire, "add_note", _RIGHT)) == _KEPT
        assert rules(call(wire, "add_note", _NEARLY)) == ["json_text_to_array"]
        assert envelope(call(wire, "add_note", {"text": "a", "tags": 1}))["error_code"] == "INVALID_TAGS_TYPE"
        assert envelope(call(wire, "add_notes", {}))["error_code"] == "UNKNOWN_TOOL"


@pytest.mark.slow
@pytest.mark.parametrize("kind", _KINDS)
def test_raw_arguments_get_the_sdks_own_error(changed, kind):
    """Arguments in text are refused by the SDK as without the middleware, the first time and later."""
    with http(changed, kind) as wire:
        for _ in range(2):
            assert call(wire, "add_note", json.dumps(_RIGHT))["error"]["code"] == INVALID_PARAMS


@pytest.mark.quick_rows("hooks-stateful")
@pytest.mark.parametrize("kind", _KINDS)
def test_one_warning_is_logged(changed, kind, events):
    """However many messages of either kind come, exactly one warning is logged for the server."""
    with http(changed, kind) as wire:
        for sent in (json.dumps(_RIGHT), _RIGHT, json.dumps(_RIGHT), _NEARLY, [], {}):
            call(wire, "add_note", sent)
    warnings = [event for event in events if event["event"] == "hook_unavailable"]
    assert [(event["level"], event["subject"]) for event in warnings] == [("warning", "notes")]


def test_each_server_gets_one_warning(monkeypatch, events):
    """Two servers that share a middleware are warned of by name, once each."""
    middleware = LenientMiddleware()
    for name in ("one", "two"):
        server = build(None, name=name)
        server.add_middleware(middleware)
        _hooks_of_another_kind(server, monkeypatch)
        with http(server, "modern") as wire:
            for _ in range(3):
                call(wire, "add_note", _RIGHT)
    assert [event["subject"] for event in events if event["event"] == "hook_unavailable"] == ["one", "two"]
