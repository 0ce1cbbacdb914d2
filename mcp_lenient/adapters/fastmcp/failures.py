"""What FastMCP raises of a call: its tool was replaced or removed meanwhile, or the tool's own code failed."""

from __future__ import annotations

from collections.abc import Mapping
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

from fastmcp.exceptions import DisabledError, NotFoundError, ToolError, ValidationError

from mcp_lenient.adapters.fastmcp import compat
from mcp_lenient.adapters.fastmcp.compat import host
from mcp_lenient.adapters.fastmcp.results import EnvelopeError, as_result, refused
from mcp_lenient.refusal.envelope import about_tool

if TYPE_CHECKING:
    from fastmcp.tools import ToolResult

    from mcp_lenient.adapters.fastmcp.reentry import Call
    from mcp_lenient.adapters.fastmcp.tools import ServerSource
    from mcp_lenient.adapters.gate import CompiledTool, Gate, HostCall, Verdict

FAILURES: Final = (ToolError, ValidationError, NotFoundError, DisabledError)
"""What FastMCP raises of a call: the first for its tool's body, the others where its tool was replaced or removed."""


class Failures:
    """Answers calls that FastMCP did not answer.

    Args:
        gate: What decided about them.
    """

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    async def answer(
        self, error: Exception, call: Call, asked: HostCall, source: ServerSource, verdict: Verdict
    ) -> ToolResult | None:
        """Answer a call that FastMCP refused; raise again what the tool's body raised, or what a nested call raises.

        Returns:
            The answer; None where the tool was replaced, so that the call must be decided again.
        """
        judged, parent, is_invalid = verdict.tool, call.parent, isinstance(error, ValidationError)
        if verdict.refusal is not None and parent is not None and is_invalid:
            parent.leaked = error
        if verdict.refusal is not None:
            raise error
        if error is call.leaked or isinstance(error, ToolError):
            return self._of_body(error, call, judged, asked)
        if is_invalid and verdict.if_refused is not None and parent is None:
            return refused(verdict.if_refused())
        if judged is not None:
            if judged.mode == "off" or not compat.refused_before_running(error, asked.name):
                return self._of_body(error, call, judged, asked)
            sent = call.context.message.arguments or {} if verdict.arguments is None else verdict.arguments
            if is_invalid and await self._is_replaced(source, asked.name, judged, sent):
                return None
            if is_invalid or await source.tool(asked.name, fresh=True) is not None:
                return self._of_body(error, call, judged, asked)
            verdict = await self._gate.decide(asked, source)
        refusal = None if verdict.if_unknown is None or parent is not None else verdict.if_unknown()
        if refusal is None:
            raise error
        return refused(refusal)

    def _of_body(
        self, error: Exception, call: Call, compiled: CompiledTool | None, asked: HostCall
    ) -> ToolResult:
        """Record what a function raised, and raise it again, or answer with an envelope if the policy says so."""
        is_own = compiled is not None and compiled.tool.function is not None
        if compiled is None or not is_own or compiled.mode == "off" or call.parent is not None:
            raise error
        if compiled.mode == "observe" and isinstance(error, ValidationError):
            raise error  # FastMCP refused what was only observed
        unexpected = compat.body_exception(error) if isinstance(error, ToolError) else error
        facts: dict[str, Any] = {"exception": type(unexpected or error).__name__}
        if isinstance(error, EnvelopeError):
            facts = {"code": error.code}
        answers = compiled.mode == "repair" and compiled.policy.body_errors == "envelope"
        if unexpected is None or isinstance(unexpected, host.MCPError) or not answers:
            self._gate.record_event("call_failed", asked, compiled, **facts)
            raise error
        error_id = token_hex(8)
        self._gate.record_event(
            "call_failed", asked, compiled, code="TOOL_FAILED", error_id=error_id, **facts
        )
        answer = about_tool("TOOL_FAILED", asked.name, language=compiled.policy.language, error_id=error_id)
        return as_result(answer, has_output_schema=compiled.tool.has_output_schema)

    async def _is_replaced(
        self, source: ServerSource, name: str, judged: CompiledTool, arguments: Mapping[str, Any]
    ) -> bool:
        """Return whether the call was refused by another tool that has since taken the name, so that no body ran."""
        fresh = await source.tool(name, fresh=True)
        other = judged if fresh is None else self._gate.compiled(fresh, source.compiled)
        return other is not judged and (await other.decide_aside(arguments)).decision.status != "accepted"
