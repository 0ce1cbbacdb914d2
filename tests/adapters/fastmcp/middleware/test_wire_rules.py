"""What a client receives: the envelope, the repairs, and the tools as they were; and what no log line holds."""

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
    """Where it is."""

    x: int
    tags: list[str] = []


class _Kind(Enum):
    NOTE = "note"
    TASK = "task"


def typed(tags: list[str], point: _Point | None = None) -> dict[str, Any]:
    """A tool with an output schema."""
    return {"tags": tags, "point": point}


def untyped(tags: list[str], kind: _Kind = _Kind.NOTE, mode: Literal["a", "b"] = "a"):
    """A tool without an output schema."""
    return [tags, kind, mode]


def secretive(name: str, password: SecretStr, api_key: str, limit: Annotated[int, Field(le=10)] = 5) -> None:
    """A tool with secrets."""


@pytest.mark.parametrize("function", [typed, untyped])
async def test_the_envelope_is_in_content_meta_and_structured_content(function):
    """The result is an error; the envelope is its one text block and in ``_meta``; in the structured content only without an output schema."""
    refused = await call(lenient(function), function.__name__, {"tags": 5})
    assert refused.is_error
    assert [block.type for block in refused.content] == ["text"]
    reported = refused.meta["mcp_lenient"]
    assert json.loads(text(refused))["message"] == reported["message"]
    assert refused.structured_content == (None if function is typed else reported)


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_both_eras_receive_the_envelope(mode):
    """Clients of the handshake and of the modern protocol get the same."""
    async with Client(lenient(typed), **in_era(mode)) as client:
        refused = await client.call_tool_mcp("typed", {"tags": 5})
        repaired = await client.call_tool_mcp("typed", {"tags": "a"})
    assert code(refused) == "INVALID_TAGS_TYPE"
    assert rules(repaired) == ["scalar_to_array"]


async def test_the_envelope_has_the_documented_shape():
    """Its fields are those of the documentation."""
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


async def test_the_envelope_of_an_unknown_tool_is_structured():
    """No output schema speaks against it where there is no tool."""
    refused = await call(lenient(typed), "nothing", {})
    assert refused.structured_content == refused.meta["mcp_lenient"] == envelope(refused)


async def test_a_refused_call_lists_the_certain_repairs():
    """The envelope lists the certain repairs beside the remaining violations, and no violation that they fixed."""
    reported = envelope(await call(lenient(typed), "typed", {"tags": '["a"]', "point": {"x": "far"}}))
    assert [violation["pointer"] for violation in reported["details"]["violations"]] == ["/point/x"]
    assert [repair["rule"] for repair in reported["details"]["repairs"]] == ["json_text_to_array"]


async def test_a_fix_of_the_envelope_makes_the_call_valid():
    """A fix is a JSON Patch that makes the call one that the tool takes."""
    reported = envelope(await call(lenient(untyped), "untyped", {"tags": ["a"], "mode": "c"}))
    (violation,) = reported["details"]["violations"]
    assert violation["allowed_values"] == ["a", "b"]
    for patch in violation.get("fixes", []):
        (operation,) = patch
        assert operation["path"] == "/mode"
        assert (
            rules(await call(lenient(untyped), "untyped", {"tags": ["a"], "mode": operation["value"]})) == []
        )


@pytest.mark.quick_rows("pydantic")
@pytest.mark.parametrize(
    "jargon", ["pydantic", "http", "validation error", "input_value", "None", "Traceback"]
)
async def test_the_envelope_uses_json_words(jargon):
    """No jargon of Python or Pydantic, no address."""
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


@pytest.mark.quick_rows("2026-07-28")
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_the_list_of_tools_stays_as_it_is(mode):
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "policy", [Policy(), Policy(mode="observe"), Policy.strict()], ids=["repair", "observe", "strict"]
)
@pytest.mark.parametrize(("tool", "arguments"), LOGGED_CALLS)
async def test_no_log_line_holds_a_value(tool, arguments, policy, events: Log, caplog):
    """Neither the events nor what FastMCP logs on our account at level INFO repeat what was sent."""
    server = lenient(typed, untyped, secretive, published(n={"type": "integer"}), policy=policy)
    with caplog.at_level(logging.INFO):
        await call(server, tool, arguments)
    assert len(events) == 1
    assert SECRET not in json.dumps(events)
    assert SECRET not in caplog.text


@pytest.mark.quick_rows("secret_type", "unknown_name")
@pytest.mark.parametrize(("tool", "arguments"), SECRET_CALLS)
async def test_no_envelope_holds_a_secret(tool, arguments):
    """The envelope repeats no secret, no value of an undeclared name and no text that stood for a container."""
    refused = await call(lenient(typed, secretive), tool, arguments)
    assert envelope(refused)["status"] == "error"
    assert SECRET not in str(refused)


async def test_without_a_configuration_events_go_to_stderr(capfd):
    """One JSON line each, that can be read back; nothing goes to stdout."""
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
