"""Add the middleware to every FastMCP server, as its last: a plugin of pytest; also for a server's own process."""

from __future__ import annotations

from functools import wraps
from typing import Any

from fastmcp import FastMCP
from fastmcp.server.middleware import Middleware

from mcp_lenient import LenientMiddleware

_init, _add_middleware = FastMCP.__init__, FastMCP.add_middleware


@wraps(_init)
def _lenient_init(self: FastMCP[Any], *args: Any, **kwargs: Any) -> None:
    _init(self, *args, **kwargs)
    _add_middleware(self, LenientMiddleware())


@wraps(_add_middleware)
def _lenient_last(self: FastMCP[Any], middleware: Middleware) -> None:
    _add_middleware(self, middleware)
    # Some tests take the first for the one that they have added.
    self.middleware.sort(key=lambda entry: isinstance(entry, LenientMiddleware))


FastMCP.__init__ = _lenient_init  # type: ignore[method-assign]
FastMCP.add_middleware = _lenient_last  # type: ignore[method-assign]
