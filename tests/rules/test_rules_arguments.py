"""Test wrapped arguments and wrapped values."""

from __future__ import annotations

from typing import Any

import pytest
from fastmcp import Client, FastMCP
from tables import (
    INTEGER,
    OBJECT,
    STRING,
    check,
    closed,
    each_row,
)

from mcp_lenient import LenientMiddleware, normalize

FILTER = closed("field", field=STRING, value=INTEGER)


@each_row(
    ("name", "value"),
    [
        *(("string", "a"), ("str", "a"), ("number", 2), ("number", 2.5), ("float", 2), ("float", 2.5)),
        *(("integer", 2), ("int", 2), ("boolean", True), ("bool", True), ("null", None)),
        *(("array", [1]), ("list", [1]), ("object", {"a": 1}), ("dict", {"a": 1})),
    ],
)
def test_wrapped_value_knows_every_type_name(name: str, value: Any) -> None:
    """A value next to its type name, JSON's or Python's, is unwrapped."""
    schema = closed("p", p={"not": {**OBJECT, "required": ["value"]}})
    check(schema, {"p": {"type": name, "value": value}}, {"p": value}, [("wrapped_value", "/p")])


@each_row("name", "args input params arguments parameters kwargs properties".split())
def test_unwrap_arguments_knows_every_wrapper(name: str) -> None:
    """The arguments are unwrapped from every known wrapper."""
    check(FILTER, {name: {"field": "a"}}, {"field": "a"}, [("unwrap_arguments", "")])


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ({"name": "greet", "arguments": {"person": "Ann"}}, {"person": "Ann"}),
        ({"name": "greet", "arguments": '{"person": "Ann"}'}, {"person": "Ann"}),
        ({"name": "other", "arguments": {"person": "Ann"}}, None),
        ({"name": "greet", "arguments": {"person": "Ann"}, "id": "1"}, None),
        ({"name": "greet", "arguments": {"town": "Oslo"}}, None),
    ],
)
async def test_call_as_its_own_arguments_is_unwrapped(sent: Any, expected: Any) -> None:
    """``{"name": <this tool>, "arguments": {..}}`` is the call itself. With another tool's name it is not."""
    server = FastMCP("own", middleware=[LenientMiddleware()])

    @server.tool
    def greet(person: str) -> str:
        return person

    async with Client(server) as client:
        result = await client.call_tool("greet", sent, raise_on_error=False)
    assert (None if result.is_error else {"person": result.data}) == expected


async def test_own_call_of_a_tool_without_parameters_is_unwrapped() -> None:
    """A tool without parameters that is sent its own call gets no arguments."""
    server = FastMCP("own", middleware=[LenientMiddleware()])

    @server.tool
    def tick() -> str:
        return "tock"

    async with Client(server) as client:
        assert (await client.call_tool("tick", {"name": "tick", "arguments": {}})).data == "tock"


@pytest.mark.parametrize("name", [None, "", "other"])
def test_call_as_its_own_arguments_requires_a_known_tool(name: Any) -> None:
    """Without a known tool name, or with a null name, `name` and `arguments` are unknown keys."""
    sent = {"name": name, "arguments": {"city": "Oslo"}}
    assert normalize(closed("city", city=STRING), sent).violations


async def test_tool_that_declares_name_and_arguments_keeps_them() -> None:
    """A tool that declares both parameters receives them unchanged."""
    server = FastMCP("own", middleware=[LenientMiddleware()])

    @server.tool
    def run(name: str, arguments: dict[str, Any]) -> str:
        return f"{name} {arguments}"

    async with Client(server) as client:
        result = await client.call_tool("run", {"name": "run", "arguments": {"name": "x", "arguments": {}}})
    assert result.data == "run {'name': 'x', 'arguments': {}}"


async def test_tool_that_declares_name_and_arguments_is_not_unwrapped() -> None:
    """Wrong arguments of a tool that declares both parameters are refused, not unwrapped."""
    server = FastMCP("own", middleware=[LenientMiddleware()])

    @server.tool
    def run(name: str, arguments: dict[str, int]) -> str:
        return f"{name} {arguments}"

    sent = {"name": "run", "arguments": {"name": "x", "arguments": {"a": 1}}}
    async with Client(server) as client:
        assert (await client.call_tool("run", sent, raise_on_error=False)).is_error
