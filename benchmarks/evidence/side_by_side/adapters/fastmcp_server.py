"""FastMCP with function tools, in process: ``default`` or ``strict``, or ``lenient`` and ``lenient-strict`` with the middleware."""

import logging
import sys
import warnings
from functools import partial

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError, ValidationError
from loop import RefusedError, serve
from pydantic.json_schema import PydanticJsonSchemaWarning

from benchmarks.signatures import plain, recording_function

MODE = sys.argv[1]
LENIENT = MODE.startswith("lenient")
STRICT = MODE.endswith("strict")


def build(schemas, request):
    """Return calls to one server with a function tool for each schema."""
    warnings.simplefilter("ignore", PydanticJsonSchemaWarning)
    server = FastMCP("side by side", strict_input_validation=STRICT)
    if LENIENT:
        from lenient_function import policy_for

        from mcp_lenient import LenientMiddleware

        server.add_middleware(LenientMiddleware(policy=policy_for(request)))
    calls = []
    for at, schema in enumerate(schemas):
        received = []
        function = recording_function(schema, received.append)
        hints = {"destructiveHint": True} if request.get("destructive") else None
        server.tool(function, name=f"tool_{at}", output_schema=None, annotations=hints)
        calls.append(partial(_call, server, f"tool_{at}", received))
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
    packages = ("fastmcp", "mcp-lenient") if LENIENT else ("fastmcp",)
    serve(build, plain, packages, declares=LENIENT, objects=True)
