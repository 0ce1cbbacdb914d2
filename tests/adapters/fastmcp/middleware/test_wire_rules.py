"""What clients receive: envelopes, repairs and unchanged tools. Logs and envelopes contain no secrets."""

from __future__ import annotations

import json
import logging
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from calls import Log, call, code, envelope, lenient, plain, published, rules, text
from fastmcp import Client, FastMCP
from fastmcp.tools import Tool
from fastmcp_versions import in_era
from pydantic import BaseModel, Field, SecretStr

from mcp_lenient import LenientMiddleware, Policy
from mcp_lenient.telemetry.events import read_event


class _Point(BaseModel):
    """A point."""

    x: int
    tags: list[str] = []


class _Kind(Enum):
    NOTE = "note"
    TASK = "task"


def typed(tags: list[str], point: _Point | None = None) -> dict[str, Any]:
    """Return the arguments, with an output schema."""
    return {"tags": tags, "point": point}


def untyped(tags: list[str], kind: _Kind = _Kind.NOTE, mode: Literal["a", "b"] = "a"):
    """Return the arguments, without an output schema."""
    return [tags, kind, mode]


def secretive(name: str, password: SecretStr, api_key: str, limit: Annotated[int, Field(le=10)] = 5) -> None:
    """Take secrets."""


@pytest.mark.parametrize("function", [typed, untyped])
async def test_the_envelope_is_in_content_meta_and_structured_content(function):
    """The structured content has the envelope only if the tool has no output schema."""
    refused = await call(lenient(function), function.__name__, {"tags": 5})
    assert refused.is_error
    assert [block.type for block in refused.content] == ["text"]
    reported = refused.meta["mcp_lenient"]
    assert json.loads(text(refused))["message"] == reported["message"]
    assert refused.structured_content == (None if function is typed else reported)


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_clients_of_both_protocol_eras_receive_the_envelope(mode):
    """Clients of the legacy and of the modern protocol get the same envelope and repairs."""
    async with Client(lenient(typed), **in_era(mode)) as client:
        refused = await client.call_tool_mcp("typed", {"tags": 5})
        repaired = await client.call_tool_mcp("typed", {"tags": "a"})
    assert code(refused) == "INVALID_TAGS_TYPE"
    assert rules(repaired) == ["scalar_to_array"]


async def test_the_envelope_has_the_documented_shape():
    """The envelope has exactly the documented fields."""
    reported = envelope(await call(lenient(typed), "typed", {"tags": 123}))
    assert list(reported) == ["status", "error_code", "message", "details"]
    assert reported["message"] == (
        "Invalid arguments for tool 'typed': 'tags' must be an array of strings, but got the integer 123. "
        "The tool was not run. Correct the call and send it again."
    )
    details = reported["details"]
    assert (details["tool"], details["parameter"]) == ("typed", "tags")
    assert (details["received_type"], details["received_value"]) == ("integer", 123)
    assert details["parameters"] == {"required": ["tags"], "optional": ["point"]}
    assert [violation["pointer"] for violation in details["violations"]] == ["/tags"]


async def test_the_envelope_for_an_unknown_tool_is_structured():
    """The structured content has the envelope, since an unknown tool has no output schema."""
    refused = await call(lenient(typed), "nothing", {})
    assert refused.structured_content == refused.meta["mcp_lenient"] == envelope(refused)


async def test_a_refused_call_lists_the_certain_repairs():
    """The envelope lists the remaining violations, and the repairs of the others."""
    reported = envelope(await call(lenient(typed), "typed", {"tags": '["a"]', "point": {"x": "far"}}))
    assert [violation["pointer"] for violation in reported["details"]["violations"]] == ["/point/x"]
    assert [repair["rule"] for repair in reported["details"]["repairs"]] == ["json_text_to_array"]


async def test_a_fix_of_the_envelope_makes_the_call_valid():
    """A fix is a JSON Patch that makes the call valid."""
    reported = envelope(await call(lenient(untyped), "untyped", {"tags": ["a"], "mode": "c"}))
    (violation,) = reported["details"]["violations"]
    assert violation["allowed_values"] == ["a", "b"]
    for patch in violation.get("fixes", []):
        (operation,) = patch
        assert operation["path"] == "/mode"
        assert (
            rules(await call(lenient(untyped), "untyped", {"tags": ["a"], "mode": operation["value"]})) == []
        )


@pytest.mark.parametrize(
    "jargon", ["pydantic", "http", "validation error", "input_value", "None", "Traceback"]
)
async def test_the_envelope_uses_json_words(jargon):
    """The envelope contains no Python or Pydantic jargon and no URL."""
    sent = {"tags": None, "point": {"x": None}, "other": None}
    assert jargon not in text(await call(lenient(typed), "typed", sent))


