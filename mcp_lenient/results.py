"""The types that public functions return, for annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_lenient.values.lazy import lazy_getattr

if TYPE_CHECKING:
    from mcp_lenient.adapters.calls import OutgoingCall
    from mcp_lenient.adapters.client.dispatch import Dispatched, DispatchedCall
    from mcp_lenient.adapters.client.session import LenientSession
    from mcp_lenient.portable import Published, ReadBack
    from mcp_lenient.types import Normalized

__all__ = [
    "Dispatched",
    "DispatchedCall",
    "LenientSession",
    "Normalized",
    "OutgoingCall",
    "Published",
    "ReadBack",
]

__getattr__ = lazy_getattr(
    __name__,
    {
        "mcp_lenient.adapters.calls": "OutgoingCall",
        "mcp_lenient.adapters.client.dispatch": "Dispatched DispatchedCall",
        "mcp_lenient.adapters.client.session": "LenientSession",
        "mcp_lenient.portable": "Published ReadBack",
        "mcp_lenient.types": "Normalized",
    },
)
