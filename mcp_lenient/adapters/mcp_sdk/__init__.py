"""The official Python SDK: version 2 by a server middleware, version 1 by wrapping the call handler."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_lenient.adapters.mcp_sdk.handlers import make_lenient
    from mcp_lenient.adapters.mcp_sdk.middleware import LenientServerMiddleware

__all__ = ["LenientServerMiddleware", "make_lenient"]

if not TYPE_CHECKING:  # the two versions of the SDK exclude each other
    from mcp_lenient.values.lazy import lazy_getattr

    __getattr__ = lazy_getattr(
        __name__,
        {
            "mcp_lenient.adapters.mcp_sdk.handlers": "make_lenient",
            "mcp_lenient.adapters.mcp_sdk.middleware": "LenientServerMiddleware",
        },
    )
