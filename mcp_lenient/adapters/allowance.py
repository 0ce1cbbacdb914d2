"""How far a host may change a call, by who has seen it already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from mcp_lenient.engine.contract import Contract, Decision

_ABSENT: Final = object()


@dataclass(frozen=True, slots=True)
class Allowance:
    """How far a decision may change a call.

    Attributes:
        arguments: Those of the call, as all middleware sees them if they are not changed.
        is_unseen: Whether nothing that may deny the call has seen it yet.
        header_name: The tool's name in a header of the request, which must be that of the tool that runs; None without one.
    """

    arguments: Any
    is_unseen: bool
    header_name: str | None

    @property
    def may_rename(self) -> bool:
        """Whether the call may be given the name of another tool: a header says the name that was sent."""
        return self.is_unseen and self.header_name is None

    def inside(self, arguments: Any) -> Allowance:
        """Return how far the call inside a dispatcher's call may be changed: no header repeats its arguments."""
        return Allowance(arguments, self.is_unseen, None)

    def limited(self, decision: Decision) -> Decision:
        """Return the decision if it keeps to the allowance, or else the one without the rules."""
        contract = decision.contract
        is_changed = decision.fate == "repaired" or (
            decision.fate == "accepted" and self._is_in_form(contract)
        )
        if contract is None or not is_changed or (self.is_unseen and not self.says_other(decision)):
            return decision
        if decision.arguments == self.arguments:  # a text that the hook has read
            return decision
        return without_rules(decision, self.arguments)

    def _is_in_form(self, contract: Contract | None) -> bool:
        """Return whether others have seen the arguments in a published form, and not as the tool gets them."""
        return not self.is_unseen and contract is not None and contract.form is not None

    def says_other(self, decision: Decision) -> bool:
        """Return whether a parameter that a header repeats has another value than was sent."""
        repeated = () if decision.contract is None else decision.contract.header_parameters
        seen = self.arguments if isinstance(self.arguments, Mapping) else {}
        return any(decision.arguments.get(name, _ABSENT) != seen.get(name, _ABSENT) for name in repeated)


def without_rules(decision: Decision, arguments: Any) -> Decision:
    """Return the decision about the arguments as they were sent, by the same contract without its rules."""
    contract = cast("Contract", decision.contract)
    return replace(contract.with_declared_repairs_only.decide(arguments), mode=decision.mode)
