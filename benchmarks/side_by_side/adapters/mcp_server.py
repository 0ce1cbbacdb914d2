"""The MCP Python SDK's ``MCPServer`` with function tools, in process."""

import logging
import warnings
from functools import partial

from loop import RefusedError, UnsupportedError, serve
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic.json_schema import PydanticJsonSchemaWarning
from pydantic_types import plain
from python_types import recording_function


def build(schemas, request):
    """Return calls to one server with a function tool for each schema."""
    if not isinstance(request["arguments"], dict):
        msg = "arguments that are no object, within one process"
        raise UnsupportedError(msg)
    if request.get("declared"):
        msg = "aliases and keys to drop"
        raise UnsupportedError(msg)
    warnings.simplefilter("ignore", PydanticJsonSchemaWarning)
    server = MCPServer("side by side")
    calls = []
    for at, schema in enumerate(schemas):
        recorder = recording_function(schema)
        server.add_tool(recorder.function, name=f"tool_{at}", structured_output=False)
        calls.append(partial(_call, server, f"tool_{at}", recorder.received))
    return calls


async def _call(server, name, received, arguments):
    try:
        await server.call_tool(name, arguments)
    except ToolError:
        raise RefusedError from None
    if not received:
        raise RefusedError
    return received.pop()


if __name__ == "__main__":
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    serve(build, plain, ("mcp",))
