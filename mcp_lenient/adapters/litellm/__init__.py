"""LiteLLM's gateway: the calls of the MCP servers behind it, by a callback of its ``config.yaml``."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_lenient.adapters.litellm.callback import LenientCallback

    lenient_callback: LenientCallback
    """The callback with the default policy, to be named in ``config.yaml``."""

__all__ = ["LenientCallback", "lenient_callback"]

if not TYPE_CHECKING:  # LiteLLM is imported where one of them is asked for

    def __getattr__(name: str) -> object:
        if name not in __all__:
            msg = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(msg)
        from mcp_lenient.adapters.litellm.callback import LenientCallback

        value = LenientCallback if name == "LenientCallback" else LenientCallback()
        globals()[name] = value
        return value
