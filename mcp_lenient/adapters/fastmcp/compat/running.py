"""Read what is running: local variables of callers, and what FastMCP serves."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterator
from contextvars import ContextVar
from functools import cache, wraps
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, Final, Literal

from fastmcp import FastMCP
from fastmcp.prompts import Prompt
from fastmcp.prompts.function_prompt import FunctionPrompt
from fastmcp.server.dependencies import get_context
from fastmcp.server.providers.fastmcp_provider import FastMCPProviderPrompt, FastMCPProviderTool
from fastmcp.tools import FunctionTool, Tool, tool_transform
from fastmcp.tools.tool_transform import TransformedTool
from fastmcp.utilities.async_utils import is_coroutine_function

from mcp_lenient.declare.decorator_metadata import marks_of

if TYPE_CHECKING:
    from fastmcp import Context
    from fastmcp.tools import ToolResult

Origin = Literal["client", "body", "program", "other"]
_HANDLERS: Final = frozenset(
    getattr(getattr(FastMCP, name, None), "__code__", None) for name in ("_on_call_tool", "_call_tool_mcp")
)
"""What FastMCP 4 and 3 answer the calls of clients with."""
RUN: Final = FunctionTool.run
"""How FastMCP runs a function, as it is before :func:`note_origins`."""
_RUN_CODE: Final = RUN.__code__
_PROMPTS: Final = (Prompt, FunctionPrompt, FastMCPProviderPrompt)
_TOOLS: Final = (Tool, FastMCPProviderTool, TransformedTool)


def local(function: Callable[..., Any] | None, name: str) -> object:
    """Return a local variable of the nearest caller that runs this function, or None."""
    code: CodeType | None = getattr(function, "__code__", None)
    frame = next((frame for frame in _frames() if frame.f_code is code), None)
    return None if frame is None else frame.f_locals.get(name)


def _frames() -> Iterator[FrameType]:
    """Yield the frame of the function that calls this, and those of its callers."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - as `logging` finds its caller
    while frame is not None:
        yield frame
        frame = frame.f_back


def _noting_origin(run: Callable[..., Awaitable[ToolResult]]) -> Callable[..., Awaitable[ToolResult]]:
    """Return FastMCP's method that runs a tool; of a decorated function in a worker thread, who makes the call is noted."""

    @wraps(run)
    async def noting(tool: FunctionTool, arguments: dict[str, Any]) -> ToolResult:
        if marks_of(tool.fn) is None or is_coroutine_function(tool.fn):
            return await run(tool, arguments)
        token = _noted_origin.set(origin())
        try:
            return await run(tool, arguments)
        finally:
            _noted_origin.reset(token)

    return noting


_ENTRANCES: Final = frozenset(
    method.__code__
    for method in (
        FastMCP.call_tool,
        RUN,
        _noting_origin(RUN),
        *(kind.run for kind in _TOOLS),
        *(kind._run for kind in _TOOLS),  # noqa: SLF001 - private to FastMCP
        FastMCP.render_prompt,
        *(kind.render for kind in _PROMPTS),
        *(kind._render for kind in _PROMPTS),  # noqa: SLF001
    )
)
"""What code calls to run a tool or to render a prompt; FastMCP calls it for clients."""


@cache
def note_origins() -> None:
    """Have FastMCP note, once, who makes the calls of decorated functions."""
    FunctionTool.run = _noting_origin(FunctionTool.run)  # type: ignore[method-assign, assignment]


_noted_origin: ContextVar[Origin] = ContextVar("mcp_lenient_origin", default="client")


def noted_origin() -> Origin:
    """Return who makes the call of a decorated function, also from the thread that validates its arguments."""
    is_in_thread = local(RUN, "self") is None
    return _noted_origin.get() if is_in_thread else origin()


