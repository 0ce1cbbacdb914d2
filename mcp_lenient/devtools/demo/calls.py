"""The calls of the demo, each with its expected outcomes: FastMCP alone, and with mcp-lenient."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

NOTES: tuple[Mapping[str, Any], ...] = (
    {"content": "Plan the release", "tags": ["work"]},
    {"content": "Plan the trip", "tags": ["travel"]},
    {"content": "An old draft", "tags": ["work"]},
    {"content": "An older draft"},
)
"""What is in the store before the calls come; the first has the id 1."""


@dataclass(frozen=True, slots=True)
class DemoCall:
    """One call and its expected outcomes.

    Args:
        sent: The arguments, or the whole of them as JSON text.
        alone: Whether FastMCP alone runs it.
        repairs: The rules that repair it; none when it runs as sent or is refused.
        refused: The error code of the envelope; empty when the call runs.
        effect: What a tool that ran says it has done.
    """

    sent: Mapping[str, Any] | str
    alone: bool = False
    repairs: tuple[str, ...] = ()
    refused: str = ""
    effect: Any = None


@dataclass(frozen=True, slots=True)
class Section:
    """Calls of one tool; ``base`` holds correct arguments that each of them shares."""

    title: str
    tool: str
    calls: tuple[DemoCall, ...]
    base: Mapping[str, Any] = field(default_factory=dict)
    strict: bool = False


def _tags(sent: Any, *, effect: list[str] | None = None, **expected: Any) -> DemoCall:
    return DemoCall({"tags": sent}, effect=None if effect is None else {"tags": effect}, **expected)


SECTIONS = (
    Section(
        "store_context(content: str, tags: list[str] | None = None)",
        "store_context",
        (
            _tags(None, alone=True, effect=[]),
            _tags([], alone=True, effect=[]),
            _tags(["tag1"], alone=True, effect=["tag1"]),
            _tags(["tag1", "tag2", "tag3"], alone=True, effect=["tag1", "tag2", "tag3"]),
            _tags("single_tag", repairs=("scalar_to_array",), effect=["single_tag"]),
            _tags('["a","b"]', repairs=("json_text_to_array",), effect=["a", "b"]),
            _tags("['a', 'b',]", repairs=("json5_text_to_array",), effect=["a", "b"]),
            _tags({"item": ["a", "b"]}, repairs=("item_wrapper_to_array",), effect=["a", "b"]),
            _tags("a, b", refused="INVALID_TAGS_TYPE"),
            _tags('["a", "b', refused="INVALID_TAGS_TYPE"),
            _tags(123, refused="INVALID_TAGS_TYPE"),
            _tags(12.34, refused="INVALID_TAGS_TYPE"),
            _tags(sent=True, refused="INVALID_TAGS_TYPE"),
            _tags({"key": "value"}, refused="INVALID_TAGS_TYPE"),
            _tags(["tag1", 123, "tag2"], refused="INVALID_TAGS_TYPE"),
            _tags([None, "tag1"], refused="INVALID_TAGS_TYPE"),
        ),
        base={"content": "a note"},
    ),
    Section(
        "search_context(query: str, tags: list[str] | None = None, limit: int = 10)",
        "search_context",
        (
            DemoCall({"limit": "5"}, alone=True, effect=[2, 1]),
            DemoCall({"limit": "3.0"}, alone=True, effect=[2, 1]),
            DemoCall({"limit": None}, repairs=("null_to_absent",), effect=[2, 1]),
            DemoCall({"Limit": 1}, repairs=("rename_case",), effect=[2]),
            DemoCall({"tag": "work"}, repairs=("rename_plural", "scalar_to_array"), effect=[1]),
            DemoCall({"tgas": ["work"]}, refused="UNKNOWN_PARAMETER"),
            DemoCall(
                {"toolCallId": "call_1", "sessionId": "a1b2", "action": "sendMessage"},
                repairs=("drop_injected", "drop_injected", "drop_injected"),
                effect=[2, 1],
            ),
            DemoCall({"limit": "ten"}, refused="INVALID_LIMIT_TYPE"),
            DemoCall({"limit": 500}, refused="INVALID_LIMIT_VALUE"),
            DemoCall({"max_results": 5}, refused="UNKNOWN_PARAMETER"),
        ),
        base={"query": "plan"},
    ),
    Section(
        "update_context(context_id: int, content: str | None = None, tags: list[str] | None = None)",
        "update_context",
        (
            DemoCall(
                '{"context_id": 1, "content": "Plan it"}',
                repairs=("json_text_to_object",),
                effect={"content": "Plan it"},
            ),
            DemoCall(
                {"args": {"context_id": 1, "tags": ["done"]}},
                repairs=("unwrap_arguments",),
                effect={"tags": ["done"]},
            ),
            DemoCall(
                {"contextId": 1, "content": "Plan"}, repairs=("rename_case",), effect={"content": "Plan"}
            ),
            DemoCall({"content": "Plan"}, refused="MISSING_CONTEXT_ID"),
        ),
    ),
    Section(
        "updateContext, which is no tool",
        "updateContext",
        (DemoCall({"context_id": 1}, refused="UNKNOWN_TOOL"),),
    ),
    Section(
        "delete_context(context_ids: list[int], *, confirm: bool), marked destructive: only the safest rules",
        "delete_context",
        (
            DemoCall({"context_ids": 3}, refused="INVALID_CONTEXT_IDS_TYPE"),
            DemoCall({"context_ids": "3,4"}, refused="INVALID_CONTEXT_IDS_TYPE"),
            DemoCall({"context_id": [3]}, refused="INVALID_ARGUMENTS"),
            DemoCall({"context_ids": "[3]"}, repairs=("json_text_to_array",), effect=[3]),
            DemoCall({"contextIds": [4]}, repairs=("rename_case",), effect=[4]),
        ),
        base={"confirm": True},
    ),
    Section(
        "search_context, on FastMCP(strict_input_validation=True)",
        "search_context",
        (
            DemoCall({"limit": "5"}, repairs=("text_to_integer",), effect=[2, 1]),
            DemoCall({"limit": "3.0"}, repairs=("text_to_integer",), effect=[2, 1]),
            DemoCall({"limit": 1.0}, repairs=("whole_float_to_integer",), effect=[2]),
            DemoCall({"limit": "2.5"}, refused="INVALID_LIMIT_TYPE"),
        ),
        base={"query": "plan"},
        strict=True,
    ),
)
"""All calls, in the order in which they are sent."""
