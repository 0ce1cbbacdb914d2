"""An agent platform: forty tools in four groups, each group a server of its own or all of them one."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Any

from fastmcp.exceptions import ToolError


class Group:
    """The tools of one server: its public methods, in their order."""

    @property
    def tools(self) -> list[Callable[..., Any]]:
        """The functions that are served."""
        names = [
            name for name in vars(type(self)) if name[0] != "_" and name not in {"tools", "close", "end"}
        ]
        return [self._guarded(getattr(self, name)) for name in names]

    def _guarded(self, tool: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        """Answer what a file system refuses as an error in one line, without a path."""

        @functools.wraps(tool)
        async def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return await tool(*args, **kwargs)
            except OSError as error:
                told = f"A file or folder of the platform cannot be used: {error.strerror}."
                raise ToolError(told) from error

        return call

    async def close(self) -> None:
        """Close what is open."""

    async def end(self, session_id: str) -> None:
        """Close what belongs to a client's session that has ended."""
