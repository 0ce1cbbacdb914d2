"""Hostile values cause no exceptions except FastMCP's own, and no hangs."""

from __future__ import annotations

import json
import logging
import math
from typing import Any

import pytest
from calls import Log, Recording, got, lax_unless_slow, lenient, plain, published, text
from fastmcp.exceptions import FastMCPError
from fastmcp.tools import ToolResult
from fastmcp_versions import NO_JSON, since
from hostile import lists, objects
from pydantic import BaseModel

from mcp_lenient import Policy


class _Node(BaseModel):
    value: int = 0
    children: list[_Node] = []


VALUES: dict[str, Any] = {
    "lone_surrogate": "\ud800",
    "surrogate_in_list": ["a", "\udfff"],
    "surrogate_key": {"\ud800": 1},
    "escaped_surrogate": '["\\ud800"]',
    "integer_key": {1: "a"},
    "nan": math.nan,
    "list_of_nan": [math.nan, -math.inf],
    "text_of_nan": "[NaN, Infinity]",
    "huge_integer": 10**5000,
    "huge_float_text": "1e400",
    "list_of_huge": [10**5000, 1],
    "deep_list": lists(1, 10_000),
    "deep_object": objects(1, 10_000),
    "deep_text": "[" * 10_000 + "]" * 10_000,
    "deep_children": json.dumps({"children": []}).replace("[]", "[" * 2000 + "]" * 2000),
    "bytes": b"\xff",
    "set": {1, 2},
    "null_bytes": "\x00" * 1000,
    "many": [{}] * 1_000,
    "long_key": {"k" * 100_000: 1},
}

CALLS = [
    *(pytest.param({"value": value}, id=name) for name, value in VALUES.items()),
    pytest.param({"value": [], "\ud800": {"\ud800": []}}, id="surrogate_name_too"),
    pytest.param({f"name{n}": n for n in range(500)}, id="many_names"),
    pytest.param({"n" * 100_000: 1}, id="long_name"),
]


def _function(annotation: Any) -> Any:
    def tool(value: Any) -> Any:
        return {"type": type(value).__name__}

    tool.__annotations__["value"] = annotation
    return tool


TYPES: dict[str, Any] = {
    "list": list[str],
    "integer": int,
    "string": str,
    "recursive": _Node,
    "union": list[int] | dict[str, int] | None,
}


async def _outcome(server: Any, arguments: Any) -> ToolResult | FastMCPError:
    try:
        result = await server.call_tool("tool", arguments)
    except FastMCPError as error:
        return error
    assert isinstance(result, ToolResult)
    text(result).encode()
    return result


@pytest.fixture(autouse=True)
def _without_tracebacks(caplog: pytest.LogCaptureFixture) -> None:
    """Silence FastMCP's log: its traceback for a failed body takes longer than the call."""
    caplog.set_level(logging.CRITICAL, logger="fastmcp")


@lax_unless_slow
@pytest.mark.parametrize("annotation", TYPES.values(), ids=TYPES)
async def test_no_value_makes_a_function_tool_raise_anything_new(annotation, strict, events: Log):
    """Every call gets an answer that can be encoded as UTF-8, and its events can be logged as JSON."""
    function = _function(annotation)
    alone, server = plain(function, strict=strict), lenient(function, strict=strict)
    for case in CALLS:
        arguments = case.values[0]
        expected = await _outcome(alone, arguments)
        result = await _outcome(server, arguments)
        if isinstance(expected, ToolResult):
            assert isinstance(result, ToolResult), case.id
            assert (result.content, result.meta) == (expected.content, None), case.id
        else:
            assert isinstance(result, ToolResult) or type(result) is type(expected), case.id
    json.dumps(events).encode()


@pytest.mark.parametrize("unrepairable", ["forward", "refuse"])
async def test_no_value_makes_a_custom_tool_raise_anything_new(unrepairable):
    """The same is true for a tool that has only a published schema."""
    server = lenient(policy=Policy(unrepairable=unrepairable))
    array = {"type": "array", "items": {"type": "string"}}
    server.add_tool(Recording(**published("tool", value=array).model_dump()))
    for case in CALLS:
        outcome = await _outcome(server, case.values[0])
        assert isinstance(outcome, (ToolResult, FastMCPError)), case.id


async def test_large_valid_arguments_are_unchanged():
    """A call that the tool accepts runs whatever its size and depth."""
    server = lenient(_function(Any), policy=Policy())
    for value in ("x" * 10_000_000, [0] * 100_000, lists(1, 100)):
        assert got(await server.call_tool("tool", {"value": value})) == {"type": type(value).__name__}


@since(4, 1, NO_JSON)
@pytest.mark.parametrize(
    ("sent", "pointer"),
    [({"texts": ["a"] * 200 + ["\udfff"]}, "/texts/200"), ({"texts": [], "counts": {"\ud800": 1}}, "")],
    ids=["text", "name"],
)
async def test_lone_surrogates_are_reported_with_their_place(sent, pointer):
    """If a strict server cannot write a value as JSON, the envelope says where it is."""

    def tool(texts: list[str], counts: dict[str, int] | None = None) -> None: ...

    with pytest.raises(FastMCPError) as raised:
        await lenient(tool, strict=True).call_tool("tool", sent)
    (violation,) = raised.value.envelope["details"]["violations"]
    assert violation["pointer"] == pointer
    assert "it contains half of a surrogate pair" in violation["message"]
