"""Recognizing answers of upstream servers that refuse a call's arguments."""

from __future__ import annotations

from time import process_time

from fastmcp.tools import ToolResult
from mcp_types import TextContent
from tables import each_row, rows

from mcp_lenient.adapters.fastmcp.proxy.middleware import refusal_in
from mcp_lenient.refusal.upstream import MAX_TEXT


def _refused(text: str, *, is_error: bool = True) -> str | None:
    result = ToolResult(content=[TextContent(type="text", text=text)], is_error=is_error)
    return refusal_in(result, "get-note")


@each_row(("text", "reported"), rows(__file__, "refusal_texts_of_each_sdk_are_recognized"))
def test_refusal_texts_of_each_sdk_are_recognized(text, reported):
    """The refusal text of each SDK is recognized, and shortened to one line without URLs."""
    assert _refused(text) == reported


@each_row("text", rows(__file__, "other_errors_are_not_refusals"))
def test_other_errors_are_not_refusals(text):
    """Other errors, and texts that only quote a refusal, are not refusals."""
    assert _refused(text) is None


def test_successful_results_are_not_refusals():
    """A result that is not an error is never a refusal, whatever its text."""
    assert _refused("Input validation error: a log line", is_error=False) is None


@each_row("unit", ["x ", "a.", "http", "a://", "\n ", "1 validation error for "])
def test_the_text_is_bounded(unit):
    """The envelope has at most 2,000 characters of the server's text, which is cut before it is parsed."""
    started = process_time()
    assert len(_refused("Input validation error: " + unit * 10**6)) <= MAX_TEXT
    assert process_time() - started < 5
