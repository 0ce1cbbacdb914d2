"""How far a host may change a call, by who has seen it already."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from mcp_lenient.engine.contract import Decision

_HEADER_KEYWORD: Final = "x-mcp-header"
_ABSENT: Final = object()


def is_in_header(schema: Mapping[str, Any]) -> bool:
    """Return whether a header of the request repeats a value of this schema (SEP-2243)."""
    return _HEADER_KEYWORD in json.dumps(schema, default=str)


@dataclass(frozen=True, slots=True)
class Allowance:
    """How far a decision may change a call.

    Attributes:
        sent: The arguments, as all middleware sees them if they are not changed.
        is_first: Whether nothing that may deny the call has seen it yet.
        header_name: The tool's name in a header of the request, which must be that of the tool that runs; None without one.
    """

    sent: Any
    is_first: bool
    header_name: str | None

    @property
    def may_rename(self) -> bool:
        """Whether the call may be given the name of another tool: a header says the name that was sent."""
        return self.is_first and self.header_name is None

    def inside(self, sent: Any) -> Allowance:
        """Return how far the call inside a dispatcher's call may be changed: no header repeats its arguments."""
        return Allowance(sent, self.is_first, None)

    def __call__(self, decision: Decision) -> Decision:
        """Return the decision if it keeps to the allowance, or else the one without the rules."""
        contract = decision.contract
        if (
            decision.fate != "repaired"
            or contract is None
            or (self.is_first and not self._says_other(decision))
        ):
            return decision
        if decision.arguments == self.sent:  # a text that the hook has read
            return decision
        return replace(contract.without_rules.decide(self.sent), mode=decision.mode)

    def _says_other(self, decision: Decision) -> bool:
        """Return whether a parameter that a header repeats has another value than was sent."""
        contract = decision.contract
        properties = {} if contract is None else contract.tool.schema.get("properties", {})
        sent = self.sent if isinstance(self.sent, Mapping) else {}
        repeated = [name for name, schema in properties.items() if is_in_header(schema)]
        return any(decision.arguments.get(name, _ABSENT) != sent.get(name, _ABSENT) for name in repeated)
