"""Put a lenient proxy in front of any MCP server, in any language."""

from mcp_lenient.adapters.fastmcp.compat.version import VERSION

if VERSION < (4, 0):
    msg = "the proxy needs FastMCP 4: pip install 'fastmcp>=4', in an environment of its own where a server needs FastMCP 3"
    raise ImportError(msg)

from mcp_lenient.adapters.fastmcp.proxy.server import create_lenient_proxy

__all__ = ["create_lenient_proxy"]
