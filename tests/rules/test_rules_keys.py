"""Test declared aliases and keys that clients add."""

from __future__ import annotations

from typing import Any

import pytest
from tables import (
    INTEGER,
    STRING,
    array,
    check,
    closed,
    keeps_call,
    opened,
    refuses_call,
    repairs_call_to,
    table,
)

STRINGS = array(STRING)
ALIASES = {"task": ("query", "q")}
TASK = closed("task", task=STRING, limit=INTEGER)


@table(
    repairs_call_to("one", TASK, {"query": "a"}, {"task": "a"}, "rename_alias /query"),
    repairs_call_to("other", TASK, {"q": "a"}, {"task": "a"}, "rename_alias /q"),
    repairs_call_to(
        "beside a fault",
        TASK,
        {"q": "a", "limit": "5"},
        {"task": "a", "limit": 5},
        "rename_alias /q",
        "text_to_integer /limit",
    ),
    repairs_call_to(
        "with a value to repair",
        closed(task=INTEGER),
        {"q": "5"},
        {"task": 5},
        "rename_alias /q",
        "text_to_integer /q",
    ),
    repairs_call_to("optional", closed(task=STRING), {"query": "a"}, {"task": "a"}, "rename_alias /query"),
    repairs_call_to(
        "open and required", opened("task", task=STRING), {"q": "a"}, {"task": "a"}, "rename_alias /q"
    ),
    repairs_call_to(
        "like another name but for case",
        closed("task", "limit", task=STRING, limit=INTEGER),
        {"query": "a", "Limit": 5},
        {"task": "a", "limit": 5},
        "rename_alias /query",
        "rename_case /Limit",
    ),
    refuses_call("both aliases", TASK, {"query": "a", "q": "b"}),
    refuses_call("the name is there", TASK, {"task": "a", "q": "b"}),
    refuses_call("not an alias", TASK, {"question": "a"}),
    refuses_call("nested", closed("o", o=TASK), {"o": {"q": "a"}}),
    keeps_call("an alias that is declared", closed(task=STRING, query=STRING), {"query": "a"}),
    keeps_call("open, optional", opened(task=STRING), {"q": "a"}),
    refuses_call("in another case", TASK, {"Q": "a"}),
)
def test_rename_alias_renames_top_level_keys(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """A declared alias of a top-level parameter is renamed."""
    check(schema, sent, expected, repairs, aliases=ALIASES)


NAMED = closed("name", name=STRING)


@table(
    repairs_call_to(
        "toolCallId", NAMED, {"name": "a", "toolCallId": "c"}, {"name": "a"}, "drop_injected /toolCallId"
    ),
    repairs_call_to(
        "all of n8n",
        NAMED,
        {"name": "a", "toolCallId": "c", "action": "x", "sessionId": "s", "chatInput": "t"},
        {"name": "a"},
        *(f"drop_injected /{key}" for key in ("toolCallId", "action", "sessionId", "chatInput")),
    ),
    repairs_call_to(
        "wait_for_previous",
        NAMED,
        {"name": "a", "wait_for_previous": True},
        {"name": "a"},
        "drop_injected /wait_for_previous",
    ),
    repairs_call_to(
        "task_progress",
        NAMED,
        {"name": "a", "task_progress": "- [ ] b"},
        {"name": "a"},
        "drop_injected /task_progress",
    ),
    repairs_call_to(
        "private", NAMED, {"name": "a", "_meta": {"x": 1}}, {"name": "a"}, "drop_injected /_meta"
    ),
    repairs_call_to(
        "beside a fault",
        closed("n", n=INTEGER),
        {"n": "5", "toolCallId": "c"},
        {"n": 5},
        "drop_injected /toolCallId",
        "text_to_integer /n",
    ),
    repairs_call_to(
        "a declared action beside the id",
        closed(action=STRING),
        {"action": "x", "toolCallId": "c"},
        {"action": "x"},
        "drop_injected /toolCallId",
    ),
    repairs_call_to(
        "an action beside the id is not renamed",
        closed(actions=STRINGS),
        {"action": ["a"], "toolCallId": "c"},
        {},
        "drop_injected /action",
        "drop_injected /toolCallId",
    ),
    refuses_call("action alone", NAMED, {"name": "a", "action": "x"}),
    refuses_call("sessionId alone", NAMED, {"name": "a", "sessionId": "x"}),
    refuses_call("chatInput alone", NAMED, {"name": "a", "chatInput": "x"}),
    refuses_call("_id", NAMED, {"name": "a", "_id": "x"}),
    refuses_call("_limit", NAMED, {"name": "a", "_limit": 1}),
    refuses_call("_filter", NAMED, {"name": "a", "_filter": "x"}),
    refuses_call("_query", NAMED, {"name": "a", "_query": "x"}),
    refuses_call("_sort", NAMED, {"name": "a", "_sort": "x"}),
    refuses_call("the rest is declared", NAMED, {"name": "a", "_name": "b"}),
    refuses_call(
        "the rest is a word of a declared name",
        closed("user_name", user_name=STRING),
        {"user_name": "a", "_name": "b"},
    ),
    refuses_call("unknown", NAMED, {"name": "a", "requestId": "r"}),
    refuses_call("nested", closed("o", o=NAMED), {"o": {"name": "a", "toolCallId": "c"}}),
    refuses_call("in another case", NAMED, {"name": "a", "tool_call_id": "c"}),
    keeps_call("open", opened("name", name=STRING), {"name": "a", "toolCallId": "c"}),
    keeps_call("declared", closed(toolCallId=STRING), {"toolCallId": "c"}),
)
def test_drop_injected_drops_known_keys(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """Keys that known clients add are dropped at the top level of closed objects."""
    check(schema, sent, expected, repairs)


def test_dropped_key_does_not_block_its_name() -> None:
    """Another key may be renamed to the name that a dropped key resembles."""
    check(
        closed(max_results=INTEGER),
        {"maxResults": 5, "maxresults": 6},
        {"max_results": 5},
        [("rename_case", "/maxResults"), ("drop_injected", "/maxresults")],
        drop={"maxresults"},
    )


@pytest.mark.parametrize("key", ["requestId", "trace_id"])
def test_policy_drop_adds_keys(key: str) -> None:
    """A key in ``Policy.drop`` is dropped if it is unknown, and kept if it is declared."""
    check(NAMED, {"name": "a", key: "r"}, {"name": "a"}, [("drop_injected", f"/{key}")], drop={key})
    check(closed(**{key: STRING}), {key: "r"}, {key: "r"}, [], drop={key})
    check(opened(), {key: "r"}, {key: "r"}, [], drop={key})
