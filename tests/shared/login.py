"""A server with its own OAuth login, which records the tokens of its calls."""

from __future__ import annotations

from fastmcp import FastMCP
from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider
from fastmcp.server.dependencies import get_http_headers
from mcp.server.auth.settings import ClientRegistrationOptions


class Login:
    """Makes the server for its address, as :func:`wire.serving` asks for it."""

    def __init__(self) -> None:
        self.seen: list[str | None] = []
        self._auth: InMemoryOAuthProvider | None = None

    def server(self, address: str) -> FastMCP:
        """Return the server."""
        registration = ClientRegistrationOptions(enabled=True, valid_scopes=["use"])
        self._auth = InMemoryOAuthProvider(
            base_url=address, required_scopes=["use"], client_registration_options=registration
        )
        server = FastMCP("with login", auth=self._auth)

        @server.tool
        def add(left: int, right: int) -> int:
            self.seen.append(get_http_headers(include={"authorization"}).get("authorization"))
            return left + right

        return server

    def forget(self) -> None:
        """Accept no token issued so far."""
        assert self._auth is not None
        self._auth.access_tokens.clear()
        self._auth.refresh_tokens.clear()
