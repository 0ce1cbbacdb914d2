"""Private FastMCP and SDK APIs used by the proxy; ``tests/.../test_private_fastmcp.py`` fails when one is gone."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from fastmcp.client.transports import stdio

from mcp_lenient.adapters.fastmcp.proxy import utf8

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastmcp import Context, FastMCP


def refuse_other_bytes() -> None:
    """Let clients of stdio servers answer a request with an error if its answer is not UTF-8.

    The SDK has a setting for the encoding, FastMCP does not.
    """
    parameters: Any = stdio.StdioServerParameters  # type: ignore[attr-defined]
    if isinstance(parameters, type):
        vars(stdio)["StdioServerParameters"] = partial(parameters, encoding=utf8.CODEC)


def wrap_streams(server: FastMCP, wrap: Callable[[Any], Any]) -> None:
    """Wrap the message streams of clients (stdio, in-process)."""
    served: Any = server._mcp_server  # noqa: SLF001 - see above
    run = served.run

    async def run_wrapped(read_stream: Any, *args: Any, **kwargs: Any) -> Any:
        return await run(wrap(read_stream), *args, **kwargs)

    served.run = run_wrapped


def compare_headers(server: FastMCP, schema_of: Callable[[str], Any]) -> None:
    """Let the SDK (2.3 and newer) compare parameters in the headers of a call with the tool's schema, if that is known.

    FastMCP before 4.2 lists all tools before each call for this; from 4.2 on it knows tools that a client has listed.
    """
    served: Any = server._mcp_server  # noqa: SLF001 - see above
    served.get_tool_input_schema = schema_of


def connection_of(context: Context | None) -> Any:
    """Return an object with the lifetime of the client's connection, which can run cleanup at its end."""
    session = None if context is None or context.request_context is None else context.session
    return getattr(session, "_connection", None)
