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
    answer: Any = result
    if isinstance(answer, dict):
        is_of_tool = answer.get("resultType") in (None, "complete") and "content" in answer
        return cast("ResultT", decision.with_repairs(answer)) if is_of_tool else result
    if not (decision.applied_repairs and hasattr(answer, "content") and hasattr(answer, "meta")):
        return result
    changes = decision.with_repairs({"content": [], "_meta": answer.meta})
    notes = map(TextContent.model_validate, changes["content"])
    changed: Any = {"content": [*answer.content, *notes], "meta": changes["_meta"]}
    if isinstance(answer, BaseModel):
        return cast("ResultT", answer.model_copy(update=changed))
    return cast("ResultT", replace(answer, **changed))
