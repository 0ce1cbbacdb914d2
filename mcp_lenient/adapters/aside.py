"""Decide in a worker thread what may take long."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import anyio.to_thread

from mcp_lenient.values.json_values import holds_many

if TYPE_CHECKING:
    from mcp_lenient.engine.contract import Contract, Decision

_MANY_PARAMETERS: Final = 100
_WRONG: Final = [{"\x00": [None]}]
"""A list that almost no parameter accepts, not even once it is repaired."""


async def decide_aside(contract: Contract, arguments: Any, *, is_rejected: bool = False) -> Decision:
    """Decide in a worker thread if that may take long."""
    decide = partial(contract.decide, arguments, is_rejected=is_rejected)
    is_long = isinstance(arguments, str) or may_take_long(contract, arguments)
    return await anyio.to_thread.run_sync(decide) if is_long else decide()


def may_take_long(contract: Contract, arguments: Any) -> bool:
    """Return whether a decision about these arguments may block an event loop."""
    is_wide = len(contract.top.properties) > _MANY_PARAMETERS
    return contract.tool.in_thread or is_wide or holds_many(arguments)


def rehearse(contract: Contract) -> None:
    """Decide about a call without arguments and one whose arguments are all wrong, and word the refusals."""
    wrong = dict.fromkeys(contract.top.properties, _WRONG)
    for arguments in ({}, wrong):
        contract.refusal(contract.decide(arguments))
