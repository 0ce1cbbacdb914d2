"""What FastMCP raises of a call: its tool was replaced or removed meanwhile, or the tool's own code failed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final, cast

import pydantic_core
from fastmcp.exceptions import DisabledError, NotFoundError, ToolError, ValidationError

from mcp_lenient.adapters.aside import decide_aside
from mcp_lenient.adapters.dispatchers import DispatcherDecision
from mcp_lenient.adapters.fastmcp import compat
from mcp_lenient.adapters.fastmcp.compat import host
from mcp_lenient.adapters.fastmcp.results import EnvelopeError, as_result, refused
from mcp_lenient.adapters.fastmcp.tools import FunctionValidator
from mcp_lenient.adapters.gate import as_run
from mcp_lenient.declare.decorator_metadata import as_written
from mcp_lenient.refusal.envelope import META_KEY, about_tool
from mcp_lenient.values.display import shown_name

if TYPE_CHECKING:
    from fastmcp.tools import ToolResult

    from mcp_lenient.adapters.fastmcp.reentry import Call, Pending
    from mcp_lenient.adapters.fastmcp.tools import ServerSource
    from mcp_lenient.adapters.gate import Gate
    from mcp_lenient.engine.contract import Contract, Decision


def refuses_itself(contract: Contract) -> bool:
    """Return whether FastMCP refuses what a contract refuses before it runs anything: it validates a function, no more."""
    validator, function = contract.tool.validator, contract.tool.function
    is_plain = function is not None and as_written(function) is function
    return is_plain and isinstance(validator, FunctionValidator) and contract.validator is validator


def log_as_fastmcp(contract: Contract, arguments: Mapping[str, Any]) -> None:
    """Write the line that FastMCP writes about arguments which it refuses, with its codes and without values."""
    if not isinstance(contract.tool.validator, FunctionValidator):
        return
    try:
        contract.tool.validator.received(arguments)
    except pydantic_core.ValidationError as error:
        compat.log_invalid_arguments(shown_name(contract.tool.name), error)
    except ValueError:  # not written as JSON on a strict server
        return


def _is_of_arguments(error: Exception) -> bool:
    """Return whether FastMCP raised this since a function does not take the arguments."""
    # A strict server turns what it cannot write as JSON into the first, and FastMCP 3 a transformed tool's into the other.
    is_invalid = isinstance(error, ValidationError) or isinstance(error.__cause__, _OF_ARGUMENTS)
    return is_invalid and not isinstance(error, (NotFoundError, DisabledError))


def _worded(error: Exception, call: Call, refusal: Mapping[str, Any] | None) -> ToolResult:
    """Return a refusal as the answer of a client's call; Python code, and a tool's body, get the exception.

    The exception has the envelope as its attribute ``envelope``.
    """
    if refusal is None or not call.is_answered:
        if refusal is not None:
            error.envelope = refusal["_meta"][META_KEY]  # type: ignore[attr-defined]
        raise error
    return refused(refusal)


def _passed_up(error: Exception, envelope: Mapping[str, Any], call: Call, dispatcher: Contract) -> ToolResult:
    """Return the refusal inside a dispatcher's call as its answer; another dispatcher gets the exception."""
    call.is_recorded = True  # as the call that was refused
    if call.is_answered:
        return as_result(envelope, has_output_schema=dispatcher.tool.has_output_schema)
    if call.parent is not None:
        call.parent.leaked = error
    raise error


def _of_unknown(error: Exception, call: Call, decision: Decision) -> ToolResult:
    refusal = None
    if decision.if_unknown is not None and call.parent is None:
        call.is_recorded, refusal = True, decision.if_unknown()
    return _worded(error, call, refusal)


_OF_ARGUMENTS: Final = (pydantic_core.PydanticSerializationError, ValidationError)
FAILURES: Final = (ToolError, ValidationError, NotFoundError, DisabledError)
"""What FastMCP raises of a call: the first for its tool's body, the others where its tool was replaced or removed."""


