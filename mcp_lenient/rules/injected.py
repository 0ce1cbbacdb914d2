"""Keys that known clients add to the arguments of a call."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from mcp_lenient.names import fold_name

_CALL_ID: Final = "toolCallId"

SOURCES: Final[Mapping[str, str]] = {
    _CALL_ID: "n8n, MCP Client Tool node: github.com/n8n-io/n8n/issues/21500",
    "wait_for_previous": "Gemini CLI, tool scheduling: github.com/google-gemini/gemini-cli",
    "waitForPreviousTools": "Windsurf and Antigravity, tool scheduling: their published tool schemas",
    "task_progress": "Cline, focus chain: github.com/cline/cline",
    "_meta": "MCP, reserved for request metadata: modelcontextprotocol.io/specification/2025-11-25/basic#_meta",
}
"""Every key that is dropped on its own, with the client that adds it."""

BESIDE_CALL_ID: Final = frozenset({"action", "sessionId", "chatInput"})
"""Keys of n8n's chat trigger, which its MCP Client Tool sends beside ``toolCallId``."""


def injected_keys(
    unknown: Collection[Any],
    declared: Collection[str],
    also: Collection[str] = (),
    *,
    destructive: bool = False,
) -> frozenset[str]:
    """Return the undeclared keys that a known client adds to the arguments of a call.

    Args:
        unknown: All keys that were sent and are not declared.
        declared: The folds of the declared names (:func:`~mcp_lenient.names.fold_name`); a key that is one
            of them in another spelling may be meant for it.
        also: Further keys that the operator lists.
        destructive: Whether the tool destroys; then only ``toolCallId`` and the keys sent with it.
    """
    known = {_CALL_ID, *(BESIDE_CALL_ID if _CALL_ID in unknown else ())}
    if not destructive:
        known |= {key for key in SOURCES if fold_name(key.lstrip("_")) not in declared}
        known.update(also)
    return frozenset(key for key in unknown if key in known)
