"""Private APIs of the official SDK, 1 and 2, used nowhere else.

If one of them is gone, only the published schema of a tool is used, and everything else keeps working;
``tests/adapters/mcp_sdk`` fails.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from importlib import import_module
from typing import Any, Final

from pydantic import BaseModel

from mcp_lenient.adapters.mcp_sdk.arguments import ArgumentsValidator
from mcp_lenient.declare.decorator_metadata import as_written

_MOST_MIDDLEWARE: Final = 1_000
_FUNCTION_SERVERS: Final = (
    ("mcp.server.mcpserver", "MCPServer", "_handle_call_tool"),
    ("mcp.server.fastmcp", "FastMCP", "call_tool"),
)
"""The servers whose tools are functions, and the method that the handler of calls leads to, by version."""


def server_behind(call_next: object) -> Any:
    """Return the low-level server that called a middleware of SDK 2; None if unknown.

    A middleware does not receive the server. Its ``call_next`` is a chain of partials that ends in a closure of the
    SDK's runner, which has the server.
    """
    for _ in range(_MOST_MIDDLEWARE):
        if not isinstance(call_next, partial) or len(call_next.args) != 2:
            break
        call_next = call_next.args[1]
    return getattr(_closure_variables(call_next).get("self"), "server", None)


def middleware_behind(call_next: object) -> list[Any]:
    """Return the middleware that a request is handed to behind another one, outermost first."""
    behind: list[Any] = []
    while isinstance(call_next, partial) and len(call_next.args) == 2 and len(behind) < _MOST_MIDDLEWARE:
        behind.append(call_next.args[0])
        call_next = call_next.args[1]
    return behind


def is_sdks(middleware: object) -> bool:
    """Return whether middleware is the SDK's own, which denies no call for what its arguments say."""
    module = getattr(middleware, "__module__", None) or type(middleware).__module__
    return bool(module.partition(".")[0] == "mcp")


def function_server(handler: object) -> Any:
    """Return the server whose functions a call handler runs; None if other code decides what is run."""
    for kind, method in _kinds():
        for bound in (handler, *_closure_variables(handler).values()):
            server = getattr(bound, "__self__", None)
            if isinstance(server, kind) and getattr(bound, "__func__", None) is method:
                return server if _runs_own_functions(server, kind) else None
    return None


def has_interceptors(server: Any) -> bool:
    """Return whether extensions of a server of SDK 2 are asked before a function runs: its handler leads to another."""
    entry = None if server is None else server.get_request_handler("tools/call")
    if entry is None or getattr(entry.handler, "__self__", None) is not None:
        return False
    return function_server(entry.handler) is not None


def is_refusal(result: Any, tool: str) -> bool:
    """Return whether a result is what the SDK answers itself: the arguments are wrong, or it does not know the tool."""
    content = result.get("content") if isinstance(result, Mapping) else getattr(result, "content", None)
    first = content[0] if content else None
    text = str(first.get("text") if isinstance(first, Mapping) else getattr(first, "text", ""))
    wrong = rf"Error executing tool {re.escape(tool)}: \d+ validation errors? for \w+Arguments\n"
    return text == f"Unknown tool: {tool}" or re.match(wrong, text) is not None


@lru_cache(maxsize=1)
def _kinds() -> tuple[tuple[Any, Any], ...]:
    """Return the function server classes of the installed SDK, with their methods."""
    kinds = []
    for module, name, method in _FUNCTION_SERVERS:
        with suppress(ImportError, AttributeError):
            kind = getattr(import_module(module), name)
            kinds.append((kind, getattr(kind, method)))
    return tuple(kinds)


def _runs_own_functions(server: Any, kind: Any) -> bool:
    manager = getattr(server, "_tool_manager", None)
    return type(server).call_tool is kind.call_tool and callable(getattr(manager, "get_tool", None))


def function_tool(server: Any, name: str) -> Any:
    """Return the SDK's record of a function tool; None if there is none."""
    return server._tool_manager.get_tool(name)  # noqa: SLF001 - see above


def validator(tool: Any) -> ArgumentsValidator | None:
    """Return the validator of a function tool by the SDK's own arguments model; None for any other tool."""
    if not _runs_its_function(tool):
        return None
    written, metadata = as_written(tool.fn), tool.fn_metadata
    if written is not tool.fn:
        # A function decorated by `@lenient` accepts everything and refuses calls itself.
        build: Callable[..., Any] = import_module(type(metadata).__module__).func_metadata
        metadata = build(written, skip_names=_injected_parameters(tool), structured_output=False)
    return ArgumentsValidator(metadata)


def _runs_its_function(tool: Any) -> bool:
    """Return whether a tool validates and calls its function like the SDK's own tools."""
    metadata = tool.fn_metadata
    is_sdks_code = all(part.__module__.startswith("mcp.server.") for part in (type(tool).run, type(metadata)))
    validate = getattr(metadata.arg_model, "model_validate", None)
    is_pydantics = getattr(validate, "__func__", None) is vars(BaseModel)["model_validate"].__func__
    return is_sdks_code and is_pydantics and callable(getattr(metadata, "pre_parse_json", None))


def _injected_parameters(tool: Any) -> list[str]:
    context = [tool.context_kwarg] if tool.context_kwarg is not None else []
    return [*context, *getattr(tool, "resolved_params", ())]


def low_level(server: Any) -> Any:
    """Return the low-level server of an SDK 1 server."""
    return getattr(server, "_mcp_server", server)


def request_handlers(server: object) -> dict[Any, Any] | None:
    """Return the request handlers of a server on SDK 1, by request type; None for any other object."""
    handlers = getattr(low_level(server), "request_handlers", None)
    return handlers if isinstance(handlers, dict) else None


def validates_input(handler: object) -> bool:
    """Return whether SDK 1 validates against the published schema before it runs this handler."""
    return _closure_variables(handler).get("validate_input") is True


def _closure_variables(function: object) -> Mapping[str, Any]:
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    captured: dict[str, Any] = {}
    for name, cell in zip(names, getattr(function, "__closure__", None) or (), strict=True):
        with suppress(ValueError):  # not assigned yet
            captured[name] = cell.cell_contents
    return captured
