"""LangChain and MCP, both ways; needs ``pip install mcp-lenient[langchain]``.

:func:`serve` puts LangChain tools on a lenient server, :func:`load_tools` gives an agent the tools of MCP servers.
"""

from mcp_lenient.adapters.langchain.loading import load_tools, to_langchain
from mcp_lenient.adapters.langchain.serving import LangChainTool, serve

__all__ = ["LangChainTool", "load_tools", "serve", "to_langchain"]
