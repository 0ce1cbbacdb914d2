"""Results of FastMCP's tools: refusals, errors raised by a tool's body, and repairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from fastmcp.exceptions import ToolError
from fastmcp.tools import ToolResult
from mcp.types import TextContent
from pydantic_core import to_jsonable_python

from mcp_lenient.adapters.fastmcp.compat import host
from mcp_lenient.adapters.fastmcp.reentry import current
from mcp_lenient.adapters.repaired import with_repairs
from mcp_lenient.engine.contract import Decision
from mcp_lenient.errors import check_code
from mcp_lenient.refusal.envelope import RECOVERIES, Recovery, error_envelope, refusal_result
from mcp_lenient.refusal.text_block import compact_json
from mcp_lenient.values.display import shown_name
from mcp_lenient.values.json_values import json_type

ResultT = TypeVar("ResultT")


def as_result(answer: Mapping[str, Any], *, has_output_schema: bool) -> ToolResult:
    """Return an envelope as the result of a call, as :func:`mcp_lenient.refusal.envelope.refusal_result`."""
    return refused(refusal_result(answer, has_output_schema=has_output_schema))


def refused(refusal: Mapping[str, Any]) -> ToolResult:
    """Return the result that refuses a call, given in the protocol's form, as FastMCP has it."""
    return ToolResult(
        content=[TextContent(type="text", text=refusal["content"][0]["text"])],
        structured_content=refusal.get("structuredContent"),
        meta=refusal["_meta"],
        is_error=True,
    )


class EnvelopeError(ToolError):
    """A refusal by a tool's own code, with the envelope as its text.

    Args:
        text: The envelope.
        code: Its error code.
    """

    def __init__(self, text: str, code: str) -> None:
        super().__init__(text)
        self.code = code


def tool_error(
    code: str,
    message: str,
    parameter: str | None = None,
    *,
    recovery: Recovery = "correctable",
    **details: Any,
) -> ToolError:
    """Make the error to raise in a tool's body to refuse a call with the usual envelope.

    ::

        raise tool_error("UNKNOWN_USER", "There is no such user. Call list_users.", "user_id", received_value=7)

    FastMCP answers with ``isError: true`` and the envelope as its text, even if it masks error details.

    >>> print(tool_error("UNKNOWN_USER", "There is no such user.", "user_id"))
    {"status":"error","error_code":"UNKNOWN_USER","recovery":"correctable","retryable":false,"message":"There is no such user.","details":{"parameter":"user_id"}}

    Args:
        code: The error code: upper-case letters, digits and ``_``.
        message: What is wrong and what to do about it, in a sentence or two for the caller.
        parameter: The parameter it is about.
        recovery: ``"correctable"``: another call may succeed; ``"transient"``: this one may, later; ``"terminal"``: none will.
        details: Further details for programs, under the envelope's own names if it has one:
            ``received_value`` (its JSON type is added), ``expected_types``, ``allowed_values``, ``did_you_mean``.

    Raises:
        ValueError: When the code has a different form, or the recovery is none of the three.
    """
    check_code("tool_error", code)
    if recovery not in RECOVERIES:
        msg = f"tool_error: recovery must be one of {', '.join(RECOVERIES)}."
        raise ValueError(msg)
    plain = to_jsonable_python(details, fallback=str)
    tool, received = _called_tool(), {}
    if "received_value" in plain:
        received = {"received_type": json_type(plain["received_value"])}
    named = {} if parameter is None else {"parameter": parameter}
    whole = ({} if tool is None else {"tool": tool}) | named | received | plain
    return EnvelopeError(compact_json(error_envelope(code, message, whole, recovery)), code)


def _called_tool() -> str | None:
    """Return the name of the called tool in a form safe to show; None outside of a call."""
    call = current.get()
    name = host.called_name() if call is None else call.context.message.name
    return None if name is None else shown_name(name)


def repaired_result(result: ResultT, decision: Decision) -> ResultT:
    """Return the result with its repairs; others (a task, a request for input, a protocol result) as they are."""
    if not isinstance(result, ToolResult) or not host.takes_metadata(result):
        return result
    return with_repairs(result, decision)
