"""Read an answer on the wire: a value, the repairs before it, or an envelope."""

from __future__ import annotations

import json
from typing import Any

Message = dict[str, Any]


def result(message: Message) -> Message:
    """Return the result of an answered call."""
    assert "error" not in message, message
    answered: Message = message["result"]
    return answered


def value(message: Message) -> Any:
    """Return what the tool returned."""
    answered = result(message)
    assert answered["isError"] is False, answered
    return answered["structuredContent"]


def rules(message: Message) -> list[str]:
    """Return the rules of the repairs of a call that ran."""
    answered = result(message)
    assert answered["isError"] is False, answered
    return [repair["rule"] for repair in answered.get("_meta", {}).get("mcp_lenient", {}).get("repairs", [])]


def envelope(message: Message) -> Message:
    """Return the envelope of a refused call, which is in the first text block and in ``_meta``."""
    answered = result(message)
    assert answered["isError"] is True, answered
    said: Message = json.loads(answered["content"][0]["text"])
    reported: Message = answered["_meta"]["mcp_lenient"]
    assert reported["status"] == "error"
    assert (said["error_code"], said["message"]) == (reported["error_code"], reported["message"])
    return reported
