"""Test wrapped arguments and wrapped values."""

from __future__ import annotations

from typing import Any

import pytest
from fastmcp import Client, FastMCP
from tables import (
    BOOLEAN,
    INTEGER,
    OBJECT,
    STRING,
    array,
    check,
    closed,
    each_row,
    keeps_call,
    nullable,
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


WRAPPED = closed("data", data=FILTER)


@table(
    repairs_call_to("flat fields", WRAPPED, {"field": "a"}, {"data": {"field": "a"}}, "wrap_arguments "),
    repairs_call_to(
        "all fields",
        WRAPPED,
        {"field": "a", "value": 1},
        {"data": {"field": "a", "value": 1}},
        "wrap_arguments ",
    ),
    repairs_call_to(
        "nullable",
        closed("data", data=nullable(FILTER)),
        {"field": "a"},
        {"data": {"field": "a"}},
        "wrap_arguments ",
    ),
    repairs_call_to(
        "with a fault",
        WRAPPED,
        {"field": "a", "value": "1"},
        {"data": {"field": "a", "value": 1}},
        "wrap_arguments ",
        "text_to_integer /data/value",
    ),
    repairs_call_to(
        "by reference",
        {**closed("data", data={"$ref": "#/$defs/F"}), "$defs": {"F": FILTER}},
        {"field": "a"},
        {"data": {"field": "a"}},
        "wrap_arguments ",
    ),
    repairs_call_to(
        "beside an injected key",
        WRAPPED,
        {"field": "a", "toolCallId": "c"},
        {"data": {"field": "a"}},
        "wrap_arguments ",
        "drop_injected /toolCallId",
    ),
    refuses_call("an undeclared field", WRAPPED, {"field": "a", "size": 1}),
    refuses_call("a field is missing", WRAPPED, {"value": 1}),
    refuses_call("empty", WRAPPED, {}),
    refuses_call("a free-form object", closed("data", data=OBJECT), {"field": "a"}),
    refuses_call("two parameters", closed("data", data=FILTER, n=INTEGER), {"field": "a"}),
    refuses_call("beside the parameter", WRAPPED, {"data": {"value": 1}, "field": "a"}),
    refuses_call("another case of a field", WRAPPED, {"Field": "a"}),
    keeps_call("open, optional", opened(data=FILTER), {"field": "a"}),
    refuses_call("empty, where no field is required", closed("data", data=closed(field=STRING)), {}),
    refuses_call(
        "the parameter's name is also a field's", closed("data", data=closed(data=STRING)), {"data": "a"}
    ),
    refuses_call(
        "a list for a field of the parameter's name",
        closed("data", data=closed(data=STRING)),
        {"data": ["a"]},
    ),
    repairs_call_to(
        "the parameter's name is also that of a list in it",
        closed("data", data=closed("data", data=STRINGS)),
        {"data": ["a"]},
        {"data": {"data": ["a"]}},
        "wrap_arguments ",
    ),
)
def test_wrap_arguments_wraps_flat_fields(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """Flat fields are wrapped in the only parameter, an object that declares all of them."""
    check(schema, sent, expected, repairs)


TODO = closed("title", title=STRING, done=BOOLEAN, tags=STRINGS)
TODOS = closed(todos=array(TODO), filter=opened(city=STRING), extra=OBJECT, params=OBJECT, note=STRING)


@table(
    repairs_call_to(
        "items and their properties",
        TODOS,
        {"todos[0].title": "a", "todos[1].title": "b", "todos[1].done": True, "note": "n"},
        {"note": "n", "todos": [{"title": "a"}, {"title": "b", "done": True}]},
        "nest_arguments ",
    ),
    repairs_call_to(
        "whole items",
        TODOS,
        {"todos[1]": {"title": "b"}, "todos[0]": {"title": "a"}},
        {"todos": [{"title": "a"}, {"title": "b"}]},
        "nest_arguments ",
    ),
    repairs_call_to(
        "a list in a list",
        TODOS,
        {"todos[0].title": "a", "todos[0].tags[0]": "t"},
        {"todos": [{"title": "a", "tags": ["t"]}]},
        "nest_arguments ",
    ),
    repairs_call_to(
        "a property", TODOS, {"filter.city": "Oslo"}, {"filter": {"city": "Oslo"}}, "nest_arguments "
    ),
    repairs_call_to(
        "a name in an object of arguments", TODOS, {"params.a": 1}, {"params": {"a": 1}}, "nest_arguments "
    ),
    refuses_call("a name in an object of any names, or a part of one", TODOS, {"extra.py": "a"}),
    repairs_call_to(
        "in a nullable list",
        closed(todos=nullable(array(TODO))),
        {"todos[0].title": "a"},
        {"todos": [{"title": "a"}]},
        "nest_arguments ",
    ),
    repairs_call_to(
        "with another fault",
        TODOS,
        {"todos[0].title": "a", "todos[0].done": "true"},
        {"todos": [{"title": "a", "done": True}]},
        "nest_arguments ",
        "text_to_boolean /todos/0/done",
    ),
    repairs_call_to(
        "beside a name with a point that the object accepts",
        {**TODOS, "required": ["todos"], "additionalProperties": STRING},
        {"todos[0].title": "a", "foo.bar": "b"},
        {"foo.bar": "b", "todos": [{"title": "a"}]},
        "nest_arguments ",
    ),
    refuses_call("no first item", TODOS, {"todos[1].title": "a"}),
    refuses_call("a gap", TODOS, {"todos[0].title": "a", "todos[2].title": "b"}),
    refuses_call("an index with a leading zero", TODOS, {"todos[00].title": "a"}),
    refuses_call("an undeclared property", TODOS, {"todos[0].titel": "a"}),
    refuses_call("an undeclared property of an open object", TODOS, {"filter.town": "Oslo"}),
    refuses_call("two steps into an object of arguments", TODOS, {"params.a.b": 1}),
    refuses_call("two paths to one place", TODOS, {"filter.city": "Oslo", "filter.city.name": "Oslo"}),
    refuses_call("an index and a name", TODOS, {"todos[0].title": "a", "todos.title": "b"}),
    refuses_call("the parameter was sent too", TODOS, {"todos[0].title": "a", "todos": []}),
    refuses_call("another unknown name", TODOS, {"todos[0].title": "a", "more": 1}),
    refuses_call("content that is refused", TODOS, {"todos[0].done": True}),
    repairs_call_to(
        "beside a declared name with a point",
        closed(**{"todos": array(TODO), "filter.city": STRING}),
        {"todos[0].title": "a"},
        {"todos": [{"title": "a"}]},
        "nest_arguments ",
    ),
    refuses_call(
        "a declared name with a point that begins alike",
        closed(**{"todos": array(TODO), "todos.city": STRING}),
        {"todos[0].title": "a"},
    ),
    repairs_call_to(
        "an open object, in which the path is any name",
        opened("note", note=STRING, todos=array(TODO)),
        {"note": 1, "todos[0].title": "a"},
        {"note": "1", "todos[0].title": "a"},
        "number_to_text /note",
    ),
    keeps_call("an object that accepts every name", opened(todos=array(TODO)), {"todos[0].title": "a"}),
)
def test_nest_arguments_builds_lists_and_objects(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """Names that are paths become the list or object, if the schema declares every step and none is missing."""
    check(schema, sent, expected, repairs)


@table(
    repairs_call_to(
        "itself",
        closed("p", p=FILTER),
        {"p": {"p": {"field": "a"}}},
        {"p": {"field": "a"}},
        "wrapped_value /p",
    ),
    refuses_call("itself for a list of any items", closed("p", p=array({})), {"p": {"p": [1]}}),
    refuses_call("value alone for a list of any items", closed("p", p=array({})), {"p": {"value": 1}}),
    refuses_call(
        "key that is not a string",
        closed("p", p={"type": "array", "items": INTEGER}),
        {"p": [{None: 5}]},
    ),
    repairs_call_to("value alone", closed("p", p=INTEGER), {"p": {"value": 5}}, {"p": 5}, "wrapped_value /p"),
    refuses_call("value alone, a list", closed("p", p=STRINGS), {"p": {"value": ["a"]}}),
    refuses_call("value and a unit", closed("p", p=INTEGER), {"p": {"value": 5, "unit": "m"}}),
    repairs_call_to(
        "itself, a scalar", closed("p", p=INTEGER), {"p": {"p": 5}}, {"p": 5}, "wrapped_value /p"
    ),
    repairs_call_to(
        "itself, a list", closed("p", p=STRINGS), {"p": {"p": ["a"]}}, {"p": ["a"]}, "wrapped_value /p"
    ),
    repairs_call_to(
        "typed",
        closed("p", p={"type": "number"}),
        {"p": {"type": "float", "value": 2.5}},
        {"p": 2.5},
        "wrapped_value /p",
    ),
    repairs_call_to(
        "typed text",
        closed("p", p=STRING),
        {"p": {"type": "string", "value": "a"}},
        {"p": "a"},
        "wrapped_value /p",
    ),
    repairs_call_to(
        "typed list",
        closed("p", p=STRINGS),
        {"p": {"type": "array", "value": ["a"]}},
        {"p": ["a"]},
        "wrapped_value /p",
    ),
    repairs_call_to(
        "nested",
        closed("o", o=closed("p", p=INTEGER)),
        {"o": {"p": {"p": 1}}},
        {"o": {"p": 1}},
        "wrapped_value /o/p",
    ),
    refuses_call(
        "the type does not fit the value", closed("p", p=INTEGER), {"p": {"type": "string", "value": 5}}
    ),
    refuses_call("not a JSON type", closed("p", p=INTEGER), {"p": {"type": "gauge", "value": 5}}),
    refuses_call("a third key", closed("p", p=INTEGER), {"p": {"type": "integer", "value": 5, "unit": "m"}}),
    refuses_call("another name", closed("p", p=INTEGER), {"p": {"q": 5}}),
    refuses_call(
        "JSON text is wanted",
        closed("p", p={"type": "string", "contentMediaType": "application/json"}),
        {"p": {"p": "a"}},
    ),
    refuses_call(
        "JSON text or null is wanted",
        closed("p", p=union({"type": "string", "contentMediaType": "application/json"}, {"type": "null"})),
        {"p": {"value": "[1]"}},
    ),
    refuses_call(
        "a list whose items are any objects",
        closed("p", p=array(OBJECT)),
        {"p": {"type": "array", "value": [{"id": 1}]}},
    ),
    repairs_call_to(
        "a list of any objects in its own name",
        closed("p", p=array(OBJECT)),
        {"p": {"p": [{"id": 1}]}},
        {"p": [{"id": 1}]},
        "wrapped_value /p",
    ),
    refuses_call("an unnamed type", closed("p", p=INTEGER), {"p": {"type": 5, "value": 5}}),
    refuses_call("no type beside the value", closed("p", p=INTEGER), {"p": {"kind": "integer", "value": 5}}),
    refuses_call("no value beside the type", closed("p", p=INTEGER), {"p": {"type": "integer", "is": 5}}),
    refuses_call(
        "a boolean is not an integer", closed("p", p=INTEGER), {"p": {"type": "integer", "value": True}}
    ),
    refuses_call("a second key", closed("p", p=INTEGER), {"p": {"p": 5, "q": 6}}),
    refuses_call(
        "field with its own name, or a wrapper",
        closed("p", p=closed(p={**OBJECT, "additionalProperties": STRING}, b=INTEGER)),
        {"p": {"p": {"b": 1}}},
    ),
    keeps_call("the schema accepts the wrapper", closed("p", p=OBJECT), {"p": {"p": 5}}),
    keeps_call(
        "the schema accepts the typed wrapper", closed("p", p=OBJECT), {"p": {"type": "integer", "value": 5}}
    ),
)
def test_wrapped_value_unwraps_name_and_type(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """A value is unwrapped from its own name or type if the schema does not accept the wrapper."""
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


PERSON = closed("name", name=STRING, age=INTEGER)
GATEWAY = closed("tool", "arguments", tool=STRING, arguments=OBJECT)


@table(
    repairs_call_to(
        "all inside the first parameter",
        PERSON,
        {"name": {"name": "Ann", "age": "5"}},
        {"name": "Ann", "age": 5},
        "unwrap_arguments ",
        "text_to_integer /age",
    ),
    refuses_call("all inside another name", PERSON, {"person": {"name": "Ann", "age": 5}}),
    refuses_call("inside, beside another parameter", PERSON, {"name": {"name": "Ann", "age": 5}, "age": 5}),
    refuses_call("inside, one of them alone", PERSON, {"age": {"name": "Ann"}}),
    refuses_call(
        "inside, without the parameter itself",
        closed("name", name=STRING, age=INTEGER, town=STRING),
        {"age": {"name": "Ann", "town": "Oslo"}},
    ),
    refuses_call("inside, with an unknown name", PERSON, {"name": {"name": "Ann", "town": "Oslo"}}),
    keeps_call(
        "inside a parameter that accepts objects",
        closed("name", name=OBJECT, age=INTEGER),
        {"name": {"name": "Ann", "age": 5}},
    ),
)
def test_arguments_inside_one_parameter_are_unwrapped(
    schema: Any, sent: Any, expected: Any, repairs: Any
) -> None:
    """All arguments inside a non-object parameter are unwrapped if its own name is among them."""
    check(schema, sent, expected, repairs)


@table(
    repairs_call_to(
        "flat fields",
        GATEWAY,
        {"tool": "weather", "town": "Oslo", "size": 2},
        {"tool": "weather", "arguments": {"town": "Oslo", "size": 2}},
        "wrap_arguments ",
    ),
    repairs_call_to(
        "of the only parameter",
        closed("params", params=OBJECT),
        {"town": "Oslo", "size": 2},
        {"params": {"town": "Oslo", "size": 2}},
        "wrap_arguments ",
    ),
    repairs_call_to(
        "one text, not an object",
        GATEWAY,
        {"tool": "read", "path": "/x"},
        {"tool": "read", "arguments": {"path": "/x"}},
        "wrap_arguments ",
    ),
    refuses_call(
        "one object, which may be the missing one", GATEWAY, {"tool": "weather", "payload": {"size": 2}}
    ),
    refuses_call(
        "one JSON text, which may be the missing one", GATEWAY, {"tool": "weather", "payload": '{"size": 2}'}
    ),
    refuses_call("another parameter is missing too", GATEWAY, {"town": "Oslo", "size": 2}),
    refuses_call(
        "a declared name in another case", GATEWAY, {"tool": "weather", "Tool": "news", "town": "Oslo"}
    ),
    refuses_call("a declared name's plural", GATEWAY, {"tool": "weather", "tools": "news", "town": "Oslo"}),
    refuses_call(
        "a path into the object", GATEWAY, {"tool": "weather", "arguments.town": "Oslo", "arguments[size]": 2}
    ),
    refuses_call(
        "unrelated object",
        closed("url", "headers", url=STRING, headers=OBJECT),
        {"url": "https://example.com", "method": "POST", "body": "x"},
    ),
    refuses_call(
        "an optional parameter was not sent",
        closed("tool", "arguments", tool=STRING, arguments=OBJECT, limit=INTEGER),
        {"tool": "weather", "town": "Oslo", "lmit": 2},
    ),
    refuses_call(
        "two objects are missing",
        closed("params", "arguments", params=OBJECT, arguments=OBJECT),
        {"town": "Oslo", "size": 2},
    ),
    refuses_call(
        "a required name that is not declared",
        opened("tool", "arguments", tool=STRING),
        {"tool": "a", "town": "Oslo"},
    ),
    refuses_call(
        "the missing one is not declared",
        opened("params", "arguments", arguments=OBJECT, tool=STRING),
        {"tool": "a", "town": "Oslo"},
    ),
    refuses_call("beside a wrapper", GATEWAY, {"tool": "weather", "params": {"size": 2}, "town": "Oslo"}),
    refuses_call(
        "an object that declares its names",
        closed("tool", "arguments", tool=STRING, arguments=closed(size=INTEGER, town=STRING)),
        {"tool": "weather", "town": "Oslo", "size": 2},
    ),
)
def test_unknown_names_fill_a_missing_open_object(
    schema: Any, sent: Any, expected: Any, repairs: Any
) -> None:
    """Unknown names go into the only missing object if it accepts any name and all else was sent."""
    check(schema, sent, expected, repairs)


@pytest.mark.quick_rows("sent1-expected1")
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


@table(
    repairs_call_to(
        "one item",
        closed(tags=STRINGS),
        {"tags": {"item": "42"}},
        {"tags": ["42"]},
        "item_wrapper_to_array /tags",
    ),
    repairs_call_to(
        "an object",
        closed(rows=array(closed("a", a=INTEGER))),
        {"rows": {"item": {"a": 1}}},
        {"rows": [{"a": 1}]},
        "item_wrapper_to_array /rows",
    ),
    refuses_call("nothing", closed(tags=STRINGS), {"tags": {"item": None}}),
    refuses_call("a word for nothing", closed(tags=STRINGS), {"tags": {"item": "none"}}),
    refuses_call("the text of a list", closed(tags=STRINGS), {"tags": {"item": '["a"]'}}),
    refuses_call("another key", closed(tags=STRINGS), {"tags": {"entry": "a"}}),
)
def test_wrapped_item_becomes_a_list_of_one(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """``{"item": X}`` becomes a list of one item, as ``{"item": [X]}`` does."""
    check(schema, sent, expected, repairs)
