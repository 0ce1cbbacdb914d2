"""FastMCP tool results with an envelope or with repairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from fastmcp.tools import ToolResult
from fastmcp.tools.base import InputRequiredToolResult
from mcp_types import TextContent

from mcp_lenient.refusal.envelope import repairs_told, written
from mcp_lenient.types import Repair

META_KEY = "mcp_lenient"

ResultT = TypeVar("ResultT")


def as_result(refusal: Mapping[str, Any], *, has_output_schema: bool) -> ToolResult:
    """Return an envelope as the result of a call.

    Some clients check ``structuredContent`` against the output schema even on errors and throw the envelope
    away, so it is only set when the tool has no output schema.
    """
    safe, text = written(refusal)
    return ToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=None if has_output_schema else safe,
        meta={META_KEY: safe},
        is_error=True,
    )


def repaired_result(result: ResultT, repairs: Sequence[Repair]) -> ResultT:
    """Return the result with its repairs in ``meta``, as a new one: tools share and cache theirs.

    Other results (a task, a request for input, a protocol result) are returned as they are.
    """
    if not isinstance(result, ToolResult) or isinstance(result, InputRequiredToolResult):
        return result
    if not repairs or result._raw_mcp_result is not None:  # noqa: SLF001  FastMCP sends it in place of all else
        return result
    return result.model_copy(update={"meta": {**(result.meta or {}), META_KEY: repairs_told(repairs)}})
