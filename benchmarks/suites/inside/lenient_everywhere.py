"""Add the middleware to every FastMCP server: a plugin of pytest; also for a server's own process."""

from __future__ import annotations

from functools import wraps
from typing import Any

from fastmcp import FastMCP

from mcp_lenient import LenientMiddleware

_init = FastMCP.__init__


@wraps(_init)
def _lenient_init(self: FastMCP[Any], *args: Any, **kwargs: Any) -> None:
    _init(self, *args, **kwargs)
    self.add_middleware(LenientMiddleware())


FastMCP.__init__ = _lenient_init  # type: ignore[method-assign]