def _servers(*, with_middleware: bool) -> list[FastMCP]:
    tools = [
        Tool.from_function(typed, version="1"),
        Tool.from_function(untyped, annotations={"destructiveHint": True}),
        Tool.from_function(secretive, meta={"mine": 1}, tags={"a"}),
        published(n={"type": "float", "x-mine": [1]}),
    ]
    own = plain(*tools)
    child, parent = plain(*tools, name="child"), plain(name="parent")
    parent.mount(child, namespace="ns")
    servers = [own, child, parent]
    for server in servers if with_middleware else ():
        server.add_middleware(LenientMiddleware())
    return [own, parent]


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_the_tool_list_stays_unchanged(mode):
    """Before and after calls, ``tools/list`` is byte for byte the same with and without the middleware."""
    for alone, server in zip(_servers(with_middleware=False), _servers(with_middleware=True), strict=True):
        async with Client(alone, **in_era(mode)) as client:
            expected = [tool.model_dump_json() for tool in await client.list_tools()]
        async with Client(server, **in_era(mode)) as client:
            assert [tool.model_dump_json() for tool in await client.list_tools()] == expected
            for tool in await client.list_tools():
                for arguments in ({"tags": '["a"]'}, {"n": "1"}, {"tags": 5}, {}):
                    await client.call_tool_mcp(tool.name, arguments)
            assert [tool.model_dump_json() for tool in await client.list_tools()] == expected


SECRET = "hunter2hunter2"  # noqa: S105 - a secret of these tests only
SECRET_CALLS = [
    pytest.param("secretive", {"name": "n", "password": [SECRET, SECRET], "api_key": "k"}, id="secret_type"),
    pytest.param("secretive", {"name": "n", "password": {"a": SECRET}, "api_key": "k"}, id="inside_secret"),
    pytest.param("secretive", {"name": "n", "password": "p", "api_key": {"k": SECRET}}, id="secret_by_name"),
    pytest.param("secretive", {"name": "n", "password": "p", "api_kye": SECRET}, id="slip_in_a_secret_name"),
    pytest.param(
        "secretive", {"name": "n", "password": "p", "api_key": "k", "note": SECRET}, id="unknown_name"
    ),
    pytest.param("typed", {"tags": f'["{SECRET}", 5'}, id="cut_off_text"),
    pytest.param("typed", {"tags": ["a"], "point": f"x is {SECRET}"}, id="text_for_a_container"),
]
LOGGED_CALLS = [
    *SECRET_CALLS,
    pytest.param(
        "secretive", {"name": [[SECRET]], "password": "p", "api_key": "k", "limit": SECRET}, id="plain_value"
    ),
    pytest.param("typed", {"tags": f'["{SECRET}"]'}, id="repaired"),
    pytest.param("typed", {"tags": SECRET}, id="wrapped"),
    pytest.param("typed", {f'{{"tags": ["{SECRET}"]}}': ""}, id="whole_text_as_key"),
    pytest.param("untyped", {"tags": [], "kind": SECRET, "mode": SECRET}, id="enum"),
    pytest.param("own", {"n": SECRET}, id="forwarded"),
    pytest.param("own", {"n": 5, f'"{SECRET}': 1}, id="name_that_is_text"),
]


@pytest.mark.parametrize(
    "policy", [Policy(), Policy(mode="observe"), Policy.strict()], ids=["repair", "observe", "strict"]
)
@pytest.mark.parametrize(("tool", "arguments"), LOGGED_CALLS)
async def test_logs_contain_no_values(tool, arguments, policy, events: Log, caplog):
    """Neither the events nor FastMCP's own log lines at level INFO contain a sent value."""
    server = lenient(typed, untyped, secretive, published(n={"type": "integer"}), policy=policy)
    with caplog.at_level(logging.INFO):
        await call(server, tool, arguments)
    assert len(events) == 1
    assert SECRET not in json.dumps(events)
    assert SECRET not in caplog.text


@pytest.mark.parametrize(("tool", "arguments"), SECRET_CALLS)
async def test_envelopes_contain_no_secrets(tool, arguments):
    """The envelope does not echo secrets, values of undeclared names, or text sent for an array or object."""
    refused = await call(lenient(typed, secretive), tool, arguments)
    assert envelope(refused)["status"] == "error"
    assert SECRET not in str(refused)


async def test_without_a_configuration_events_go_to_stderr(capfd):
    """Each event is one JSON line on stderr that can be read back, and stdout stays empty."""
    server = lenient(typed)
    await call(server, "typed", {"tags": "a"})
    await call(server, "typed", {"tags": 5})
    await call(server, "typed", {"tags": ["a"]})
    captured = capfd.readouterr()
    events = [event for line in captured.err.splitlines() if (event := read_event(line)) is not None]
    assert [(event.event, event.tool) for event in events] == [
        ("call_repaired", "typed"),
        ("call_rejected", "typed"),
    ]
    assert captured.out == ""
