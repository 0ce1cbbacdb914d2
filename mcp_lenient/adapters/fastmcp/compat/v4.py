"""FastMCP 4, on the official SDK 2."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import httpx2
from fastmcp.server import dependencies
from fastmcp.tools import function_tool
from fastmcp.tools.base import InputRequiredToolResult
from mcp.server.runner import ServerRunner
from mcp.shared import exceptions
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, InputRequiredResult

from mcp_lenient.adapters.fastmcp.compat.running import current_context, is_transforming
from mcp_lenient.adapters.fastmcp.compat.version import VERSION
from mcp_lenient.engine.tool import is_in_header

if TYPE_CHECKING:
    from fastmcp import Context, FastMCP
    from fastmcp.tools import ToolResult
    from mcp.server.context import ServerRequestContext
    from mcp.types import RequestParams
    from pydantic import TypeAdapter
    from pydantic_core import SchemaValidator

MCPError = exceptions.MCPError
HTTPError = httpx2.HTTPError
SPAN_IS_INSIDE: Final = False
"""Whether FastMCP starts the span of a call after its middleware."""
DISPATCH: Final = ("_run_middleware", "_compose_tool_call_interceptors")
"""The methods of a server by which a message passes its middleware, and a call its extensions."""
ANSWERED_BEHIND_MIDDLEWARE: Final = ("prompts/get",)
"""What is answered behind a server's middleware; calls pass its extensions as well."""
_OWN_PACKAGES: Final = frozenset({"fastmcp", "mcp", "mcp_lenient"})
STRICT_READS_JSON: Final = VERSION >= (4, 1)
"""Whether strict validation reads arguments as JSON, where a list is a tuple; generators become lists from then on too."""
CODE_MODE_RAISES_ERRORS: Final = VERSION >= (4, 1)
"""Whether Code Mode raises a result that is an error in the code; the first releases of FastMCP 4.0 return its text."""


def called_for(
    function: Callable[..., Any], *, run_in_thread: bool
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return what FastMCP calls for a function, and the function around it whose calls Pydantic validates."""
    wrap = function_tool._wrap_body_errors  # noqa: SLF001 - private to FastMCP
    body = wrap(function, materialize_generators=True) if STRICT_READS_JSON else function
    called = dependencies.without_injected_parameters(body, run_in_thread=run_in_thread)
    return called, wrap(called)


def validates(validator: SchemaValidator) -> tuple[Callable[[Any], object], Callable[[Any], object]]:
    """Return how a server validates a function's arguments: by default, and with ``strict_input_validation``."""
    lax = validator.validate_python
    if not STRICT_READS_JSON:
        return lax, partial(lax, strict=True)
    # The annotation says TypeAdapter, but only methods of both are called.
    adapter = cast("TypeAdapter[Any]", validator)
    return lax, partial(function_tool._validate_input, adapter, strict=True)  # noqa: SLF001


def is_strict(server: FastMCP) -> bool:
    """Return whether a server validates functions strictly."""
    return server.strict_input_validation


def called_name() -> str | None:
    """Return the name that a client called, in the request being served; None outside of one."""
    context = current_context()
    request = None if context is None else raw_request(context)
    return None if request is None else (request.params or {}).get("name")


def is_clients_call(tool: str) -> bool:
    """Return whether a client called the tool of this name, and not Python code."""
    return called_name() == tool and not is_transforming()


def asks_for_input(result: object) -> bool:
    """Return whether a tool's function returned a question to the client instead of its result."""
    return isinstance(result, InputRequiredResult)


def install(server: FastMCP, hook: Any) -> str | None:
    """Put a hook before the SDK's middleware of a server, behind other hooks of its type.

    Returns the reason if that is impossible.
    """
    middleware = getattr(getattr(server, "_mcp_server", None), "middleware", None)
    if not isinstance(middleware, list):
        return "FastMCP no longer has the list of hooks that sees a request before it is validated"
    middleware.insert(_first_of_others(middleware, hook), hook)
    return None


def is_first(server: FastMCP, hook: Any) -> bool:
    """Return whether no other middleware of the SDK has seen the request that a hook, which calls this, is handed.

    The list says who stands where now, and the caller who has handed on this request: the list may have changed since.
    The hook stands first for the next request.
    """
    middleware: Any = server._mcp_server.middleware  # noqa: SLF001 - private to FastMCP
    if not isinstance(middleware, list):
        return False
    own_call = type(hook).__call__.__code__
    caller = sys._getframe(2)  # noqa: SLF001 - of the hook
    while caller.f_code is own_call and caller.f_back is not None:
        caller = caller.f_back
    if any(other is hook for other in middleware[: _first_of_others(middleware, hook)]):
        return caller.f_code is ServerRunner._on_request.__code__  # noqa: SLF001 - private to the SDK
    others = [other for other in middleware if other is not hook]
    if len(others) < len(middleware):
        middleware[:] = others
        install(server, hook)
    return False


def _first_of_others(middleware: list[Any], hook: Any) -> int:
    """Return the position of the first middleware that is not of a hook's type."""
    return next((at for at, other in enumerate(middleware) if type(other) is not type(hook)), len(middleware))


def sdk_judge(server: FastMCP) -> object | None:
    """Return middleware of the SDK's server that is neither FastMCP's, the SDK's nor ours, and so may judge calls."""
    middleware = getattr(getattr(server, "_mcp_server", None), "middleware", ())
    return next((entry for entry in middleware if _package(entry) not in _OWN_PACKAGES), None)


def _package(entry: object) -> str:
    module = getattr(entry, "__module__", None) or type(entry).__module__
    return module.partition(".")[0]


def has_header_parameters(server: FastMCP, tool: str) -> bool:
    """Return whether headers of a request repeat arguments of a tool (SEP-2243), which the SDK compares if these are no text."""
    look_up: Any = getattr(server._mcp_server, "get_tool_input_schema", None)  # noqa: SLF001 - private to FastMCP
    schema = None if look_up is None else look_up(tool)
    return schema is not None and is_in_header(schema)


def raw_request(context: Context) -> ServerRequestContext[Any, Any] | None:
    """Return the SDK's own context of the request being served; None outside of one."""
    return getattr(context.request_context, "_srctx", None)


def masked(answer: Coroutine[Any, Any, Any]) -> Coroutine[Any, Any, Any]:
    """Return the answer to a message: SDK 2 shows callers no unexpected error."""
    return answer


def interceptor(server: FastMCP) -> object | None:
    """Return an extension of a server, which sees calls behind its middleware; None without one."""
    return next(iter(getattr(server, "_extensions", {}).values()), None)


def fastmcp_meta(message: RequestParams) -> Any:
    """Return what a request says to FastMCP in its ``_meta``."""
    return None if message.meta is None else message.meta.get("fastmcp")


def invalid_params(message: str, data: Any) -> MCPError:
    """Return the protocol's error for a request whose parameters are wrong."""
    return MCPError(INVALID_PARAMS, message, data)


def internal_error(message: str) -> MCPError:
    """Return the protocol's error for what the server cannot do."""
    return MCPError(INTERNAL_ERROR, message)


def takes_metadata(result: ToolResult) -> bool:
    """Return whether what is added to a result's metadata and content reaches the client."""
    if isinstance(result, InputRequiredToolResult):
        return False
    # FastMCP sends `_raw_mcp_result` in place of all else. Pydantic takes 20 times as long to read it as an attribute.
    private = result.__pydantic_private__
    return private is None or private.get("_raw_mcp_result") is None
