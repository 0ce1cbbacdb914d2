"""Read what is running: local variables of callers, and what FastMCP serves."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType
from typing import TYPE_CHECKING, Any

from fastmcp.server.dependencies import get_context
from fastmcp.tools import tool_transform

if TYPE_CHECKING:
    from fastmcp import Context


def local(function: Callable[..., Any] | None, name: str) -> object:
    """Return a local variable of the nearest caller that runs this function, or None."""
    code: CodeType | None = getattr(function, "__code__", None)
    frame = sys._getframe(1)  # noqa: SLF001 - as `logging` finds its caller
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back  # type: ignore[assignment]
    return None if frame is None else frame.f_locals.get(name)


def current_context() -> Context | None:
    """Return the context of the call being served; None outside of one."""
    try:
        return get_context()
    except RuntimeError:
        return None


def outer_context(context: Context) -> Context | None:
    """Return the context in which this one was opened: of a server that mounts its server, or the same server's; or None."""
    tokens = context._tokens  # noqa: SLF001 - private to FastMCP
    outer = tokens[-1].old_value if tokens else None
    return outer if isinstance(outer, type(context)) else None


def is_transforming() -> bool:
    """Return whether a transformed tool is passing its arguments on."""
    current = getattr(tool_transform, "_current_tool", None)
    return current is not None and current.get(None) is not None
