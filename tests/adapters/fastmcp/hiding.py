"""A middleware of an application that hides tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastmcp.exceptions import NotFoundError
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import Tool


class Hiding(Middleware):
    """Neither lists nor calls a tool."""

    def __init__(self, hidden: str) -> None:
        self._hidden = hidden

    async def on_list_tools(
        self, context: MiddlewareContext[Any], call_next: CallNext[Any, Sequence[Tool]]
    ) -> Sequence[Tool]:
        return [tool for tool in await call_next(context) if tool.name != self._hidden]

    async def on_call_tool(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        if context.message.name == self._hidden:
            raise NotFoundError(self._hidden)
        return await call_next(context)
