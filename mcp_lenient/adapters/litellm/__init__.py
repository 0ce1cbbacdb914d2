"""LiteLLM's MCP gateway: repair the calls of its MCP servers by a callback in its ``config.yaml``."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_lenient.adapters.litellm.callback import LenientCallback, lenient_callback

__all__ = ["LenientCallback", "lenient_callback"]

if not TYPE_CHECKING:  # LiteLLM is imported when one of these names is
    from mcp_lenient.values.lazy import lazy_getattr

    __getattr__ = lazy_getattr(
        __name__, {"mcp_lenient.adapters.litellm.callback": "LenientCallback lenient_callback"}
    )
