"""What FastMCP raises of a call: its tool was replaced or removed meanwhile, or the tool's own code failed."""

from __future__ import annotations

from collections.abc import Mapping
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

from fastmcp.exceptions import DisabledError, NotFoundError, ToolError, ValidationError

from mcp_lenient.adapters.aside import decide_aside
from mcp_lenient.adapters.fastmcp import compat
from mcp_lenient.adapters.fastmcp.compat import host
from mcp_lenient.adapters.fastmcp.results import EnvelopeError, as_result, refused
from mcp_lenient.refusal.envelope import about_tool

if TYPE_CHECKING:
    from fastmcp.tools import ToolResult

    from mcp_lenient.adapters.fastmcp.reentry import Call
    from mcp_lenient.adapters.fastmcp.tools import ServerSource
    from mcp_lenient.adapters.gate import Gate, HostCall
    from mcp_lenient.engine.contract import Contract, Decision

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
        self, error: Exception, call: Call, host_call: HostCall, source: ServerSource, decision: Decision
    ) -> ToolResult | None:
        """Answer a call that FastMCP refused; raise again what the tool's body raised, or what a nested call raises.

        Returns:
            The answer; None where the tool was replaced, so that the call must be decided again.
        """
        contract, parent, is_invalid = decision.contract, call.parent, isinstance(error, ValidationError)
        if decision.refusal is not None and parent is not None and is_invalid:
            parent.leaked = error
        if decision.refusal is not None:
            raise error
        if error is call.leaked or isinstance(error, ToolError):
            return self._of_body(error, call, contract, host_call)
        if is_invalid and decision.fate == "forwarded" and parent is None:
            return refused(decision.refused())
        if contract is not None:
            if contract.mode == "off" or not compat.refused_before_running(error, host_call.name):
                return self._of_body(error, call, contract, host_call)
            sent = decision.run_with(call.context.message.arguments or {})
            if is_invalid and await self._is_replaced(source, host_call.name, contract, sent):
                return None
            if is_invalid or await source.tool(host_call.name, fresh=True) is not None:
                return self._of_body(error, call, contract, host_call)
            decision = await self._gate.decide_once(host_call, source)
        refusal = None if decision.if_unknown is None or parent is not None else decision.if_unknown()
        if refusal is None:
            raise error
        return refused(refusal)

    def _of_body(
        self, error: Exception, call: Call, contract: Contract | None, host_call: HostCall
    ) -> ToolResult:
        """Record what a function raised, and raise it again, or answer with an envelope if the policy says so."""
        is_own = contract is not None and contract.tool.function is not None
        if contract is None or not is_own or contract.mode == "off" or call.parent is not None:
            raise error
        if contract.mode == "observe" and isinstance(error, ValidationError):
            raise error  # FastMCP refused what was only observed
        unexpected = compat.body_exception(error) if isinstance(error, ToolError) else error
        facts: dict[str, Any] = {"exception": type(unexpected or error).__name__}
        if isinstance(error, EnvelopeError):
            facts = {"code": error.code}
        answers = contract.mode == "repair" and contract.policy.body_errors == "envelope"
        if unexpected is None or isinstance(unexpected, host.MCPError) or not answers:
            self._gate.record_event("call_failed", host_call, contract, **facts)
            raise error
        error_id = token_hex(8)
        self._gate.record_event(
            "call_failed", host_call, contract, code="TOOL_FAILED", error_id=error_id, **facts
        )
        answer = about_tool(
            "TOOL_FAILED", host_call.name, language=contract.policy.language, error_id=error_id
        )
        return as_result(answer, has_output_schema=contract.tool.has_output_schema)

    async def _is_replaced(
        self, source: ServerSource, name: str, contract: Contract, arguments: Mapping[str, Any]
    ) -> bool:
        """Return whether the call was refused by another tool that has since taken the name, so that no body ran."""
        fresh = await source.tool(name, fresh=True)
        other = contract if fresh is None else self._gate.compiled(fresh, source.compiled)
        return other is not contract and (await decide_aside(other, arguments)).status != "accepted"
