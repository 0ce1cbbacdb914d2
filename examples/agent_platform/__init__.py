"""An agent platform: forty tools in four groups, each group a server of its own or all of them one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Group:
    """The tools of one server: its public methods, in their order."""

    @property
    def tools(self) -> list[Callable[..., Any]]:
        """The functions that are served."""
        names = [name for name in vars(type(self)) if name[0] != "_" and name not in {"tools", "close"}]
        return [self._guarded(getattr(self, name)) for name in names]

    def _guarded(self, tool: Callable[..., Any]) -> Callable[..., Any]:
        return tool

    async def close(self) -> None:
        """Close what is open."""
