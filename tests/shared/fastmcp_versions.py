"""Which FastMCP the tests run with, and what cannot hold on FastMCP 3."""

from __future__ import annotations

from typing import Any

import pytest
from fastmcp import FastMCP, __version__
from fastmcp.tools import FunctionTool
from mcp.shared import exceptions as sdk_errors
from mcp.types import CallToolResult, Tool
from packaging.version import Version

from mcp_lenient.adapters.fastmcp.compat.version import VERSION
from mcp_lenient.adapters.fastmcp.tools import FunctionValidator

IS_3 = VERSION < (4, 0)
MCPError: Any = getattr(sdk_errors, "McpError" if IS_3 else "MCPError")
"""What a client raises for an error of the protocol."""
CLIENT = f"fastmcp {__version__}" if VERSION >= (4, 2) else "mcp 0.1.0"
"""What FastMCP's client calls itself, and its version."""

RAW = "the SDK refuses arguments that are not an object before any code of the server's"
STRICT = "the SDK checks the published schema of a strict server before the middleware"
PROXY = "the proxy needs FastMCP 4"
NOT_THERE = "what is tested came with FastMCP 4"
THREAD = "in the worker thread of a call nothing tells what other arguments it has"
DIRECT = "nothing tells a body that runs a tool itself from a client"
NO_JSON = "strict validation takes Python values, not JSON, so that this is refused or taken in another way"
META_DROPPED = "ResponseLimitingMiddleware drops the metadata of what it cuts"
SPAN = "FastMCP starts its span inside the middleware"


def since(major: int, minor: int, limit: str) -> pytest.MarkDecorator:
    """Skip a test that cannot hold on an older FastMCP, and print the limit that it is about."""
    return pytest.mark.skipif((major, minor) > VERSION, reason=f"FastMCP {__version__}: {limit}")


def from_version(version: str, limit: str) -> pytest.MarkDecorator:
    """Skip a test that cannot hold before a release of FastMCP, and print the limit that it is about."""
    return pytest.mark.skipif(
        Version(__version__) < Version(version), reason=f"FastMCP {__version__}: {limit}"
    )


def not_on_3(limit: str) -> pytest.MarkDecorator:
    """Skip a test that cannot hold on FastMCP 3, and print the limit that it is about."""
    return since(4, 0, limit)


def skip_on_3(limit: str) -> None:
    """Skip the running test on FastMCP 3."""
    if IS_3:
        pytest.skip(f"FastMCP {__version__}: {limit}")


def in_era(mode: str) -> dict[str, Any]:
    """Settings of a client for an era of the protocol; FastMCP 3 knows one only."""
    if mode not in ("legacy", "auto"):
        skip_on_3(NOT_THERE)
    return {} if IS_3 else {"mode": mode}


def skip_strict_servers(patch: pytest.MonkeyPatch) -> None:
    """Skip the running test on FastMCP 3 as soon as it makes a strict server, or a strict validator."""
    build, validate = FastMCP.__init__, FunctionValidator.__init__

    def checked(self: FastMCP, *args: Any, **settings: Any) -> None:
        if settings.get("strict_input_validation"):
            skip_on_3(STRICT)
        build(self, *args, **settings)

    def checked_too(self: FunctionValidator, tool: FunctionTool, *, strict: bool) -> None:
        if strict:
            skip_on_3(STRICT)
        validate(self, tool, strict=strict)

    patch.setattr(FastMCP, "__init__", checked)
    patch.setattr(FunctionValidator, "__init__", checked_too)


def read_as_in_sdk_2() -> None:
    """Let tests read what a client gets by the names of SDK 2, whichever SDK is installed."""
    if IS_3:
        CallToolResult.is_error = property(lambda self: self.isError)
        CallToolResult.structured_content = property(lambda self: self.structuredContent)
        Tool.input_schema = property(lambda self: self.inputSchema)
        Tool.output_schema = property(lambda self: self.outputSchema)
