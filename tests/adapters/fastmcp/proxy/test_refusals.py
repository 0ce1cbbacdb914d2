"""Recognizing answers of upstream servers that refuse a call's arguments."""

from __future__ import annotations

import pytest
from fastmcp.tools import ToolResult
from mcp_types import TextContent
from tables import each_row

from mcp_lenient.adapters.fastmcp.proxy.middleware import refusal_in
from mcp_lenient.refusal.upstream import LONGEST

_URL = "    For further information visit https://errors.pydantic.dev/2.14/v/missing"


def _refused(text: str, *, is_error: bool = True) -> str | None:
    result = ToolResult(content=[TextContent(type="text", text=text)], is_error=is_error)
    return refusal_in(result, "get-note")


@each_row(
    ("text", "reported"),
    [
        pytest.param(
            "MCP error -32602: Input validation error: Invalid arguments for tool get-note: a\nb",
            "Invalid arguments for tool get-note: a b",
            id="TypeScript",
        ),
        pytest.param("MCP error -32602: MCP error -32602: no", "no", id="TypeScript, twice"),
        pytest.param("Input validation error: 'a' is too short", "'a' is too short", id="Python 1.x"),
        pytest.param(
            f"1 validation error for call[get_note]\nn\n  Missing\n{_URL}",
            "1 validation error for call[get_note] n Missing",
            id="FastMCP",
        ),
        pytest.param(
            "Error executing tool get-note: 2 validation errors for get-noteArguments\nn\n  Missing",
            "Error executing tool get-note: 2 validation errors for get-noteArguments n Missing",
            id="Python",
        ),
        pytest.param('validating "arguments": missing', 'validating "arguments": missing', id="Go"),
        pytest.param('required argument "n" not found', 'required argument "n" not found', id="mcp-go"),
        pytest.param("Tool input validation failed: n", "Tool input validation failed: n", id="Java"),
        pytest.param(
            "failed to deserialize parameters: missing field `n`",
            "failed to deserialize parameters: missing field `n`",
            id="Rust",
        ),
    ],
)
def test_refusal_texts_of_each_sdk_are_recognized(text, reported):
    """The refusal text of each SDK is recognized, and shortened to one line without URLs."""
    assert _refused(text) == reported


@each_row(
    "text",
    [
        pytest.param("Access denied", id="an error of the tool"),
        pytest.param("MCP error -32602: Tool get-note not found", id="unknown tool"),
        pytest.param("MCP error -32602: Output validation error: no", id="output"),
        pytest.param("MCP error -32603: Input validation error: no", id="another code"),
        pytest.param("1 validation error for Weather\nn\n  Missing", id="own model"),
        pytest.param(
            "Error executing tool get-note: 1 validation error for Answer\nn", id="own model, wrapped"
        ),
        pytest.param("The file says: Input validation error: no", id="inside a text"),
        pytest.param("", id="empty"),
    ],
)
def test_other_errors_are_not_refusals(text):
    """Other errors, and texts that only quote a refusal, are not refusals."""
    assert _refused(text) is None


def test_successful_results_are_not_refusals():
    """A result that is not an error is never a refusal, whatever its text."""
    assert _refused("Input validation error: a log line", is_error=False) is None


def test_the_text_is_bounded():
    """The envelope has at most 2,000 characters of the server's text."""
    assert len(_refused("Input validation error: " + "x " * 10**6)) == LONGEST