class Failures:
    """Answers calls that FastMCP did not answer.

    Args:
        gate: What decided about them.
    """

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    async def answer(self, error: Exception, call: Call, pending: Pending) -> ToolResult | None:
        """Answer a call that FastMCP refused; raise again what the tool's body raised, or what a nested call raises.

        Returns:
            The answer; None where the tool was replaced, so that the call must be decided again.
        """
        envelope: Any = getattr(error, "envelope", None)
        contract = pending.decision.contract
        is_leaked = envelope is not None and error is call.leaked
        if is_leaked and contract is not None and contract.policy.dispatches is not None:
            return _passed_up(error, envelope, call, contract)
        if contract is not None and call.is_answered_as_unknown(error, pending.message.name):
            call.is_recorded = True
            return _worded(error, call, await self._gate.hidden(pending.host_call, pending.source))
        return await self._answer(error, call, pending)

    async def _answer(self, error: Exception, call: Call, pending: Pending) -> ToolResult | None:
        decision, host_call, source = pending.decision, pending.host_call, pending.source
        if isinstance(decision, DispatcherDecision):
            return await self._of_dispatched(error, call, pending, decision)
        contract, is_invalid = decision.contract, isinstance(error, ValidationError)
        if decision.fate == "refused" and contract is not None and _is_of_arguments(error):
            recorded = await self._gate.recorded(host_call, decision)
            if call.parent is not None:
                call.parent.leaked = error
            return _worded(error, call, recorded.refusal)
        if error is call.leaked or isinstance(error, ToolError):
            return await self._of_body(error, call, pending)
        if is_invalid and decision.fate == "forwarded":
            return _worded(error, call, decision.refused())
        if contract is not None:
            if contract.mode == "off" or not compat.refused_before_running(error, host_call.name):
                return await self._of_body(error, call, pending)
            sent = decision.run_with(pending.message.arguments or {})
            if is_invalid and await self._is_replaced(source, host_call.name, contract, sent):
                return None
            if is_invalid or await source.tool(host_call.name, fresh=True) is not None:
                return await self._of_body(error, call, pending)
            pending.decision = decision = await self._gate.decide_one(host_call, source, fresh=True)
        return _of_unknown(error, call, decision)

    async def _of_dispatched(
        self, error: Exception, call: Call, pending: Pending, decision: DispatcherDecision
    ) -> ToolResult | None:
        """Answer a dispatcher's call by what FastMCP raised of the call inside it."""
        inner = decision.inner
        if compat.unknown_inside(error, decision.call.name):
            unknown = await self._gate.decide_one(decision.call, decision.source, fresh=True)
            if unknown.if_unknown is not None:
                pending.decision = unknown
                return _worded(error, call, unknown.if_unknown())
        if inner.contract is None:
            raise error
        if decision.is_recorded_below and decision.status == "refused" and _is_of_arguments(error):
            refused_inside = replace(inner, certain=True)
            return _worded(error, call, (await self._gate.recorded(decision.call, refused_inside)).refusal)
        message = pending.message.model_copy(
            update={"name": decision.call.name, "arguments": decision.passed_on}
        )
        inside = replace(
            pending, message=message, host_call=decision.call, decision=as_run(decision.call, inner)
        )
        return await self._answer(error, call, replace(inside, source=cast("ServerSource", decision.source)))

    async def _of_body(self, error: Exception, call: Call, pending: Pending) -> ToolResult:
        """Record what a function raised, and raise it again, or answer with an envelope if the policy says so."""
        await call.record(self._gate, pending)
        contract, host_call = pending.decision.contract, pending.host_call
        has_function = contract is not None and contract.tool.function is not None
        is_awaited = call.parent is not None or call.is_by_code
        if contract is None or not has_function or contract.mode == "off" or is_awaited:
            raise error
        if contract.mode == "observe" and isinstance(error, ValidationError):
            raise error  # FastMCP refused what was only observed
        if call.runs is not None and call.runs.explains(error):
            raise error
        if call.code is not None:
            call.code.failures.append(str(error))
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
