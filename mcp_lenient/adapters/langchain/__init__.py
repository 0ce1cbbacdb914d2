"""LangChain tools for MCP, and MCP tools for LangChain.

:func:`serve` puts LangChain tools on a lenient server, :func:`load_tools` gives an agent the tools of MCP servers; both
need the extra ``langchain`` (``pip install '.[langchain]'`` in a clone). :class:`LenientInterceptor` makes the calls of
``langchain-mcp-adapters`` lenient, and needs the extra ``langchain-mcp-adapters``, which brings FastMCP 3.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_lenient.adapters.langchain.interceptor import LenientInterceptor
    from mcp_lenient.adapters.langchain.loading import load_tools, to_langchain
    from mcp_lenient.adapters.langchain.serving import LangChainTool, serve

__all__ = ["LangChainTool", "LenientInterceptor", "load_tools", "serve", "to_langchain"]

if not TYPE_CHECKING:  # langchain-mcp-adapters and FastMCP 4 exclude each other
    from mcp_lenient.values.lazy import lazy_getattr

    __getattr__ = lazy_getattr(
        __name__,
        {
            "mcp_lenient.adapters.langchain.interceptor": "LenientInterceptor",
            "mcp_lenient.adapters.langchain.loading": "load_tools to_langchain",
            "mcp_lenient.adapters.langchain.serving": "LangChainTool serve",
        },
    )
