"""Test wrapped arguments and wrapped values."""

from __future__ import annotations

from typing import Any

import pytest
from fastmcp import Client, FastMCP
from tables import (
    INTEGER,
    OBJECT,
    STRING,
    array,
    check,
    closed,
    each_row,
    keeps_call,
    opened,
    refuses_call,
    repairs_call_to,
    table,
    union,
)

from mcp_lenient import LenientMiddleware, normalize

STRINGS = array(STRING)
FILTER = closed("field", field=STRING, value=INTEGER)


@table(
    refuses_call(
        "a plural whose content is not arguments",
        closed("param", param=union(OBJECT, STRINGS)),
        {"params": {"zz": 1}},
    ),
    repairs_call_to(
        "another wrapper's name for a parameter, and its content as text",
        closed("arguments", arguments=OBJECT),
        {"params": '{"a": 1}'},
        {"arguments": {"a": 1}},
        "unwrap_arguments ",
    ),
    repairs_call_to("args", FILTER, {"args": {"field": "a"}}, {"field": "a"}, "unwrap_arguments "),
    repairs_call_to(
        "input",
        FILTER,
        {"input": {"field": "a", "value": 1}},
        {"field": "a", "value": 1},
        "unwrap_arguments ",
    ),
    repairs_call_to("as text", FILTER, {"input": '{"field": "a"}'}, {"field": "a"}, "unwrap_arguments "),
    repairs_call_to(
        "with a fault",
        FILTER,
        {"params": {"field": "a", "value": "1"}},
        {"field": "a", "value": 1},
        "unwrap_arguments ",
        "text_to_integer /value",
    ),
    repairs_call_to(
        "beside an injected key",
        FILTER,
        {"kwargs": {"field": "a"}, "toolCallId": "c"},
        {"field": "a"},
        "unwrap_arguments ",
        "drop_injected /toolCallId",
    ),
    repairs_call_to(
        "properties", FILTER, {"properties": {"field": "a"}}, {"field": "a"}, "unwrap_arguments "
    ),
    repairs_call_to(
        "the only key is the text", FILTER, {'{"field": "a"}': ""}, {"field": "a"}, "unwrap_arguments "
    ),
    repairs_call_to(
        "the only key is the text, null",
        FILTER,
        {'{"field": "a"}': None},
        {"field": "a"},
        "unwrap_arguments ",
    ),
    repairs_call_to(
        "required wrapper with another name",
        closed("arguments", arguments=OBJECT),
        {"params": {"a": 1}},
        {"arguments": {"a": 1}},
        "unwrap_arguments ",
    ),
    refuses_call("two keys", FILTER, {"args": {"field": "a"}, "value": 1}),
    refuses_call("empty", FILTER, {"args": {}}),
    refuses_call("another word", FILTER, {"stuff": {"field": "a"}}),
    repairs_call_to("data", FILTER, {"data": {"field": "a"}}, {"field": "a"}, "unwrap_arguments "),
    refuses_call("a list", FILTER, {"args": [{"field": "a"}]}),
    refuses_call("content not valid", FILTER, {"args": {"field": 5.5}}),
    refuses_call("the content lacks a name", FILTER, {"args": {"value": 5}}),
    refuses_call("cut off text", FILTER, {"input": '{"field": "a"'}),
    refuses_call("the text has a value", FILTER, {'{"field": "a"}': 1}),
    repairs_call_to(
        "twice",
        FILTER,
        {"args": {"input": {"field": "a"}}},
        {"field": "a"},
        "unwrap_arguments ",
        "unwrap_arguments ",
    ),
    refuses_call(
        "another required wrapper beside other keys",
        closed("command", "input", command=STRING, input=STRING),
        {"command": "grep x", "args": "file.txt"},
    ),
    refuses_call(
        "another required wrapper, open", opened("input", input=STRING), {"args": "file.txt", "limit": 1}
    ),
    refuses_call(
        "another required wrapper around the right one",
        closed("args", args=OBJECT),
        {"input": {"args": {"a": 1}}},
    ),
    refuses_call("another required wrapper, empty", closed("arguments", arguments=OBJECT), {"params": {}}),
    refuses_call(
        "two wrappers", closed("arguments", arguments=OBJECT), {"params": {"a": 1}, "args": {"b": 1}}
    ),
    keeps_call("declared", closed(args=OBJECT), {"args": {"field": "a"}}),
    keeps_call("open", opened(field=STRING), {"args": {"field": "a"}}),
    repairs_call_to(
        "a required wrapper of another name beside another parameter",
        closed("arguments", "n", arguments=OBJECT, n=INTEGER),
        {"n": 1, "params": {"a": 1}},
        {"n": 1, "arguments": {"a": 1}},
        "unwrap_arguments ",
    ),
    refuses_call(
        "a required wrapper of another name beside an undeclared key",
        opened("arguments", arguments=OBJECT),
        {"params": {"a": 1}, "note": "x"},
    ),
    refuses_call(
        "two required parameters",
        closed("arguments", "input", arguments=OBJECT, input=OBJECT),
        {"params": {"a": 1}},
    ),
    repairs_call_to(
        "the only key is the text, an empty object",
        FILTER,
        {'{"field": "a"}': {}},
        {"field": "a"},
        "unwrap_arguments ",
    ),
    refuses_call(
        "declared, with content that fits",
        closed("field", args=OBJECT, field=STRING),
        {"args": {"field": "a"}},
    ),
    repairs_call_to(
        "required wrapper under the name of another one, as JSON text",
        closed("name", "arguments", name=STRING, arguments=OBJECT),
        {"name": "n", "params": '{"a": 1}'},
        {"name": "n", "arguments": {"a": 1}},
        "unwrap_arguments ",
    ),
    refuses_call(
        "required wrapper under the name of another one, as other text",
        closed("name", "arguments", name=STRING, arguments=OBJECT),
        {"name": "n", "params": "a"},
    ),
    refuses_call(
        "another word in place of a required wrapper", closed("input", input=OBJECT), {"stuff": {"a": 1}}
    ),
    refuses_call(
        "required wrapper, another name, any content",
        closed("input", input={}),
        {"args": {"a": 1}},
    ),
    refuses_call("the text has an object", FILTER, {'{"field": "a"}': {"b": 1}}),
    repairs_call_to(
        "schema with references by id",
        {
            **closed("n", n={"$ref": "n"}),
            "$id": "https://example.org/schema",
            "$defs": {"n": {"$id": "n", "type": "integer"}},
        },
        {"args": {"n": 5}},
        {"n": 5},
        "unwrap_arguments ",
    ),
    *(
        repairs_call_to(f"no name and no value: {value!r}", closed(), {"": value}, {}, "unwrap_arguments ")
        for value in ("", None, {}, [])
    ),
    refuses_call("no name, but a value", closed(), {"": "a"}),
    refuses_call("no name, but a number", closed(), {"": 0}),
    refuses_call("no name, but false", closed(), {"": False}),
    refuses_call("no name, and a tool with parameters", closed(field=STRING), {"": ""}),
    refuses_call("no name, and another key", closed(), {"": "", "a": ""}),
    keeps_call("no name, in an open object", {"type": "object"}, {"": ""}),
    refuses_call("with a slip in it", FILTER, {"args": {"feild": "a"}}),
    repairs_call_to(
        "with another container to wrap inside",
        closed("tags", tags=STRINGS),
        {"args": {"tags": "a"}},
        {"tags": ["a"]},
        "unwrap_arguments ",
        "scalar_to_array /tags",
    ),
)
def test_unwrap_arguments_removes_known_wrappers(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """Arguments are unwrapped from a known wrapper that is the only key."""
    check(schema, sent, expected, repairs)


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
