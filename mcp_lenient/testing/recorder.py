"""The innermost middleware of a server under test: it sees what reaches the tool, and stops it there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

from fastmcp import FastMCP
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import Tool, ToolResult
from mcp_types import CallToolRequestParams

from mcp_lenient import fastmcp_private
from mcp_lenient.errors import SchemaError
from mcp_lenient.fastmcp_private import Forwarding
from mcp_lenient.marks import marks_of
from mcp_lenient.testing.likeness import identical

_STOPPED: Final = "The call was stopped before the tool by mcp_lenient.testing."
_OPAQUE: Final = object()
_recording: ContextVar[Recorder | None] = ContextVar("mcp_lenient_recording", default=None)


@dataclass(frozen=True, slots=True)
class Reached:
    """What reached a tool: the arguments as JSON, and what its function is called with where that is known."""

    arguments: Mapping[str, Any]
    bound: Any = _OPAQUE

    @property
    def shown(self) -> Mapping[str, Any]:
        """What the function is called with by name, defaults included; the arguments where that is not known."""
        if isinstance(self.bound, tuple) and len(self.bound) == 2 and not self.bound[0]:
            keywords: Mapping[str, Any] = self.bound[1] or {}
            return keywords
        return self.arguments

    def is_same(self, other: Reached) -> bool:
        """Whether the tool gets the same, type by type."""
        if identical(self.arguments, other.arguments):
            return True
        return self.bound is not _OPAQUE and identical(self.bound, other.bound)


class Recorder(Middleware):
    """Records one call at a time, of those that are made within :meth:`recording`.

    Every other call that passes by at the same time is left alone.

    Args:
        run: Whether a recorded call goes on to the tool.
    """

    def __init__(self, *, run: bool) -> None:
        self.reached: Reached | None = None
        self.runs = run

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record the calls made in this context, and in tasks that are started in it."""
        token = _recording.set(self)
        try:
            yield
        finally:
            _recording.reset(token)

    @contextmanager
    def installed(self, server: FastMCP) -> Iterator[None]:
        """Stand behind all other middleware of a server."""
        server.middleware.append(self)
        try:
            yield
        finally:
            server.middleware.remove(self)

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Record the arguments, and stop the call unless it is to run or FastMCP will refuse it."""
        if _recording.get() is not self or self.reached is not None or context.fastmcp_context is None:
            return await call_next(context)
        server = context.fastmcp_context.fastmcp
        arguments = dict(context.message.arguments or {})
        tool = await server.get_tool(context.message.name)
        bound, is_marked = _bound(tool, arguments, strict=server.strict_input_validation)
        if bound is not None:
            self.reached = Reached(arguments, bound)
        if self.runs or (bound is None and not is_marked):
            return await call_next(context)
        # An error, so that nobody checks it against an output schema or keeps it in a cache.
        return ToolResult(content=_STOPPED, is_error=True)


def _forwarding(tool: Tool) -> Forwarding | None:
    transformed = fastmcp_private.transformed(tool)
    return None if transformed is None else fastmcp_private.forwarding(transformed)


def _bound(tool: Tool | None, arguments: Mapping[str, Any], *, strict: bool) -> tuple[Any, bool]:
    """What the function is called with, None where it refuses; and whether it bears marks of ``@lenient``."""
    while tool is not None and (forwarding := _forwarding(tool)) is not None:
        filled = {**forwarding.defaults, **arguments}
        arguments = {forwarding.names.get(name, name): value for name, value in filled.items()}
        arguments = {**arguments, **forwarding.hidden}
        tool = forwarding.parent
    if tool is None or not fastmcp_private.runs_its_function(tool):
        return _OPAQUE, False
    is_marked = marks_of(tool.fn) is not None
    try:
        probe = fastmcp_private.probe(tool.fn, run_in_thread=tool.run_in_thread)
    except SchemaError:
        return _OPAQUE, is_marked
    validate = probe.strict if strict else probe.lax
    try:
        return validate(dict(arguments)), is_marked
    except (ValueError, RecursionError):
        return None, is_marked
    except Exception:  # noqa: BLE001 - whatever an author's validator raises is not about the arguments
        return _OPAQUE, is_marked
