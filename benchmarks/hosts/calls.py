"""Twelve calls for every host, and their outcomes; uses only the standard library, to run in any environment."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True)
class SmokeCall:
    """A call and its expected outcome.

    Attributes:
        says: A short description.
        arguments: The arguments to send; a text is sent unchanged, in place of an object.
        ran: The arguments that the tool gets; None if it must not run.
        code: The envelope's code if it must not run.
        tool: The name of the tool.
    """

    says: str
    arguments: Any
    ran: Mapping[str, Any] | None = None
    code: str | None = None
    tool: str = "store"


def _ran(tags: list[str] | None = None, max_results: int = 10) -> dict[str, Any]:
    return {"content": "kept", "tags": tags, "max_results": max_results}


CALLS: Final[Mapping[str, SmokeCall]] = {
    "right": SmokeCall("right as sent", {"content": "kept", "tags": ["a"]}, _ran(["a"])),
    "json_text": SmokeCall(
        "a list as JSON text", {"content": "kept", "tags": '["a", "b"]'}, _ran(["a", "b"])
    ),
    "python_text": SmokeCall(
        "a list as Python text", {"content": "kept", "tags": "['a', 'b']"}, _ran(["a", "b"])
    ),
    "null": SmokeCall("null for an optional argument", {"content": "kept", "max_results": None}, _ran()),
    "one_item": SmokeCall("one item for a list", {"content": "kept", "tags": "a"}, _ran(["a"])),
    "required_name": SmokeCall("a required name in another case", {"Content": "kept"}, _ran()),
    "optional_name": SmokeCall(
        "an optional name in another case", {"content": "kept", "maxResults": 3}, _ran(max_results=3)
    ),
    "wrapped": SmokeCall(
        "arguments in a wrapper", {"arguments": {"content": "kept", "tags": ["a"]}}, _ran(["a"])
    ),
    "whole_text": SmokeCall(
        "all arguments as one JSON text", '{"content": "kept", "tags": ["a"]}', _ran(["a"])
    ),
    "wrong_type": SmokeCall("a wrong type", {"content": "kept", "tags": 5}, code="INVALID_TAGS_TYPE"),
    "missing": SmokeCall("a missing argument", {"tags": ["a"]}, code="MISSING_CONTENT"),
    "unknown_tool": SmokeCall("an unknown tool", {"content": "kept"}, code="UNKNOWN_TOOL", tool="stor"),
}

SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "content": {"type": "string"},
        "tags": {
            "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}],
            "default": None,
        },
        "max_results": {"type": "integer", "default": 10},
    },
    "required": ["content"],
    "additionalProperties": False,
}
"""The definition of ``store`` that a low-level server publishes."""


def store(content: str, tags: list[str] | None = None, max_results: int = 10) -> dict[str, Any]:
    """Keep a text."""
    return {"content": content, "tags": tags, "max_results": max_results}


def outcome(call: SmokeCall, answer: Mapping[str, Any], event: str | None) -> str:
    """Return the outcome of a call: ``accepted``, ``repaired``, ``refused``, or the host's own outcome.

    Args:
        call: The call.
        answer: The protocol result, or ``{"error": text}``.
        event: The log event of the call.
    """
    if "error" in answer:
        return f"host: {answer['error']}"
    text = answer["content"][0]["text"] if answer.get("content") else ""
    read = _json(text)
    if (
        call.code is not None
        and answer.get("isError")
        and isinstance(read, dict)
        and read.get("error_code") == call.code
    ):
        return "refused"
    if call.ran is not None and not answer.get("isError") and read == call.ran:
        return "repaired" if event == "call_repaired" else "accepted"
    return f"host: {text}"


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
