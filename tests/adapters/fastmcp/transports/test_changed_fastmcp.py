"""If a FastMCP release changes its internals, only raw arguments are no longer parsed."""

from __future__ import annotations

import json

import pytest
from answers import envelope, rules, value
from fastmcp import FastMCP
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
    """Replace the SDK's list of hooks by a tuple."""
    monkeypatch.setattr(server._mcp_server, "middleware", tuple(server._mcp_server.middleware))


@pytest.fixture
def changed(monkeypatch: pytest.MonkeyPatch) -> FastMCP:
    """Return a lenient server whose FastMCP was changed after the server was built."""
    server = build()
    _hooks_of_another_kind(server, monkeypatch)
    return server


@pytest.mark.parametrize("kind", _KINDS)
def test_only_raw_arguments_are_affected(changed, kind, events):
    """The SDK refuses arguments sent as text, one warning is logged, and other calls are answered as before."""
    with http(changed, kind) as wire:
        for _ in range(2):
            assert call(wire, "add_note", json.dumps(_RIGHT))["error"]["code"] == INVALID_PARAMS
        assert value(call(wire, "add_note", _RIGHT)) == _KEPT
        assert rules(call(wire, "add_note", _NEARLY)) == ["json_text_to_array"]
        assert envelope(call(wire, "add_note", {"text": "a", "tags": 1}))["error_code"] == "INVALID_TAGS_TYPE"
        assert envelope(call(wire, "add_notes", {}))["error_code"] == "UNKNOWN_TOOL"
    warnings = [event for event in events if event["event"] == "hook_unavailable"]
    assert [(event["level"], event["subject"]) for event in warnings] == [("warning", "notes")]


def test_each_server_gets_one_warning(monkeypatch, events):
    """For two servers that share a middleware, one warning each is logged with the server's name."""
    middleware = LenientMiddleware()
    for name in ("one", "two"):
        server = build(None, name=name)
        server.add_middleware(middleware)
        _hooks_of_another_kind(server, monkeypatch)
        with http(server, "modern") as wire:
            for _ in range(3):
                call(wire, "add_note", _RIGHT)
    assert [event["subject"] for event in events if event["event"] == "hook_unavailable"] == ["one", "two"]
