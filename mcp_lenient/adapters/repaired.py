"""Tell of repairs in the results of hosts that run in Python."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar, cast

from mcp.types import TextContent
from pydantic import BaseModel

from mcp_lenient.adapters.gate import Verdict

ResultT = TypeVar("ResultT")


def with_repairs(result: ResultT, verdict: Verdict) -> ResultT:
    """Return a copy of a result object with :meth:`Verdict.with_repairs`; the result itself if nothing was repaired.

    Args:
        result: An object of the official SDK, of FastMCP or of its client, with ``content`` and ``meta``. Tools may share
            and cache it.
        verdict: The verdict about the call.
    """
    if not verdict.repairs:
        return result
    own: Any = result
    told = verdict.with_repairs({"content": [], "_meta": own.meta})
    notes = map(TextContent.model_validate, told["content"])
    changed: Any = {"content": [*own.content, *notes], "meta": told["_meta"]}
    if isinstance(own, BaseModel):
        return cast("ResultT", own.model_copy(update=changed))
    return cast("ResultT", replace(own, **changed))
