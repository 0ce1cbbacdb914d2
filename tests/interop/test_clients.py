"""Call a lenient server with several clients, directly and through the proxy."""

from __future__ import annotations

import json
import sys

import pytest
from interop.conversations import CALLS, CLIENTS
from interop.routes import NOTEBOOK, ROUTES, Route

_ALL = [pytest.param(route, client, id=f"{route}-{client}") for route in ROUTES for client in CLIENTS]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.parametrize(("route", "speaker"), _ALL, indirect=True, scope="module"),
    # FastMCP's client warns about this with every server of the older era.
    pytest.mark.filterwarnings("ignore:The (roots|sampling|logging) capability is deprecated"),
]

_KEPT = {"text": "kept", "tags": ["a"], "priority": 0}
_TEXT = json.dumps(_KEPT, separators=(",", ":"))
_RAN = {
    "right": (_TEXT, _KEPT, []),
    "right_text": ("2", None, []),
    "right_empty": ("pong", {"result": "pong"}, []),
    "repaired": (_TEXT, _KEPT, ["scalar_to_array"]),
    "repaired_text": ("1", None, ["scalar_to_array"]),
    "repaired_json": (_TEXT, _KEPT, ["json_text_to_array"]),
    "repaired_whole": (_TEXT, _KEPT, ["json_text_to_object"]),
    "repaired_second_page": ("[1,2]", {"result": [1, 2]}, ["json_text_to_array"]),
}
"""Text, structured content and repairs of each call that runs."""
_CODES = {
    "refused": "INVALID_TAGS_TYPE",
    "refused_missing": "MISSING_TEXT",
    "refused_whole": "INVALID_ARGUMENTS",
    "refused_without_schema": "INVALID_WORDS_TYPE",
    "refused_whole_without_schema": "INVALID_ARGUMENTS",
    "unknown": "UNKNOWN_TOOL",
}
_HINTS = ("title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


@pytest.fixture(scope="module")
def route(request, tmp_path_factory):
    """Yield a route to the tools that stays open for all clients."""
    with ROUTES[request.param](tmp_path_factory.mktemp(request.param)) as route:
        yield route


@pytest.fixture(scope="module")
def speaker(request):
    """Return a client."""
    return CLIENTS[request.param]


@pytest.fixture(scope="module")
def conversation(route, speaker, tmp_path_factory):
    """Make all the calls that this client can send on this route."""
    return speaker.converse(route, tmp_path_factory.mktemp("client"))


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """Return the tools as the server publishes them without the middleware."""
    alone = Route({"command": [sys.executable, str(NOTEBOOK)]})
    return CLIENTS["fastmcp"].talk(alone, {}, tmp_path_factory.mktemp("alone"))["tools"]


def test_each_call_has_a_result(conversation, speaker, route):
    """Each client makes all its calls; none raises, and a tool's own error reaches it unchanged."""
    assert set(conversation.outcomes) == speaker.calls(route)
    assert {"right", "repaired", "refused", "failed"} <= set(conversation.outcomes)
    assert [call for call, outcome in conversation.outcomes.items() if "result" not in outcome] == []
    assert conversation.result("failed")["isError"] is True
    assert conversation.text("failed") == "There is no note 7."


def test_published_tools_are_unchanged(conversation, published):
    """Names, descriptions, schemas and annotations on all pages equal those of the server alone."""
    assert len(published) == 5
    others = conversation.tools.keys() - {conversation.prefix + tool["name"] for tool in published}
    assert all(name.startswith("home_") for name in others)
    for tool in published:
        seen = conversation.tools[conversation.prefix + tool["name"]]
        expected = tool
        if "metadata" in seen:
            hints = {name: seen["metadata"].get(name) for name in _HINTS}
            assert hints == {name: tool.get("annotations", {}).get(name) for name in _HINTS}
            assert seen["metadata"]["_meta"] == tool["_meta"]
            expected = {name: tool[name] for name in ("name", "description", "inputSchema")}
            seen = {name: seen[name] for name in expected}
        assert {**seen, "name": tool["name"]} == expected


def _reported(conversation, call):
    """Return the text, the structured content and the repairs that a client shows."""
    result = conversation.result(call)
    repairs = result.get("_meta", {}).get("mcp_lenient", {}).get("repairs", [])
    return conversation.text(call), result.get("structuredContent"), [each["rule"] for each in repairs]


def test_calls_that_run_are_answered(conversation, speaker):
    """Only results of tools with an output schema have structured content, and only repaired ones name repairs."""
    for call in _RAN.keys() & conversation.outcomes.keys():
        text, structured, rules = _RAN[call]
        hidden = speaker.hides_meta or call in speaker.corrects
        assert _reported(conversation, call) == (text, structured, [] if hidden else rules), call


def test_a_refusal_is_a_tool_error_with_the_envelope(conversation, speaker):
    """Its first text block agrees with ``_meta``; it is structured content only if the tool has no output schema."""
    tools = {f"{conversation.prefix}{tool}" for tool, _ in CALLS.values()}
    for call in _CODES.keys() & conversation.outcomes.keys():
        result, envelope = conversation.result(call), conversation.envelope(call)
        assert envelope["error_code"] == _CODES[call]
        assert any(f"'{tool}'" in envelope["message"] for tool in tools)
        if speaker.hides_meta:
            assert result.keys().isdisjoint({"structuredContent", "_meta"})
            continue
        whole = result["_meta"]["mcp_lenient"]
        assert all(whole[name] == envelope[name] for name in ("status", "error_code", "message"))
        without = call.endswith("without_schema") or call == "unknown"
        assert result.get("structuredContent") == (whole if without else None), call


def test_all_pages_of_tools_are_listed(conversation, request):
    """The server's tools are on two pages. FastMCP's proxy, and so ours, publishes them on one."""
    if request.node.callspec.params["speaker"] == "typescript_1":  # this client requests each page itself
        assert conversation.pages == (2 if request.node.callspec.params["route"] == "direct" else 1)
    assert conversation.prefix + "remove_notes" in conversation.tools


def test_both_protocol_eras_are_used(conversation, request):
    """Clients that support the newer protocol era use it on every route. The others use the older one."""
    client = request.node.callspec.params["speaker"]
    newer = client in ("fastmcp", "typescript_2")
    assert conversation.version in (None, "2026-07-28" if newer else "2025-11-25")
