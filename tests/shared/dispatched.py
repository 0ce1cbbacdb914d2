"""Calls of one tool inside the calls of a dispatcher, in this process and behind the proxy."""

from __future__ import annotations

from typing import Any

import pytest

RIGHT = {"content": "x", "tags": ["a"]}
STORED = {"content": "x", "tags": ["a"], "max_results": 5}


def store_context(content: str, tags: list[str] | None = None, max_results: int = 5) -> Any:
    """Store a text under tags."""
    return {"content": content, "tags": tags, "max_results": max_results}


REPAIRED = [
    pytest.param({"name": "store_context", "arguments": RIGHT}, [], id="right"),
    pytest.param(
        {"name": "store_context", "arguments": {"content": "x", "tags": '["a"]'}},
        [("json_text_to_array", "/arguments/tags")],
        id="a list as text",
    ),
    pytest.param(
        {"name": "store_context", "arguments": '{"content": "x", "tags": ["a"]}'},
        [("json_text_to_object", "/arguments")],
        id="arguments as text",
    ),
    pytest.param(
        {"name": "store_context", "arguments": {**RIGHT, "maxResults": 5}},
        [("rename_case", "/arguments/maxResults")],
        id="a name in another case",
    ),
    pytest.param(
        {"name": "store_context", "arguments": {**RIGHT, "max_results": None}},
        [("null_to_absent", "/arguments/max_results")],
        id="null",
    ),
    pytest.param(
        {"name": "store_context", "arguments": {"arguments": RIGHT}},
        [("unwrap_arguments", "/arguments")],
        id="wrapped twice",
    ),
    pytest.param({"name": "store_context", "args": RIGHT}, [("rename_alias", "/args")], id="args"),
    pytest.param(
        {"tool_name": "store_context", "params": {"content": "x", "tags": '["a"]'}},
        [
            ("rename_alias", "/tool_name"),
            ("rename_alias", "/params"),
            ("json_text_to_array", "/arguments/tags"),
        ],
        id="other words for both",
    ),
    pytest.param({"name": "store_context", **RIGHT}, [("wrap_arguments", "")], id="flat"),
    pytest.param(
        {"name": "store_context", "arguments": {**RIGHT, "toolCallId": "1"}},
        [("drop_injected", "/arguments/toolCallId")],
        id="a key that n8n adds",
    ),
]
"""What is sent, and the rule and place of each repair."""
REFUSED = [
    pytest.param(
        {"name": "store_context", "arguments": {"content": "x", "tags": 5}}, "INVALID_TAGS_TYPE", id="type"
    ),
    pytest.param(
        {"name": "store_context", "arguments": {"contents": "x", "tag": ["a"]}},
        "INVALID_ARGUMENTS",
        id="names",
    ),
    pytest.param({"name": "store_note", "arguments": {"content": "x"}}, "UNKNOWN_TOOL", id="no such tool"),
]
"""What is sent, and the code of the refusal."""
