"""Detect whether a server's error text refuses the arguments of a call, in the wording of each SDK."""

from __future__ import annotations

import re
from typing import Final

from mcp_lenient.values.display import one_line

MAX_TEXT: Final = 2_000
"""Maximum length of a server's own text in an envelope."""
_JSON_RPC_CODE: Final = re.compile(r"(?:MCP error -32602: )+")
_NOT_OF_ARGUMENTS: Final = re.compile(
    r"(?:unknown tool|no such tool|tool not found|output validation error"
    r"|tool \S{1,200} (?:is )?(?:not found|unknown|disabled|does not exist))\b",
    re.IGNORECASE,
)
_UNKNOWN_TOOL: Final = re.compile(
    r"\b(?:unknown tool|no such tool|tool not found"
    r"|tool \S{1,200} (?:is )?(?:not found|unknown|disabled|does not exist))\b",
    re.IGNORECASE,
)
_PYDANTIC_LINK: Final = re.compile(r"^ *For further information visit \S+$", re.MULTILINE)
_SDK_PREFIXES: Final = (
    re.compile(r"Input validation error: "),  # TypeScript, Python 1.x
    re.compile(r"Invalid arguments for tool "),  # TypeScript before 1.20
    re.compile(r"(?:invalid params: )?validating \"arguments\": "),  # Go
    re.compile(r"required argument \"[^\"\n]{1,200}\" not found"),  # mcp-go
    re.compile(r"argument \"[^\"\n]{1,200}\" (?:is not|cannot be) "),  # mcp-go
    re.compile(r"Tool input validation failed: "),  # Java
    re.compile(r"failed to deserialize parameters: "),  # Rust
)
# Pydantic's text is one of arguments only where its title is what an SDK calls the arguments of this very
# tool: a tool's body may leak a text about a model of its own.
_PYDANTIC_TITLE: Final = (
    r"(?:Error executing tool {tool}: )?\d+ validation errors? for (?:call\[\w+\]|{tool}Arguments)\n"
)


def refusal_in_text(text: str, tool: str) -> str | None:
    """Return a server's text, in one line without addresses, if it refuses the arguments of a call; else None.

    Only the forms of the official SDKs and FastMCP are recognized, and JSON-RPC's code for invalid parameters (-32602)
    if the TypeScript SDK writes it into the text.
    """
    code_prefix = _JSON_RPC_CODE.match(text)
    message = text[code_prefix.end() :] if code_prefix else text
    if code_prefix:
        refuses = not _NOT_OF_ARGUMENTS.match(message)
    else:
        pydantic_title = re.compile(_PYDANTIC_TITLE.format(tool=re.escape(tool)))
        refuses = any(prefix.match(message) for prefix in (*_SDK_PREFIXES, pydantic_title))
    reason = _PYDANTIC_LINK.sub("", message.removeprefix("Input validation error: "))
    return one_line(reason, MAX_TEXT) if refuses else None


def says_unknown(text: str, tool: str) -> bool:
    """Return whether a server's text says that it has no tool of this name."""
    return tool in text and _UNKNOWN_TOOL.search(text) is not None
