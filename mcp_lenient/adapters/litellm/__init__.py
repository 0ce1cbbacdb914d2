"""LiteLLM's MCP gateway: repair the calls of its MCP servers by a callback in its ``config.yaml``."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_lenient.adapters.litellm.callback import LenientCallback

    lenient_callback: LenientCallback
    """The callback with the default policy, to be named in ``config.yaml``."""

__all__ = ["LenientCallback", "lenient_callback"]

if not TYPE_CHECKING:  # LiteLLM is imported when one of these names is

    def __getattr__(name: str) -> object:
        if name not in __all__:
            msg = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(msg)
        from mcp_lenient.adapters.litellm.callback import LenientCallback

        value = LenientCallback if name == "LenientCallback" else LenientCallback()
        globals()[name] = value
        return value
