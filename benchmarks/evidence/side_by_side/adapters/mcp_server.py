"""The MCP Python SDK's ``MCPServer`` with function tools, in process."""

import logging
import warnings
from functools import partial

from loop import RefusedError, serve
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic.json_schema import PydanticJsonSchemaWarning

from benchmarks.signatures import plain, recording_function


def build(schemas, _request):
    """Return calls to one server with a function tool for each schema."""
    warnings.simplefilter("ignore", PydanticJsonSchemaWarning)
    server = MCPServer("side by side")
    calls = []
    for at, schema in enumerate(schemas):
        received = []
        function = recording_function(schema, received.append)
        server.add_tool(function, name=f"tool_{at}", structured_output=False)
        calls.append(partial(_call, server, f"tool_{at}", received))
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
    serve(build, plain, ("mcp",), objects=True)
