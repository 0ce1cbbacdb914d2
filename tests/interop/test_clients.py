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
_TEXTS = {
    "right": json.dumps(_KEPT, separators=(",", ":")),
    "right_text": "2",
    "right_empty": "pong",
    "repaired": json.dumps(_KEPT, separators=(",", ":")),
    "repaired_text": "1",
    "repaired_json": json.dumps(_KEPT, separators=(",", ":")),
    "repaired_whole": json.dumps(_KEPT, separators=(",", ":")),
    "repaired_second_page": "[1,2]",
}
_STRUCTURED = {
    "right": _KEPT,
    "right_text": None,
    "right_empty": {"result": "pong"},
    "repaired": _KEPT,
    "repaired_text": None,
    "repaired_json": _KEPT,
    "repaired_whole": _KEPT,
    "repaired_second_page": {"result": [1, 2]},
}
_RULES = {
    "repaired": ["scalar_to_array"],
    "repaired_text": ["scalar_to_array"],
    "repaired_json": ["json_text_to_array"],
    "repaired_whole": ["json_text_to_object"],
    "repaired_second_page": ["json_text_to_array"],
}
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


def test_each_call_is_made(conversation, speaker, route):
    """Each client makes all its calls, including valid, repaired, refused and failing ones."""
    assert set(conversation.outcomes) == speaker.calls(route)
    assert {"right", "repaired", "refused", "failed"} <= set(conversation.outcomes)


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


def test_successful_calls_return_text(conversation):
    """The result of a valid or repaired call has the expected text."""
    reported = {call: conversation.text(call) for call in _TEXTS if call in conversation.outcomes}
    assert reported == {call: _TEXTS[call] for call in reported}
    assert {"right", "repaired"} <= reported.keys()


def test_successful_calls_return_structured_content(conversation):
    """Only results of tools with an output schema have structured content."""
    calls = [call for call in _STRUCTURED if call in conversation.outcomes]
    reported = {call: conversation.result(call).get("structuredContent") for call in calls}
    assert reported == {call: _STRUCTURED[call] for call in calls}


def test_repairs_are_in_meta(conversation, speaker):
    """A repaired call's result names its repairs. A valid call's result names none."""
    if speaker.hides_meta:
        assert all(
            "_meta" not in conversation.result(call) for call in _TEXTS if call in conversation.outcomes
        )
        return
    for call in _TEXTS.keys() & conversation.outcomes.keys():
        repairs = conversation.result(call).get("_meta", {}).get("mcp_lenient", {}).get("repairs", [])
        expected = [] if call in speaker.corrects else _RULES.get(call, [])
        assert [repair["rule"] for repair in repairs] == expected, call


def test_a_refusal_is_a_tool_error_with_the_envelope(conversation, speaker):
    """A refusal is a tool error whose first text block agrees with the envelope in ``_meta``."""
    reported = {call: conversation.envelope(call) for call in _CODES if call in conversation.outcomes}
    assert {call: envelope["error_code"] for call, envelope in reported.items()} == {
        call: _CODES[call] for call in reported
    }
    tools = {f"{conversation.prefix}{tool}" for tool, _ in CALLS.values()}
    assert all(any(f"'{tool}'" in envelope["message"] for tool in tools) for envelope in reported.values())
    if not speaker.hides_meta:
        for call, envelope in reported.items():
            whole = conversation.result(call)["_meta"]["mcp_lenient"]
            assert {name: whole[name] for name in ("status", "error_code", "message")} == {
                name: envelope[name] for name in ("status", "error_code", "message")
            }


def test_a_refusal_is_structured_without_an_output_schema(conversation, speaker):
    """A refusal has the envelope as structured content only if the tool has no output schema."""
    if speaker.hides_meta:
        assert "structuredContent" not in conversation.result("refused_without_schema")
        return
    for call in _CODES.keys() & conversation.outcomes.keys():
        structured = conversation.result(call).get("structuredContent")
        without = call.endswith("without_schema") or call == "unknown"
        whole = conversation.result(call)["_meta"]["mcp_lenient"]
        assert structured == (whole if without else None), call


def test_a_tools_own_error_is_not_an_envelope(conversation):
    """The tool's own error message reaches the client unchanged."""
    assert conversation.result("failed")["isError"] is True
    assert conversation.text("failed") == "There is no note 7."


def test_no_client_raised(conversation):
    """Every call has a result; no client raises an error because of one."""
    assert [call for call, outcome in conversation.outcomes.items() if "result" not in outcome] == []


def test_all_pages_of_tools_are_listed(conversation, request):
    """The server's tools are on two pages. FastMCP's proxy, and so ours, publishes them on one."""
    if request.node.callspec.params["speaker"] == "typescript_1":  # this client requests each page itself
        assert conversation.pages == (2 if request.node.callspec.params["route"] == "direct" else 1)
    assert conversation.prefix + "remove_notes" in conversation.tools


_VERSIONS = {"fastmcp": "2026-07-28", "typescript_2": "2026-07-28"}


def test_both_protocol_eras_are_used(conversation, request):
    """Clients that support the newer protocol era use it on every route. The others use the older one."""
    client = request.node.callspec.params["speaker"]
    if conversation.version is not None:
        assert conversation.version == _VERSIONS.get(client, "2025-11-25")
