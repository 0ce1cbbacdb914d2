"""Lenience in front of any MCP server, in whichever language it is written."""

from mcp_lenient.adapters.fastmcp.proxy.server import create_lenient_proxy

__all__ = ["create_lenient_proxy"]
