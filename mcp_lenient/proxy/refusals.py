"""How the SDKs of the world say that they do not accept a call's arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from fastmcp.tools import ToolResult
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, ContentBlock, TextContent

from mcp_lenient.redaction import encodable, sentence

LONGEST: Final = 2_000
"""Characters of a server's own text that an envelope carries."""

REFUSED_UPSTREAM: Final = "REFUSED_UPSTREAM"
"""The envelope's code where the schema takes the arguments and the server does not."""

_LOOKED_AT: Final = 64 * 2**10
_CODE: Final = re.compile(r"(?:MCP error -32602: )+")
_NO_ARGUMENTS: Final = re.compile(
    r"(?:unknown tool|no such tool|tool not found|output validation error"
    r"|tool \S{1,200} (?:is )?(?:not found|unknown|disabled|does not exist))\b",
    re.IGNORECASE,
)
_MORE: Final = re.compile(r"^ *For further information visit \S+$", re.MULTILINE)
_FORMS: Final = (
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
_PYDANTIC: Final = (
    r"(?:Error executing tool {tool}: )?\d+ validation errors? for (?:call\[\w+\]|{tool}Arguments)\n"
)


def refusal_in(result: object, tool: str) -> str | None:
    """The text with which a server says that it does not accept the arguments of a call.

    Only the forms that the official SDKs and FastMCP use are known again, and JSON-RPC's own code for it
    (-32602) where the TypeScript SDK writes it into the text. Whatever else went wrong is no refusal of
    arguments.

    Args:
        result: What the server answered.
        tool: The name of the tool.

    Returns:
        The server's text in one line without addresses, at most 2,000 characters; None where the call
        failed for another reason, or did not fail.
    """
    if not isinstance(result, ToolResult) or not result.is_error or not result.content:
        return None
    text = _first_text(result.content[0])
    coded = _CODE.match(text)
    rest = text[coded.end() :] if coded else text
    if coded is not None:
        return None if _NO_ARGUMENTS.match(rest) else _told(rest)
    pydantic = re.compile(_PYDANTIC.format(tool=re.escape(tool)))
    return _told(rest) if any(form.match(rest) for form in (*_FORMS, pydantic)) else None


def as_refused(error: BaseException | None) -> ToolResult | None:
    """JSON-RPC's error -32602 as the result that the TypeScript SDK makes of it; None for any other error."""
    if not isinstance(error, MCPError) or error.error.code != INVALID_PARAMS:
        return None
    text = f"MCP error {INVALID_PARAMS}: {error.error.message}"
    return ToolResult(content=[TextContent(type="text", text=text)], is_error=True)


def told_of(envelope: Mapping[str, Any], text: str) -> dict[str, Any]:
    """An envelope that carries what the server itself says.

    Args:
        envelope: What is known of the call; its violations are kept, and stay the message where there are any.
        text: The server's text; empty where it may not be repeated.
    """
    details = {**envelope["details"], "upstream_message": text}
    told = {**envelope, "error_code": REFUSED_UPSTREAM, "details": details}
    if not details["violations"]:
        reason = f": {text}" if text else "."
        told["message"] = (
            f"Invalid arguments for tool '{details['tool']}': the server does not accept them{reason}"
            f"{'' if reason.endswith(('.', '!', '?')) else '.'} Correct the call and send it again."
        )
    safe: dict[str, Any] = encodable(told)
    return safe


def _first_text(block: ContentBlock) -> str:
    return block.text[:_LOOKED_AT] if isinstance(block, TextContent) else ""


def _told(text: str) -> str:
    return sentence(_MORE.sub("", text.removeprefix("Input validation error: ")), LONGEST)
