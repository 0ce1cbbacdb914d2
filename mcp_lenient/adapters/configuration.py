"""The transports of a client configuration, as FastMCP and LangChain spell them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcp_lenient.values.names import near

_KNOWN: Final = ("stdio", "http", "streamable-http", "sse")
_NEEDED: Final = ("command", "url")
"""Fields of which a server has one."""
_SPELLINGS: Final = {"streamable_http": "http"}
"""LangChain's names for FastMCP's transports."""


def read_configuration(target: Any) -> Any:
    """Return a client configuration with FastMCP's names for transports; any other target as it is.

    Raises:
        ValueError: When a transport is unknown; names the server and the known ones. When a server has neither
            ``command`` nor ``url`` but a field that looks like one; names both.
    """
    if not isinstance(target, Mapping):
        return target
    servers = target.get("mcpServers", target)
    if not isinstance(servers, Mapping):
        return target
    read = {name: _read(name, server) for name, server in servers.items()}
    return {**target, "mcpServers": read} if "mcpServers" in target else read


def _read(name: Any, server: Any) -> Any:
    if not isinstance(server, Mapping):
        return server
    if server.keys().isdisjoint(_NEEDED):
        for field in server:
            if likely := near(str(field), _NEEDED):
                msg = f"Server {name!r} has the unknown field {field!r}; it probably means {likely[0]!r}."
                raise ValueError(msg)
    transport = server.get("transport")
    if transport is None or transport in _KNOWN:
        return server
    if transport not in _SPELLINGS:
        msg = f"Server {name!r} has the unknown transport {transport!r}; known are {', '.join(map(repr, _KNOWN))}."
        raise ValueError(msg)
    return {**server, "transport": _SPELLINGS[transport]}
