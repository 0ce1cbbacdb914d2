"""The whole corrected call, for a caller that sends the same refused call again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Final

from mcp_lenient.adapters.aside import may_take_long
from mcp_lenient.refusal.locations import may_show_argument
from mcp_lenient.values.patches import Patch, applied

if TYPE_CHECKING:
    from mcp_lenient.engine.contract import Contract
    from mcp_lenient.types import Violation

_MOST_WAYS: Final = 3
"""The ways to correct a call, of which the caller chooses one."""


def corrected(
    contract: Contract, arguments: Any, violations: tuple[Violation, ...]
) -> tuple[Mapping[str, Any], ...]:
    """Return the arguments with the fixes of all violations, if the tool would take them and that is soon known.

    Where one place has several fixes, with each; where there are more ways, none. Values that are long or secret are
    replaced by their names.
    """
    fixes = [violation.fixes for violation in violations if violation.fixes]
    choices = [patches for index, patches in enumerate(fixes) if patches not in fixes[:index]]
    may_echo = isinstance(arguments, Mapping) and contract.policy.echo_values
    is_long = prod(map(len, choices)) > _MOST_WAYS or may_take_long(contract, arguments)
    if not fixes or not may_echo or is_long:
        return ()
    calls = [_with_all(arguments, patches) for patches in product(*choices)]
    if any(call is None or contract.decide(call).status == "refused" for call in calls):
        return ()
    return tuple(_without_values(contract, call) for call in calls if call is not None)


def _with_all(arguments: Mapping[str, Any], patches: Sequence[Patch]) -> Mapping[str, Any] | None:
    """Return arguments after all patches, each once; None if one does not fit what another leaves."""
    try:
        for index, patch in enumerate(patches):
            arguments = arguments if patch in patches[:index] else applied(arguments, patch)
    except LookupError:
        return None
    return arguments


def _without_values(contract: Contract, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return arguments with names in place of values that are long or secret."""
    nodes = contract.top.property_nodes
    return {
        name: value
        if name in nodes and may_show_argument(name, value, nodes[name], contract.policy)
        else f"<{name}>"
        for name, value in arguments.items()
    }
