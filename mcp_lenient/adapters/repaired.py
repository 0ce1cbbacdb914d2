"""Tell of repairs in the results of hosts that run in Python."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar, cast

from mcp.types import TextContent
from pydantic import BaseModel

from mcp_lenient.engine.contract import Decision

ResultT = TypeVar("ResultT")


def with_repairs(result: ResultT, decision: Decision) -> ResultT:
    """Return a copy of a tool's result with :meth:`Decision.with_repairs`; the result itself if nothing was repaired.

    Other results, such as a task or a request for input, are returned as they are.

    Args:
        result: A mapping of the protocol; or an object of the official SDK, of FastMCP or of its client, with
            ``content`` and ``meta``. Tools may share and cache it.
        decision: The decision about the call.
    """
    own: Any = result
    if isinstance(own, dict):
        is_of_tool = own.get("resultType") in (None, "complete") and "content" in own
        return cast("ResultT", decision.with_repairs(own)) if is_of_tool else result
    if not (decision.applied_repairs and hasattr(own, "content") and hasattr(own, "meta")):
        return result
    told = decision.with_repairs({"content": [], "_meta": own.meta})
    notes = map(TextContent.model_validate, told["content"])
    changed: Any = {"content": [*own.content, *notes], "meta": told["_meta"]}
    if isinstance(own, BaseModel):
        return cast("ResultT", own.model_copy(update=changed))
    return cast("ResultT", replace(own, **changed))
