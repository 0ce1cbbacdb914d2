"""FastMCP 3 (3.4.3 and later), on the official SDK 1.

The SDK validates a request before any code of the server sees it. So arguments that are not an object never arrive,
and ``strict_input_validation`` checks the published schema before the middleware; the functions themselves are
always validated in lax mode.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final

import httpx
from fastmcp.exceptions import McpError
from fastmcp.server import dependencies
from fastmcp.tools import function_tool
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, ErrorData

from mcp_lenient.adapters.fastmcp.compat.running import (
    CONTEXTS_OF_A_CALL,
    contexts,
    current_context,
    is_transforming,
)
from mcp_lenient.errors import DefinitionError

if TYPE_CHECKING:
    from fastmcp import FastMCP
    from fastmcp.tools import ToolResult
    from pydantic_core import SchemaValidator

SPAN_IS_INSIDE: Final = True
STRICT_READS_JSON: Final = False
CODE_MODE_RAISES_ERRORS: Final = False
DISPATCH: Final = ("_run_middleware",)
ANSWERED_BEHIND_MIDDLEWARE: Final = ("tools/call", "prompts/get")
MCPError = McpError
HTTPError = httpx.HTTPError


def called_for(
    function: Callable[..., Any], *, run_in_thread: bool
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return what FastMCP calls for a function, and the function around it whose calls Pydantic validates."""
    called = dependencies.without_injected_parameters(function, run_in_thread=run_in_thread)
    return called, function_tool._wrap_body_errors(called)  # noqa: SLF001 - private to FastMCP


def validates(validator: SchemaValidator) -> tuple[Callable[[Any], object], Callable[[Any], object]]:
    """Return how a server validates a function's arguments: by default, and with ``strict_input_validation``."""
    return validator.validate_python, validator.validate_python


def is_strict(_server: FastMCP) -> bool:
    """Return whether a server validates functions strictly."""
    return False


def is_clients_call(_tool: str) -> bool:
    """Return whether a client called this server's own tool, and not Python code or another server."""
    context = current_context()
    if context is None or context.request_context is None or is_transforming():
        return False
    return len([*contexts(context)]) == CONTEXTS_OF_A_CALL


def raw_request(_context: object) -> None:
    """Return None: FastMCP 3 keeps no context of the SDK's for a request."""


def called_name() -> None:
    """Return None, for the same reason."""


def asks_for_input(_result: object) -> bool:
    """Return False: a tool of FastMCP 3 cannot return a question to the client."""
    return False


def install(server: FastMCP, _hook: Any) -> str | None:
    """Return a notice for the operator about what the middleware cannot do on a server, if any."""
    if not server.strict_input_validation:
        return None
    return (
        "with FastMCP 3, strict_input_validation refuses a call before mcp-lenient sees it: nothing is repaired. "
        "Use FastMCP 4, or leave the setting out"
    )


def is_first(_server: FastMCP, _hook: Any) -> bool:
    """Return False: SDK 1 has no middleware before it validates a request."""
    return False


def has_header_parameters(_server: FastMCP, _tool: str) -> bool:
    """Return False: SDK 1 compares no headers with arguments."""
    return False


def sdk_judge(_server: FastMCP) -> None:
    """Return None: SDK 1 has no middleware."""


async def masked(answer: Coroutine[Any, Any, Any]) -> Any:
    """Answer a message; what is wrong with a definitions file goes to the log, since SDK 1 shows callers every error."""
    try:
        return await answer
    except DefinitionError as error:
        logging.getLogger("mcp_lenient").error("%s", error)  # noqa: TRY400 - the sentence names file and line
        details = ErrorData(code=INTERNAL_ERROR, message="Internal server error")
        raise McpError(details) from None  # type: ignore[arg-type, call-arg]


def interceptor(_server: FastMCP) -> None:
    """Return None: FastMCP 3 has no extensions."""


def fastmcp_meta(message: Any) -> Any:
    """Return what a request says to FastMCP in its ``_meta``."""
    return None if message.meta is None else (message.meta.model_extra or {}).get("fastmcp")


def invalid_params(message: str, data: Any) -> McpError:
    """Return the protocol's error for a request whose parameters are wrong."""
    details = ErrorData(code=INVALID_PARAMS, message=message, data=data)
    return McpError(details)  # type: ignore[arg-type, call-arg]


def internal_error(message: str) -> McpError:
    """Return the protocol's error for what the server cannot do."""
    details = ErrorData(code=INTERNAL_ERROR, message=message)
    return McpError(details)  # type: ignore[arg-type, call-arg]


def takes_metadata(_result: ToolResult) -> bool:
    """Return whether what is added to a result's metadata and content reaches the client."""
    return True
