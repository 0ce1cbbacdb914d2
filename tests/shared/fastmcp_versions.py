"""Which FastMCP the tests run with, and what cannot hold on FastMCP 3."""

from __future__ import annotations

import pytest
from fastmcp import __version__
from mcp.types import CallToolResult, Tool

from mcp_lenient.adapters.fastmcp.compat.version import VERSION

IS_3 = VERSION < (4, 0)

RAW = "the SDK refuses arguments that are not an object before any code of the server's"
STRICT = "the SDK checks the published schema of a strict server before the middleware"
PROXY = "the proxy needs FastMCP 4"
NOT_THERE = "what is tested came with FastMCP 4"


def not_on_3(limit: str) -> pytest.MarkDecorator:
    """Skip a test that cannot hold on FastMCP 3, and print the limit that it is about."""
    return pytest.mark.skipif(IS_3, reason=f"FastMCP {__version__}: {limit}")


def since(major: int, minor: int, limit: str) -> pytest.MarkDecorator:
    """Skip a test of what an older FastMCP does in another way."""
    return pytest.mark.skipif((major, minor) > VERSION, reason=f"FastMCP {__version__}: {limit}")


def read_as_in_sdk_2() -> None:
    """Let tests read what a client gets by the names of SDK 2, whichever SDK is installed."""
    if IS_3:
        CallToolResult.is_error = property(lambda self: self.isError)
        CallToolResult.structured_content = property(lambda self: self.structuredContent)
        Tool.input_schema = property(lambda self: self.inputSchema)
        Tool.output_schema = property(lambda self: self.outputSchema)
