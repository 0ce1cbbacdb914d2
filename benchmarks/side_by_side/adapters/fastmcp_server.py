"""FastMCP with function tools, in process: ``default`` or ``strict``, or ``lenient`` and ``lenient-strict`` with the middleware."""

import logging
import sys
import warnings
from functools import partial

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError, ValidationError
from loop import RefusedError, UnsupportedError, serve
from pydantic.json_schema import PydanticJsonSchemaWarning
from pydantic_types import plain
from python_types import recording_function

MODE = sys.argv[1]
LENIENT = MODE.startswith("lenient")
STRICT = MODE.endswith("strict")


def build(schemas, request):
    """Return calls to one server with a function tool for each schema."""
    if not isinstance(request["arguments"], dict):
        msg = "arguments that are no object, within one process"
        raise UnsupportedError(msg)
    if request.get("declared") and not LENIENT:
        msg = "aliases and keys to drop"
        raise UnsupportedError(msg)
    warnings.simplefilter("ignore", PydanticJsonSchemaWarning)
    server = FastMCP("side by side", strict_input_validation=STRICT)
    if LENIENT:
        from lenient_function import policy_for

        from mcp_lenient import LenientMiddleware

        server.add_middleware(LenientMiddleware(policy=policy_for(request)))
    calls = []
    for at, schema in enumerate(schemas):
        recorder = recording_function(schema)
        hints = {"destructiveHint": True} if request.get("destructive") else None
        server.tool(recorder.function, name=f"tool_{at}", output_schema=None, annotations=hints)
        calls.append(partial(_call, server, f"tool_{at}", recorder.received))
    return calls


async def _call(server, name, received, arguments):
    try:
        result = await server.call_tool(name, arguments)
    except (ToolError, ValidationError):
        raise RefusedError from None
    if received:
        return received.pop()
    envelope = (result.meta or {}).get("mcp_lenient", {})
    raise RefusedError([each["code"] for each in envelope["details"]["violations"]])


if __name__ == "__main__":
    import structlog

    logging.getLogger("fastmcp").setLevel(logging.CRITICAL)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    serve(build, plain, ("fastmcp", "mcp-lenient") if LENIENT else ("fastmcp",))
