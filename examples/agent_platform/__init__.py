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
        return [getattr(self, name) for name in names]

    async def close(self) -> None:
        """Close what is open."""
