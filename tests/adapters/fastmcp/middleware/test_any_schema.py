"""Tools with schemas of older drafts, or with unreadable parts, behind the middleware and the proxy."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest
from calls import Log, Published, call, code, got, lenient, rules
from fastmcp import FastMCP
from fastmcp.server import create_proxy
from fastmcp_versions import PROXY, from_version, skip_on_3

from mcp_lenient import LenientMiddleware, Policy

INTEGER = {"type": "integer"}
REFUSE = Policy(unrepairable="refuse")


def _tool(parameter: Any, **more: Any) -> Published:
    properties = {"p": parameter, "n": INTEGER}
    schema = {"type": "object", "properties": properties, "additionalProperties": False, **more}
    return Published(name="own", parameters=schema)


def _direct(tool: Published) -> FastMCP:
    return lenient(tool, policy=REFUSE)


def _proxied(tool: Published) -> FastMCP:
    skip_on_3(PROXY)
    from mcp_lenient import create_lenient_proxy

    return create_lenient_proxy(_backend(tool))


def _wrapped(tool: Published) -> FastMCP:
    server = create_proxy(_backend(tool))
    server.add_middleware(LenientMiddleware(REFUSE))
    return server


def _backend(tool: Published) -> FastMCP:
    backend: FastMCP = FastMCP("backend")
    backend.add_tool(tool)
    return backend


FRONTS = pytest.mark.parametrize("front", [_direct, _proxied, _wrapped])


@FRONTS
@pytest.mark.parametrize(
    "current_state",
    [
        pytest.param({"type": "string", "nullable": True}, id="type"),
        pytest.param({"type": "string", "enum": ["open"], "nullable": True}, id="enum"),
        pytest.param({"$ref": "#/$defs/state", "nullable": True}, id="$ref"),
        pytest.param({"allOf": [{"$ref": "#/$defs/state"}], "nullable": True}, id="allOf"),
    ],
)
async def test_a_nullable_parameter_accepts_null(front, current_state, events: Log):
    """OpenAPI's ``nullable: true`` accepts null without a repair or a warning."""
    server = front(_tool(current_state, **{"$defs": {"state": {"type": "string"}}}))
    result = await call(server, "own", {"p": None, "n": 5})
    assert got(result) == {"got": {"p": None, "n": 5}}
    assert rules(result) == []
    assert (await call(server, "own", {"p": 5.5, "n": 5})).is_error
    assert "tool_not_compiled" not in events.names


@FRONTS
@pytest.mark.parametrize(
    "odd",
    [
        pytest.param({"type": "objekt"}, id="an unknown type"),
        pytest.param({"type": "array", "items": None}, id="items null"),
        pytest.param({"$ref": "#/$defs/none"}, id="a dangling reference"),
        pytest.param({"type": "string", "pattern": "("}, id="a pattern"),
    ],
)
async def test_an_unreadable_part_is_ignored_and_logged_once(front, odd, events: Log):
    """The other parameters are validated and repaired; one event names the ignored part and the reason."""
    server = front(_tool(odd))
    for _ in range(2):
        result = await call(server, "own", {"p": ["x"], "n": "5"})
        assert got(result) == {"got": {"p": ["x"], "n": 5}}
        assert rules(result) == ["text_to_integer"]
        assert code(await call(server, "own", {"p": "x", "n": "x"})) == "INVALID_N_TYPE"
    (warning,) = [event for event in events if event["event"] == "tool_not_compiled"]
    assert warning["subject"] == "own"
    assert warning["reason"].startswith("not judged or repaired at /properties/p (")


@FRONTS
async def test_older_keywords_are_validated(front, events: Log):
    """Keywords of older drafts are enforced, and other calls are repaired."""
    server = front(_tool({**INTEGER, "minimum": 3, "exclusiveMinimum": True}))
    assert got(await call(server, "own", {"p": "4"})) == {"got": {"p": 4}}
    assert code(await call(server, "own", {"p": 3})) == "INVALID_P_VALUE"
    assert "tool_not_compiled" not in events.names


def _doubled(keyword: str) -> Published:
    definitions = {f"d{at}": {keyword: [{"$ref": f"#/$defs/d{at + 1}"}] * 2} for at in range(40)}
    return _tool({"$ref": "#/$defs/d0"}, **{"$defs": {**definitions, "d40": INTEGER}})


@from_version("3.4.10", "FastMCP itself follows references that multiply")
@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
async def test_exponential_references_do_not_stall(keyword, events: Log):
    """References that double 40 times are not expanded, and calls are answered at once."""
    server = lenient(_doubled(keyword))
    started = process_time()
    for sent in (1, "no"):
        assert got(await call(server, "own", {"p": sent, "n": "5"})) == {"got": {"p": sent, "n": 5}}
    assert process_time() - started < 2.0
    (warning,) = [event for event in events if event["event"] == "tool_not_compiled"]
    assert "references expand" in warning["reason"]


async def test_the_published_schema_stays_unchanged():
    """Schemas of older drafts and with unreadable parts are published unchanged."""
    tools = [
        _tool({"type": "string", "nullable": True}),
        _tool({"items": [INTEGER], "additionalItems": False}),
        _tool({"type": "objekt", "$ref": 5}),
    ]
    for tool in tools:
        before = tool.model_copy(deep=True).parameters
        server = lenient(tool)
        await call(server, "own", {"p": None, "n": "5"})
        assert tool.parameters == before
