"""Keys that were sent under another name, and keys that clients add."""

from __future__ import annotations

from typing import Any

import pytest
from tables import (
    INTEGER,
    OBJECT,
    STRING,
    array,
    check,
    closed,
    enum,
    leaves_call,
    mends_call,
    nullable,
    opened,
    refuses_call,
    table,
)

STRINGS = array(STRING)
SEARCH = closed("query", query=STRING, max_results=INTEGER)


@table(
    mends_call("camel to snake", SEARCH, {"query": "a", "maxResults": 1}, {"query": "a", "max_results": 1}, "rename_case /maxResults"),
    mends_call("kebab to snake", SEARCH, {"query": "a", "max-results": 1}, {"query": "a", "max_results": 1}, "rename_case /max-results"),
    mends_call("title", SEARCH, {"Query": "a"}, {"query": "a"}, "rename_case /Query"),
    mends_call("snake to camel", closed("userId", userId=STRING), {"user_id": "u"}, {"userId": "u"}, "rename_case /user_id"),
    mends_call("with a value to repair", SEARCH, {"query": "a", "maxResults": "5"}, {"query": "a", "max_results": 5}, "rename_case /maxResults", "text_to_integer /maxResults"),
    mends_call("open, missing and required", opened("user_id", user_id=STRING), {"userId": "u"}, {"user_id": "u"}, "rename_case /userId"),
    mends_call("nested", closed("o", o=SEARCH), {"o": {"Query": "a"}}, {"o": {"query": "a"}}, "rename_case /o/Query"),
    mends_call("in an item", closed("o", o=array(SEARCH)), {"o": [{"Query": "a"}]}, {"o": [{"query": "a"}]}, "rename_case /o/0/Query"),
    mends_call("pointer is escaped", closed("a_b", a_b=INTEGER), {"a-B": 1}, {"a_b": 1}, "rename_case /a-B"),
    refuses_call("two keys for one name", SEARCH, {"query": "a", "maxResults": 1, "max-results": 2}),
    refuses_call("the name is there already", SEARCH, {"query": "a", "max_results": 1, "maxResults": 2}),
    refuses_call("two names for one key", closed(userid=STRING, user_id=STRING), {"userId": "u"}),
    refuses_call("a digit is parted", closed("v1_2", v1_2=STRING), {"v12": "a"}),
    refuses_call("an underscore in front", closed("limit", limit=INTEGER), {"_limit": 5}),
    refuses_call("a shared word", closed("id", id=STRING), {"user_id": "u"}),
    refuses_call("another word", closed("query", query=STRING), {"search": "u"}),
    leaves_call("open, optional", opened(max_results=INTEGER), {"maxResults": 1}),
    leaves_call("open, the required name is there", opened("query", query=STRING), {"query": "a", "Query": "b"}),
)
def test_rename_case(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """A key that differs by case style alone gets the declared, absent name."""
    check(schema, sent, expected, repairs)


@table(
    mends_call("by the open object", opened("n", max_results=INTEGER, n=INTEGER), {"maxResults": 1, "n": "5"}, {"maxResults": 1, "n": 5}, "text_to_integer /n"),
    mends_call("by a pattern, a name alike", {**closed(x_foo=STRING, n=INTEGER), "patternProperties": {"^x-": STRING}}, {"x-foo": "v", "n": "5"}, {"x-foo": "v", "n": 5}, "text_to_integer /n"),
    mends_call("by a pattern, a slip away", {**closed(options=STRING, n=INTEGER), "patternProperties": {"^opt": STRING}}, {"optoins": "v", "n": "5"}, {"optoins": "v", "n": 5}, "text_to_integer /n"),
    mends_call("by a pattern, an underscore in front", {**closed(n=INTEGER), "patternProperties": {"^_": {}}}, {"_trace": 1, "n": "5"}, {"_trace": 1, "n": 5}, "text_to_integer /n"),
    mends_call("by a pattern, the call's id", {**closed(n=INTEGER), "patternProperties": {"Id$": STRING}}, {"toolCallId": "c", "n": "5"}, {"toolCallId": "c", "n": 5}, "text_to_integer /n"),
    mends_call("by a pattern, nested", closed("o", o={**closed(x_foo=STRING, n=INTEGER), "patternProperties": {"^x-": STRING}}), {"o": {"x-foo": "v", "n": "5"}}, {"o": {"x-foo": "v", "n": 5}}, "text_to_integer /o/n"),
    mends_call("by a condition", {**opened(n=INTEGER), "unevaluatedProperties": False, "if": {"required": ["n"]}, "then": {"properties": {"_trace": STRING}}}, {"_trace": "v", "n": "5"}, {"_trace": "v", "n": 5}, "text_to_integer /n"),
    mends_call("by a dependent schema", {**opened(n=INTEGER), "unevaluatedProperties": False, "dependentSchemas": {"n": {"properties": {"_trace": STRING}}}}, {"_trace": "v", "n": "5"}, {"_trace": "v", "n": 5}, "text_to_integer /n"),
    mends_call("beside a reference in draft 7", {"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"A": opened(n=INTEGER)}, "$ref": "#/definitions/A", "additionalProperties": False}, {"_trace": "v", "n": "5"}, {"_trace": "v", "n": 5}, "text_to_integer /n"),
)
def test_accepted_keys_stay(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """Law 1: a key that the schema takes is neither renamed nor left out while another parameter is repaired."""
    check(schema, sent, expected, repairs)


@table(
    mends_call("swapped", closed("tags", tags=STRINGS), {"tgas": ["a"]}, {"tags": ["a"]}, "rename_near /tgas"),
    mends_call("missing", closed("content", content=STRING), {"contnt": "a"}, {"content": "a"}, "rename_near /contnt"),
    mends_call("extra", closed("content", content=STRING), {"conttent": "a"}, {"content": "a"}, "rename_near /conttent"),
    mends_call("one word of two", closed("max_results", max_results=INTEGER), {"max_resluts": 1}, {"max_results": 1}, "rename_near /max_resluts"),
    mends_call("singular", closed("tags", tags=STRINGS), {"tag": ["a"]}, {"tags": ["a"]}, "rename_near /tag"),
    mends_call("singular, one item", closed("tags", tags=STRINGS), {"tag": "a"}, {"tags": ["a"]}, "rename_near /tag", "scalar_to_array /tag"),
    mends_call("singular, nullable list", closed(tags=nullable(STRINGS)), {"tag": ["a"]}, {"tags": ["a"]}, "rename_near /tag"),
    mends_call("open, missing and required", opened("content", content=STRING), {"contnet": "a"}, {"content": "a"}, "rename_near /contnet"),
    refuses_call("substitution", closed("height", height=INTEGER), {"heighz": 1}),
    refuses_call("weight", closed("height", height=INTEGER), {"weight": 1}),
    refuses_call("gte", closed("lte", lte=INTEGER), {"gte": 1}),
    refuses_call("the first letters swapped", closed("tags", tags=STRINGS), {"atgs": ["a"]}),
    refuses_call("the first letter missing", closed("content", content=STRING), {"ontent": "a"}),
    refuses_call("the last letter missing", closed("content", content=STRING), {"conten": "a"}),
    refuses_call("a short word", closed("path", path=STRING), {"pth": "a"}),
    refuses_call("a digit", closed("page12", page12=INTEGER), {"page21": 1}),
    refuses_call("plural toward a text", closed("tag", tag=STRING), {"tags": "a"}),
    refuses_call("two keys", closed("content", content=STRING), {"contnet": "a", "conetnt": "b"}),
    refuses_call("a key by case and one by slip", closed("content", content=STRING), {"Content": "a", "contnet": "b"}),
    refuses_call("the value does not fit", closed("content", content=STRING), {"contnet": 5}),
    refuses_call("the value needs a repair", closed("count", count=INTEGER), {"conut": "5"}),
    refuses_call("a word of its own", closed("patch", patch=STRING), {"path": "a"}),
    refuses_call("two slips", closed("content", content=STRING), {"cotnnet": "a"}),
    leaves_call("open, optional", opened(content=STRING), {"contnet": "a"}),
)
def test_rename_near(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """A slip of the keyboard is undone toward one absent name whose schema takes the value as it came."""
    check(schema, sent, expected, repairs)


ALIASES = {"task": ("query", "q")}
TASK = closed("task", task=STRING, limit=INTEGER)


@table(
    mends_call("one", TASK, {"query": "a"}, {"task": "a"}, "rename_alias /query"),
    mends_call("other", TASK, {"q": "a"}, {"task": "a"}, "rename_alias /q"),
    mends_call("beside a fault", TASK, {"q": "a", "limit": "5"}, {"task": "a", "limit": 5}, "rename_alias /q", "text_to_integer /limit"),
    mends_call("with a value to repair", closed(task=INTEGER), {"q": "5"}, {"task": 5}, "rename_alias /q", "text_to_integer /q"),
    mends_call("optional", closed(task=STRING), {"query": "a"}, {"task": "a"}, "rename_alias /query"),
    mends_call("open and required", opened("task", task=STRING), {"q": "a"}, {"task": "a"}, "rename_alias /q"),
    refuses_call("both aliases", TASK, {"query": "a", "q": "b"}),
    refuses_call("the name is there", TASK, {"task": "a", "q": "b"}),
    refuses_call("not an alias", TASK, {"question": "a"}),
    refuses_call("nested", closed("o", o=TASK), {"o": {"q": "a"}}),
    leaves_call("an alias that is declared", closed(task=STRING, query=STRING), {"query": "a"}),
    leaves_call("open, optional", opened(task=STRING), {"q": "a"}),
    refuses_call("in another case", TASK, {"Q": "a"}),
)
def test_rename_alias(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """Another name that was declared for a top-level parameter."""
    check(schema, sent, expected, repairs, aliases=ALIASES)


NAMED = closed("name", name=STRING)


@table(
    mends_call("toolCallId", NAMED, {"name": "a", "toolCallId": "c"}, {"name": "a"}, "drop_injected /toolCallId"),
    mends_call("all of n8n", NAMED, {"name": "a", "toolCallId": "c", "action": "x", "sessionId": "s", "chatInput": "t"}, {"name": "a"}, *(f"drop_injected /{key}" for key in ("toolCallId", "action", "sessionId", "chatInput"))),
    mends_call("wait_for_previous", NAMED, {"name": "a", "wait_for_previous": True}, {"name": "a"}, "drop_injected /wait_for_previous"),
    mends_call("task_progress", NAMED, {"name": "a", "task_progress": "- [ ] b"}, {"name": "a"}, "drop_injected /task_progress"),
    mends_call("private", NAMED, {"name": "a", "_meta": {"x": 1}}, {"name": "a"}, "drop_injected /_meta"),
    mends_call("beside a fault", closed("n", n=INTEGER), {"n": "5", "toolCallId": "c"}, {"n": 5}, "drop_injected /toolCallId", "text_to_integer /n"),
    mends_call("an action beside the id is not renamed", closed(actions=STRINGS), {"action": ["a"], "toolCallId": "c"}, {}, "drop_injected /action", "drop_injected /toolCallId"),
    refuses_call("action alone", NAMED, {"name": "a", "action": "x"}),
    refuses_call("sessionId alone", NAMED, {"name": "a", "sessionId": "x"}),
    refuses_call("chatInput alone", NAMED, {"name": "a", "chatInput": "x"}),
    refuses_call("_id", NAMED, {"name": "a", "_id": "x"}),
    refuses_call("_limit", NAMED, {"name": "a", "_limit": 1}),
    refuses_call("_filter", NAMED, {"name": "a", "_filter": "x"}),
    refuses_call("_query", NAMED, {"name": "a", "_query": "x"}),
    refuses_call("_sort", NAMED, {"name": "a", "_sort": "x"}),
    refuses_call("what follows is declared", NAMED, {"name": "a", "_name": "b"}),
    refuses_call("what follows is a word of a declared name", closed("user_name", user_name=STRING), {"user_name": "a", "_name": "b"}),
    refuses_call("unknown", NAMED, {"name": "a", "requestId": "r"}),
    refuses_call("nested", closed("o", o=NAMED), {"o": {"name": "a", "toolCallId": "c"}}),
    refuses_call("in another case", NAMED, {"name": "a", "tool_call_id": "c"}),
    leaves_call("open", opened("name", name=STRING), {"name": "a", "toolCallId": "c"}),
    leaves_call("declared", closed(toolCallId=STRING), {"toolCallId": "c"}),
)
def test_drop_injected(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """Keys that known clients add are left out at the top of closed objects."""
    check(schema, sent, expected, repairs)


@pytest.mark.parametrize("key", ["requestId", "trace_id"])
def test_the_operator_lists_more_keys(key: str) -> None:
    """A key in ``Policy.drop`` is left out where it is unknown, and stays where it is declared."""
    check(NAMED, {"name": "a", key: "r"}, {"name": "a"}, [("drop_injected", f"/{key}")], drop={key})
    check(closed(**{key: STRING}), {key: "r"}, {key: "r"}, [], drop={key})
    check(opened(), {key: "r"}, {key: "r"}, [], drop={key})


FILTER = closed("field", field=STRING, value=INTEGER)


@table(
    mends_call("args", FILTER, {"args": {"field": "a"}}, {"field": "a"}, "unwrap_arguments "),
    mends_call("input", FILTER, {"input": {"field": "a", "value": 1}}, {"field": "a", "value": 1}, "unwrap_arguments "),
    mends_call("as text", FILTER, {"input": '{"field": "a"}'}, {"field": "a"}, "unwrap_arguments "),
    mends_call("with a fault", FILTER, {"params": {"field": "a", "value": "1"}}, {"field": "a", "value": 1}, "unwrap_arguments ", "text_to_integer /value"),
    mends_call("beside an injected key", FILTER, {"kwargs": {"field": "a"}, "toolCallId": "c"}, {"field": "a"}, "unwrap_arguments ", "drop_injected /toolCallId"),
    mends_call("properties", FILTER, {"properties": {"field": "a"}}, {"field": "a"}, "unwrap_arguments "),
    mends_call("the only key is the text", FILTER, {'{"field": "a"}': ""}, {"field": "a"}, "unwrap_arguments "),
    mends_call("the only key is the text, null", FILTER, {'{"field": "a"}': None}, {"field": "a"}, "unwrap_arguments "),
    mends_call("a required wrapper of another name", closed("arguments", arguments=OBJECT), {"params": {"a": 1}}, {"arguments": {"a": 1}}, "unwrap_arguments "),
    refuses_call("two keys", FILTER, {"args": {"field": "a"}, "value": 1}),
    refuses_call("empty", FILTER, {"args": {}}),
    refuses_call("another word", FILTER, {"data": {"field": "a"}}),
    refuses_call("a list", FILTER, {"args": [{"field": "a"}]}),
    refuses_call("the content is not accepted", FILTER, {"args": {"field": 5.5}}),
    refuses_call("the content lacks a name", FILTER, {"args": {"value": 5}}),
    refuses_call("cut off text", FILTER, {"input": '{"field": "a"'}),
    refuses_call("the text has a value", FILTER, {'{"field": "a"}': 1}),
    refuses_call("twice", FILTER, {"args": {"input": {"field": "a"}}}),
    refuses_call("another required wrapper beside other keys", closed("command", "input", command=STRING, input=STRING), {"command": "grep x", "args": "file.txt"}),
    refuses_call("another required wrapper, open", opened("input", input=STRING), {"args": "file.txt", "limit": 1}),
    refuses_call("another required wrapper, empty", closed("arguments", arguments=OBJECT), {"params": {}}),
    refuses_call("two wrappers", closed("arguments", arguments=OBJECT), {"params": {"a": 1}, "args": {"b": 1}}),
    leaves_call("declared", closed(args=OBJECT), {"args": {"field": "a"}}),
    leaves_call("open", opened(field=STRING), {"args": {"field": "a"}}),
)
def test_unwrap_arguments(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """Arguments in a wrapper that clients are known to add come out of it, when it is the only key."""
    check(schema, sent, expected, repairs)


WRAPPED = closed("data", data=FILTER)


@table(
    mends_call("flat fields", WRAPPED, {"field": "a"}, {"data": {"field": "a"}}, "wrap_arguments "),
    mends_call("all fields", WRAPPED, {"field": "a", "value": 1}, {"data": {"field": "a", "value": 1}}, "wrap_arguments "),
    mends_call("nullable", closed("data", data=nullable(FILTER)), {"field": "a"}, {"data": {"field": "a"}}, "wrap_arguments "),
    mends_call("with a fault", WRAPPED, {"field": "a", "value": "1"}, {"data": {"field": "a", "value": 1}}, "wrap_arguments ", "text_to_integer /data/value"),
    mends_call("by reference", {**closed("data", data={"$ref": "#/$defs/F"}), "$defs": {"F": FILTER}}, {"field": "a"}, {"data": {"field": "a"}}, "wrap_arguments "),
    mends_call("beside an injected key", WRAPPED, {"field": "a", "toolCallId": "c"}, {"data": {"field": "a"}}, "wrap_arguments ", "drop_injected /toolCallId"),
    refuses_call("an undeclared field", WRAPPED, {"field": "a", "size": 1}),
    refuses_call("a field is missing", WRAPPED, {"value": 1}),
    refuses_call("empty", WRAPPED, {}),
    refuses_call("a free-form object", closed("data", data=OBJECT), {"field": "a"}),
    refuses_call("two parameters", closed("data", data=FILTER, n=INTEGER), {"field": "a"}),
    refuses_call("beside the parameter", WRAPPED, {"data": {"value": 1}, "field": "a"}),
    refuses_call("another case of a field", WRAPPED, {"Field": "a"}),
    leaves_call("open, optional", opened(data=FILTER), {"field": "a"}),
)
def test_wrap_arguments(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """Flat fields go into the one parameter, an object that declares every one of them."""
    check(schema, sent, expected, repairs)


@table(
    mends_call("itself", closed("p", p=FILTER), {"p": {"p": {"field": "a"}}}, {"p": {"field": "a"}}, "wrapped_value /p"),
    mends_call("itself, a scalar", closed("p", p=INTEGER), {"p": {"p": 5}}, {"p": 5}, "wrapped_value /p"),
    mends_call("itself, a list", closed("p", p=STRINGS), {"p": {"p": ["a"]}}, {"p": ["a"]}, "wrapped_value /p"),
    mends_call("typed", closed("p", p={"type": "number"}), {"p": {"type": "float", "value": 2.5}}, {"p": 2.5}, "wrapped_value /p"),
    mends_call("typed text", closed("p", p=STRING), {"p": {"type": "string", "value": "a"}}, {"p": "a"}, "wrapped_value /p"),
    mends_call("typed list", closed("p", p=STRINGS), {"p": {"type": "array", "value": ["a"]}}, {"p": ["a"]}, "wrapped_value /p"),
    mends_call("nested", closed("o", o=closed("p", p=INTEGER)), {"o": {"p": {"p": 1}}}, {"o": {"p": 1}}, "wrapped_value /o/p"),
    refuses_call("the type does not fit the value", closed("p", p=INTEGER), {"p": {"type": "string", "value": 5}}),
    refuses_call("no JSON type", closed("p", p=INTEGER), {"p": {"type": "gauge", "value": 5}}),
    refuses_call("a third key", closed("p", p=INTEGER), {"p": {"type": "integer", "value": 5, "unit": "m"}}),
    refuses_call("another name", closed("p", p=INTEGER), {"p": {"q": 5}}),
    refuses_call("a boolean is no integer", closed("p", p=INTEGER), {"p": {"type": "integer", "value": True}}),
    refuses_call("a second key", closed("p", p=INTEGER), {"p": {"p": 5, "q": 6}}),
    leaves_call("the schema takes the wrapper", closed("p", p=OBJECT), {"p": {"p": 5}}),
    leaves_call("the schema takes the typed wrapper", closed("p", p=OBJECT), {"p": {"type": "integer", "value": 5}}),
)
def test_wrapped_value(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """A value in a wrapper of its own name or type comes out, where the schema does not take the wrapper."""
    check(schema, sent, expected, repairs)


def test_an_enum_member_is_no_name() -> None:
    """Names are never found by the value that they carry."""
    check(closed("mode", mode=enum("a", "b")), {"kind": "a"}, None, [])
