"""An agent platform: forty tools in four groups, each group a server of its own or all of them one."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from fastmcp.exceptions import ToolError


class Group:
    """The tools of one server: its public methods, in their order."""

    @property
    def tools(self) -> list[Callable[..., Any]]:
        """The functions that are served."""
        names = [name for name in vars(type(self)) if name[0] != "_" and name not in {"tools", "close"}]
        return [self._guarded(getattr(self, name)) for name in names]

    def _guarded(self, tool: Callable[..., Any]) -> Callable[..., Any]:
        """Answer what a file system refuses as an error in one line, without a path."""

        @functools.wraps(tool)
        async def call(*args: Any, **kwargs: Any) -> Any:
            with _plain_errors():
                return await tool(*args, **kwargs)

        @functools.wraps(tool)
        def run(*args: Any, **kwargs: Any) -> Any:
            with _plain_errors():
                return tool(*args, **kwargs)

        return call if inspect.iscoroutinefunction(tool) else run

    async def close(self) -> None:
        """Close what is open."""


@contextmanager
def _plain_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ToolError(f"A file or folder of the platform cannot be used: {error.strerror}.") from error
