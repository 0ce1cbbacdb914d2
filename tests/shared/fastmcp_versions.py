"""The FastMCP that the tests run with, and what does not work on FastMCP 3."""

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
"""The exception that a client raises for a protocol error."""
CLIENT = f"fastmcp {__version__}" if VERSION >= (4, 2) else "mcp 0.1.0"
"""The name and version that FastMCP's client sends."""

RAW = "the SDK refuses arguments that are not an object before the server's code runs"
STRICT = "the SDK checks the published schema of a strict server before the middleware"
PROXY = "the proxy needs FastMCP 4"
NOT_THERE = "FastMCP 3 does not have this feature"
DIRECT = "a call from a tool's body looks like a client's call"
ANSWER_UNCHECKED = "an answer to a question is not compared with its schema"
NO_HEADERS = "the SDK compares no headers with arguments"
NO_JSON = "strict validation reads Python values, not JSON, so the result differs"
META_DROPPED = "ResponseLimitingMiddleware drops the metadata of a cut result"
OWN_VALIDATION = "a validation error of a tool's body looks like FastMCP's own"
SPAN = "FastMCP starts its span inside the middleware"


def since(major: int, minor: int, limit: str) -> pytest.MarkDecorator:
    """Skip a test that cannot pass on an older FastMCP, and print the limit that it tests."""
    return pytest.mark.skipif((major, minor) > VERSION, reason=f"FastMCP {__version__}: {limit}")


def from_version(version: str, limit: str) -> pytest.MarkDecorator:
    """Skip a test that cannot pass before a release of FastMCP, and print the limit that it tests."""
    return pytest.mark.skipif(
        Version(__version__) < Version(version), reason=f"FastMCP {__version__}: {limit}"
    )


def not_on_3(limit: str) -> pytest.MarkDecorator:
    """Skip a test that cannot pass on FastMCP 3, and print the limit that it tests."""
    return since(4, 0, limit)


def skip_on_3(limit: str) -> None:
    """Skip the running test on FastMCP 3."""
    if IS_3:
        pytest.skip(f"FastMCP {__version__}: {limit}")


def in_era(mode: str) -> dict[str, Any]:
    """Return a client's settings for an era of the protocol. FastMCP 3 has only one era."""
    if mode not in ("legacy", "auto"):
        skip_on_3(NOT_THERE)
    return {} if IS_3 else {"mode": mode}


def skip_strict_servers(patch: pytest.MonkeyPatch) -> None:
    """Skip the running test on FastMCP 3 once it makes a strict server or a strict validator."""
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
    """Let tests use the attribute names of SDK 2 with either SDK."""
    if IS_3:
        CallToolResult.is_error = property(lambda self: self.isError)
        CallToolResult.structured_content = property(lambda self: self.structuredContent)
        Tool.input_schema = property(lambda self: self.inputSchema)
        Tool.output_schema = property(lambda self: self.outputSchema)
