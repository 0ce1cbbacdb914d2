"""Test the rules in destructive tools."""

from __future__ import annotations

from typing import Any

from tables import (
    BOOLEAN,
    INTEGER,
    OBJECT,
    STRING,
    array,
    check_destructive,
    closed,
    keeps,
    nullable,
    refuses,
    refuses_call,
    repairs_call_to,
    repairs_to,
    table,
)

STRINGS = array(STRING)


@table(
    repairs_to("tier 1", STRINGS, '["a"]', ["a"], "json_text_to_array"),
    repairs_to("tier 1, number", INTEGER, "5", 5, "text_to_integer"),
    repairs_to("tier 2, Python", OBJECT, "{'a': None}", {"a": None}, "python_text_to_object"),
    repairs_call_to(
        "name by case",
        closed("user_id", user_id=INTEGER),
        {"userId": 5},
        {"user_id": 5},
        "rename_case /userId",
    ),
    repairs_call_to(
        "toolCallId",
        closed("id", id=INTEGER),
        {"id": 5, "toolCallId": "c"},
        {"id": 5},
        "drop_injected /toolCallId",
    ),
    repairs_call_to(
        "null toward a null default",
        closed("id", id=INTEGER, at={**INTEGER, "default": None}),
        {"id": 5, "at": None, "toolCallId": "c"},
        {"id": 5, "at": None},
        "drop_injected /toolCallId",
    ),
    repairs_call_to(
        "wrapped arguments",
        closed("id", id=INTEGER),
        {"args": {"id": 5}},
        {"id": 5},
        "unwrap_arguments ",
    ),
    refuses_call(
        "keys sent with the call id",
        closed("id", id=INTEGER),
        {"id": 5, "toolCallId": "c", "action": "x"},
    ),
    refuses_call(
        "empty toward a null default",
        closed("id", id=INTEGER, at={**INTEGER, "default": None}),
        {"id": 5, "at": ""},
    ),
    refuses_call(
        "null text toward a null default",
        closed("id", id=INTEGER, at={**INTEGER, "default": None}),
        {"id": 5, "at": "null"},
    ),
    refuses_call("null text for a nullable", closed(older=nullable(INTEGER)), {"older": "null"}),
    refuses_call("null text for nullable ids", closed(ids=nullable(array(INTEGER))), {"ids": "None"}),
    refuses_call("null text in a list", closed(ids=array(nullable(INTEGER))), {"ids": [1, "null"]}),
    refuses_call("null toward no default", closed("id", id=INTEGER, at=INTEGER), {"id": 5, "at": None}),
    refuses_call(
        "null toward another default",
        closed("id", id=INTEGER, at={**INTEGER, "default": 9}),
        {"id": 5, "at": None},
    ),
    refuses_call(
        "empty toward another default",
        closed("id", id=INTEGER, at={**INTEGER, "default": 9}),
        {"id": 5, "at": ""},
    ),
    refuses_call(
        "null text toward no default", closed("id", id=INTEGER, at=INTEGER), {"id": 5, "at": "null"}
    ),
    refuses_call("private key", closed("id", id=INTEGER), {"id": 5, "_meta": {}}),
    refuses_call("wait_for_previous", closed("id", id=INTEGER), {"id": 5, "wait_for_previous": True}),
    refuses("one for a list", STRINGS, "a"),
    refuses("list for one", STRING, ["a"]),
    refuses("1 for true", BOOLEAN, 1),
    refuses("number for text", STRING, 5),
    refuses("numbers in a text", array(INTEGER), "1, 2"),
    refuses("wrapped in its own name", INTEGER, {"p": 5}),
    refuses_call(
        "all in one parameter", closed("id", "at", id=INTEGER, at=INTEGER), {"id": {"id": 5, "at": 6}}
    ),
    refuses_call("flat fields", closed("data", data=closed("id", id=INTEGER)), {"id": 5}),
    refuses_call("name by slip", closed("content", content=STRING), {"contnet": "a"}),
    keeps("valid value", STRINGS, ["a"]),
)
def test_destructive_tools_use_tiers_1_and_2_only(
    schema: Any, sent: Any, expected: Any, repairs: Any
) -> None:
    """A destructive tool gets only rules of tiers 1 and 2, and no value is dropped."""
    check_destructive(schema, sent, expected, repairs)