def origin() -> Origin:
    """Return who makes the call being served: a client, a tool's body, other code within a request, or a program of its own.

    Unlike a client, the others expect an exception of a call that is refused, and may have checked it. Only the frames tell
    them apart: any of them may ask any server, also by the mounted tools of another.
    """
    saw_entrance = came_through_host = False
    for frame in _frames():
        code = frame.f_code
        # What has taken the method's place in between, as tools for tracing do, is no body; an author's is known otherwise.
        if code in _HANDLERS and not came_through_host:
            return "client"
        if not saw_entrance:
            saw_entrance = code in _ENTRANCES and not _is_of(frame.f_back, "fastmcp.", "mcp_lenient.")
        elif code is _RUN_CODE:
            return "body"
        else:
            came_through_host = came_through_host or _is_of(frame, "fastmcp.", "mcp.")
    if not saw_entrance:
        return "client"
    context = current_context()
    is_in_request = context is not None and context.request_context is not None
    return "other" if came_through_host or is_in_request else "program"


def is_for_prompt_alone() -> bool:
    """Return whether a client, or a program of its own, asks for the prompt being rendered, and no call of a tool."""
    is_in_call = local(FastMCP.call_tool, "self") is not None
    return not is_in_call and origin() in ("client", "program")


def _is_of(frame: FrameType | None, *packages: str) -> bool:
    return frame is not None and str(frame.f_globals.get("__name__")).startswith(packages)


def current_context() -> Context | None:
    """Return the context of the call being served; None outside of one."""
    try:
        return get_context()
    except RuntimeError:
        return None


CONTEXTS_OF_A_CALL: Final = 2
"""FastMCP opens a context for a call's middleware, and one for the call itself."""


def is_called_again() -> bool:
    """Return whether the server of the running tool is running another call of this request, also from a worker thread."""
    servers = [outer.fastmcp for outer in contexts(current_context())]
    return sum(server is servers[0] for server in servers) > CONTEXTS_OF_A_CALL


def contexts(context: Context | None) -> Iterator[Context]:
    """Yield a context and those around it, from the inside out: of the same server, and of servers that mount it."""
    while context is not None:
        yield context
        tokens = context._tokens  # noqa: SLF001 - private to FastMCP
        outer = tokens[-1].old_value if tokens else None
        context = outer if isinstance(outer, type(context)) else None


def is_transforming() -> bool:
    """Return whether a transformed tool is passing its arguments on."""
    return _nearest_transform() is not None


def _nearest_transform() -> TransformedTool | None:
    current = getattr(tool_transform, "_current_tool", None)
    return None if current is None else current.get(None)


CALL_METHODS: Final = frozenset(
    "call_tool _on_call_tool _call_tool_mcp render_prompt _on_get_prompt _get_prompt_mcp _run_middleware _dispatch_component_middleware _compose_tool_call_interceptors".split()
)
"""The methods of a FastMCP server by which a call or the request of a prompt passes."""


def author_transform() -> TransformedTool | None:
    """Return the tool whose author's function is passing a call on to another; in a worker thread only the nearest is known."""
    running = (frame.f_locals["self"] for frame in _frames() if frame.f_code is TransformedTool.run.__code__)
    tools = (_nearest_transform(), *running)
    return next((tool for tool in tools if tool and tool.fn is not tool.forwarding_fn), None)


def author_before(server: FastMCP, tool: FunctionTool | None) -> object | None:
    """Return what sees the calls of a server's tool by code of its author's, and is no middleware; None without one."""
    if tool is not None and type(tool).run is not FunctionTool.run:
        return tool
    return server if is_passed_by_calls(server) else author_transform()


def is_passed_by_calls(server: FastMCP) -> bool:
    """Return whether an author's method has taken the place of one by which a server's calls pass."""
    kinds = (kind for kind in type(server).__mro__ if not kind.__module__.startswith("fastmcp."))
    return any(not CALL_METHODS.isdisjoint(vars(entry)) for entry in (*kinds, server))
